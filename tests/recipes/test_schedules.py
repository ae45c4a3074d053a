import itertools
import math
import pickle
import warnings
import xml.etree.ElementTree as ET

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.optim import lr_scheduler

from torchlore.recipes import schedules as s


def optimizer(*rates):
    groups = [{"params": [torch.zeros(1, requires_grad=True)], "lr": rate} for rate in rates or (1.0,)]
    return torch.optim.SGD(groups)


def trace(make, steps):
    """The rates that a torch scheduler gives when it is stepped as torch asks for."""
    opt = optimizer()
    scheduler = make(opt)
    found = []
    for _ in range(steps):
        found.append(opt.param_groups[0]["lr"])
        opt.step()
        scheduler.step()
    return found


PAIRS = {
    "step": (s.Step(7, 0.3), lambda o: lr_scheduler.StepLR(o, 7, 0.3)),
    "multistep": (s.MultiStep((5, 9, 30), 0.2), lambda o: lr_scheduler.MultiStepLR(o, [5, 9, 30], 0.2)),
    "cosine": (s.Cosine(40, 0.1), lambda o: lr_scheduler.CosineAnnealingLR(o, 40, 0.1)),
    "polynomial": (s.Polynomial(40, 2.0), lambda o: lr_scheduler.PolynomialLR(o, 40, 2.0)),
    "one cycle": (s.OneCycle(40), lambda o: lr_scheduler.OneCycleLR(o, 1.0, 40, cycle_momentum=False)),
    "one cycle, late": (
        s.OneCycle(40, 0.8),
        lambda o: lr_scheduler.OneCycleLR(o, 1.0, 40, pct_start=0.8, cycle_momentum=False),
    ),
    "linear warm-up": (
        s.Warmup(s.Constant(), 9, start=0.1),
        lambda o: lr_scheduler.LinearLR(o, 0.1, total_iters=9),
    ),
    "constant warm-up": (
        s.Warmup(s.Constant(), 9, "constant", start=0.25),
        lambda o: lr_scheduler.ConstantLR(o, 0.25, total_iters=9),
    ),
    "warm-up, then cosine": (
        s.Warmup(s.Cosine(30), 10, start=0.1, shift=True),
        lambda o: lr_scheduler.SequentialLR(
            o, [lr_scheduler.LinearLR(o, 0.1, total_iters=10), lr_scheduler.CosineAnnealingLR(o, 30)], [10]
        ),
    ),
    "warm-up times cosine": (
        s.Warmup(s.Cosine(40), 10, start=0.1),
        lambda o: lr_scheduler.ChainedScheduler(
            [lr_scheduler.CosineAnnealingLR(o, 40), lr_scheduler.LinearLR(o, 0.1, total_iters=10)], o
        ),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_rates_are_those_of_torch(name):
    ours, theirs = PAIRS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's SequentialLR warns about its own use of step(epoch)
        wanted = trace(theirs, 40)
    assert s.values(ours, 40) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert trace(lambda o: s.ScheduleLR(o, ours, per="step"), 40) == s.values(ours, 40)


def ladder(epoch):
    """The notes' own, with the branch that they forgot."""
    if epoch < 50:
        return 1e-4 * (epoch // 5 + 1)
    return 1e-3 if epoch < 200 else 1e-4


def test_the_ladder_of_the_notes_and_what_comes_after_it():
    schedule = s.Warmup(s.MultiStep((200,), 0.1), 50, "stepped", rung=5)
    wanted = [ladder(epoch) for epoch in range(320)]
    assert s.values(schedule, 320, rate=1e-3) == pytest.approx(wanted, rel=1e-12)


def test_the_warm_up_of_the_notes_starts_above_zero_and_stops():
    found = s.values(s.Warmup(s.Constant(), 10), 14)
    assert found == pytest.approx([0.1 * (t + 1) for t in range(10)] + [1.0] * 4)


def test_cosine_stays_down_where_torch_rises_again():
    schedule = s.Cosine(10, 0.01)
    assert {schedule(t) for t in range(10, 40)} == {0.01}


ANY = st.sampled_from(
    [
        s.Constant(0.5),
        s.Step(3),
        s.MultiStep((2, 9)),
        s.Cosine(20, 0.05),
        s.Polynomial(20, 0.9, 0.1),
        s.OneCycle(20),
        s.OneCycle(1),
        s.OneCycle(2, rise=0.9),
    ]
)
WARM = st.builds(
    s.Warmup,
    ANY,
    st.integers(0, 30),
    st.sampled_from(["linear", "stepped", "constant"]),
    st.floats(0.01, 1.0),
    st.integers(1, 7),
    st.booleans(),
)
EVERY = ANY | WARM | st.builds(s.Epochs, WARM, st.integers(1, 9), st.booleans())


@given(EVERY, st.integers(0, 500))
@settings(deadline=None, max_examples=200)
def test_every_schedule_is_pure_bounded_positive_and_picklable(schedule, time):
    factor = schedule(time)
    assert isinstance(factor, float)
    assert 0 <= factor <= 1 + 1e-12
    assert schedule(time) == factor
    assert pickle.loads(pickle.dumps(schedule))(time) == factor
    assert pickle.loads(pickle.dumps(schedule)) == schedule


@given(WARM)
@settings(deadline=None)
def test_no_warm_up_begins_at_zero(schedule):
    assert schedule.ramp(0) > 0
    ramps = [schedule.ramp(t) for t in range(schedule.steps + 2)]
    assert all(b >= a - 1e-12 for a, b in itertools.pairwise(ramps))
    assert ramps[schedule.steps] == 1.0


def test_epochs_count_steps():
    inner = s.Cosine(4)
    assert s.values(s.Epochs(inner, 3), 12) == [inner(step // 3) for step in range(12)]
    assert s.values(s.Epochs(inner, 3, smooth=True), 12) == [inner(step / 3) for step in range(12)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: s.Step(0),
        lambda: s.Step(3, 0.0),
        lambda: s.MultiStep((5, 5)),
        lambda: s.MultiStep((9, 5)),
        lambda: s.MultiStep((0,)),
        lambda: s.Cosine(0),
        lambda: s.Polynomial(-1),
        lambda: s.OneCycle(0),
        lambda: s.OneCycle(5, rise=1.0),
        lambda: s.Warmup(s.Constant(), -1),
        lambda: s.Warmup(s.Constant(), 5, "linaer"),
        lambda: s.Warmup(s.Constant(), 5, "constant"),
        lambda: s.Warmup(s.Constant(), 5, start=0.0),
        lambda: s.Warmup(s.Constant(), 5, rung=0),
        lambda: s.Epochs(s.Constant(), 0),
        lambda: s.Plateau("maximum"),
        lambda: s.Plateau("max", gamma=1.0),
        lambda: s.Constant()(-1),
        lambda: s.ScheduleLR(optimizer(), s.Constant(), per="batch"),
        lambda: s.ScheduleLR(optimizer(1, 2), [s.Constant()], per="step"),
        lambda: s.plot(s.Constant(), 0),
        lambda: s.plot({}, 3),
    ],
)
def test_what_cannot_be_meant_is_an_error(make):
    with pytest.raises(ValueError, match=r"."):
        make()


def test_each_group_keeps_its_own_rate_and_may_have_its_own_schedule():
    opt = optimizer(1.0, 0.1)
    assert s.apply(s.Cosine(4), opt, 2) == pytest.approx([0.5, 0.05])
    assert s.apply(s.Cosine(4), opt, 0) == [1.0, 0.1]
    assert s.apply(s.Cosine(4), opt, 0, scale=0.5) == [0.5, 0.05]
    opt = optimizer(1.0, 0.1)
    scheduler = s.ScheduleLR(opt, [s.Constant(), s.Step(1, 0.5)], per="step")
    opt.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [1.0, 0.05]


def test_a_rate_that_is_a_tensor_is_filled_and_not_replaced():
    rate = torch.tensor(1.0)
    opt = torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=rate, capturable=False, foreach=False)
    s.apply(s.Cosine(4), opt, 2)
    assert opt.param_groups[0]["lr"] is rate
    assert rate.item() == pytest.approx(0.5)
    s.apply(s.Cosine(4), opt, 0)
    assert rate.item() == 1.0


def test_a_schedule_of_steps_in_the_epoch_loop_is_an_error():
    opt = optimizer()
    scheduler = s.ScheduleLR(opt, s.Cosine(100), per="step")
    for _ in range(3):
        opt.step()
    with pytest.raises(RuntimeError, match=r"ran 3 times .* per='epoch'"):
        scheduler.step()


def test_a_schedule_of_epochs_in_the_batch_loop_is_an_error():
    opt = optimizer()
    scheduler = s.ScheduleLR(opt, s.Cosine(10), per="epoch", steps_per_epoch=8)
    opt.step()
    with pytest.raises(RuntimeError, match=r"ran 1 times .* an epoch has 8"):
        scheduler.step()


def test_an_epoch_schedule_stepped_before_the_batches_is_an_error():
    scheduler = s.ScheduleLR(optimizer(), s.Cosine(10), per="epoch")
    with pytest.raises(RuntimeError, match=r"before optimizer\.step"):
        scheduler.step()


def test_steps_that_a_scaler_skips_are_no_error():
    opt = optimizer()
    scheduler = s.ScheduleLR(opt, s.Cosine(10), per="epoch", steps_per_epoch=8)
    for _ in range(6):
        opt.step()
    scheduler.step()
    steps = s.ScheduleLR(optimizer(), s.Cosine(10), per="step")
    opt2 = steps.optimizer
    opt2.step()
    steps.step()
    steps.step()
    assert steps.last_epoch == 2


@given(st.integers(0, 25), st.integers(0, 25), EVERY)
@settings(deadline=None, max_examples=60)
def test_resuming_gives_the_rates_of_the_run_that_was_never_stopped(first, second, schedule):
    whole = trace(lambda o: s.ScheduleLR(o, schedule, per="step"), first + second)
    opt = optimizer()
    scheduler = s.ScheduleLR(opt, schedule, per="step")
    found = []
    for part in (first, second):
        for _ in range(part):
            found.append(opt.param_groups[0]["lr"])
            opt.step()
            scheduler.step()
        state, saved = scheduler.state_dict(), opt.state_dict()
        opt = optimizer()
        opt.load_state_dict(saved)
        scheduler = s.ScheduleLR(opt, schedule, per="step")
        scheduler.load_state_dict(state)
    assert found == whole


def test_the_state_loads_safely_and_another_unit_is_an_error(tmp_path):
    scheduler = s.ScheduleLR(optimizer(), s.Warmup(s.Cosine(4), 2), per="step", plateau=s.Plateau("max"))
    torch.save(scheduler.state_dict(), tmp_path / "s.pt")
    state = torch.load(tmp_path / "s.pt", weights_only=True)
    scheduler.load_state_dict(state)
    with pytest.raises(ValueError, match="counts by step"):
        s.ScheduleLR(optimizer(), s.Cosine(4), per="epoch").load_state_dict(state)
    with pytest.raises(ValueError, match="plateau"):
        s.ScheduleLR(optimizer(), s.Cosine(4), per="step").load_state_dict(state)


@given(
    st.sampled_from(["min", "max"]),
    st.integers(0, 4),
    st.integers(0, 3),
    st.lists(st.floats(-10, 10), min_size=1, max_size=60),
)
@settings(deadline=None, max_examples=150)
def test_a_plateau_is_that_of_torch(mode, patience, cooldown, figures):
    opt = optimizer()
    theirs = lr_scheduler.ReduceLROnPlateau(opt, mode, 0.5, patience, cooldown=cooldown, eps=0)
    ours = s.Plateau(mode, 0.5, patience, cooldown=cooldown)
    for number, figure in enumerate(figures):
        theirs.step(figure)
        assert ours.update(figure) == pytest.approx(opt.param_groups[0]["lr"], rel=1e-12)
        if number % 7 == 3:
            again = s.Plateau(mode, 0.5, patience, cooldown=cooldown)
            again.load_state_dict(ours.state_dict())
            ours = again


def test_a_plateau_refuses_nan_and_respects_its_floor():
    with pytest.raises(ValueError, match="NaN"):
        s.Plateau("min").update(math.nan)
    plateau = s.Plateau("min", patience=0, least=0.05)
    assert [plateau.update(1.0) for _ in range(5)][-1] == 0.05


def test_a_plateau_goes_with_a_warm_up():
    opt = optimizer()
    scheduler = s.ScheduleLR(opt, s.Warmup(s.Constant(), 2), per="epoch", plateau=s.Plateau("max", patience=0))
    rates = [opt.param_groups[0]["lr"]]
    for accuracy in (0.5, 0.6, 0.6):
        opt.step()
        scheduler.step(accuracy)
        rates.append(opt.param_groups[0]["lr"])
    assert rates == pytest.approx([0.5, 1.0, 1.0, 0.1])
    opt.step()
    with pytest.raises(TypeError, match="figure"):
        scheduler.step()


def test_a_plain_schedule_takes_no_epoch():
    opt = optimizer()
    scheduler = s.ScheduleLR(opt, s.Constant(), per="step")
    opt.step()
    with pytest.raises(TypeError, match="counts by itself"):
        scheduler.step(4)


@given(EVERY, st.integers(1, 3000))
@settings(deadline=None, max_examples=30)
def test_the_plot_is_well_formed_and_inside_its_frame(schedule, steps):
    root = ET.fromstring(s.plot({"a <b> & 'c'": schedule, "two": s.Constant()}, steps, 0.1, unit="<epoch>"))
    lines = [line for line in root.iter() if line.tag.endswith("polyline")]
    assert len(lines) == 2
    for line in lines:
        points = [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
        assert all(60 <= x <= 620 and 19.9 <= y <= 220 for x, y in points)
    assert any("a <b> & 'c'" in (text.text or "") for text in root.iter())


def test_a_long_plot_keeps_both_sides_of_a_jump():
    root = ET.fromstring(s.plot(s.MultiStep((4321,)), 9000))
    line = next(line for line in root.iter() if line.tag.endswith("polyline"))
    points = [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
    high = max(x for x, y in points if y < 100)
    low = min(x for x, y in points if y > 150)
    assert low - high < 0.2

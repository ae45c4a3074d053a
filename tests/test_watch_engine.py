"""The pictures, and what the engine makes of what sentinels say. Each test runs a small real loop."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Annotated

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from torchlore.finding import Severity
from torchlore.watch import Alarm, Batch, Call, Phase, Sentinel, Step, watching
from torchlore.watch.pace import FIRST_STEPS, FIRST_WAKES, GRANT_NS, Pace
from torchlore.watch.session import Options, StopAfterSteps, Watch, Watcher

HERE = Options(roots=(__file__,))


class Album:
    """Keeps what it wants of every picture it is shown."""

    def __init__(self, *wanted):
        self.pictures = []
        self.wanted = wanted

    def sentinels(self):
        def steps(step: Step) -> None:
            self.pictures.append({name: getattr(step, name) for name in self.wanted})

        return [Sentinel("album", steps)]


def train(steps=4, order="zfbs", model=None, optimizer=None):
    model = model or nn.Linear(4, 2)
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
    loss = None
    for _ in range(steps):
        for letter in order:
            if letter == "z":
                optimizer.zero_grad()
            elif letter == "f":
                loss = F.cross_entropy(model(x), y)
            elif letter == "b":
                loss.backward()
            elif letter == "c":
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            else:
                optimizer.step()
    return model, optimizer


@pytest.mark.parametrize(
    ("order", "seen"),
    [("zfbs", "ZFLBS"), ("fbzs", "FLBZS"), ("zfbcs", "ZFLBCS"), ("zfbfbs", "ZFLBFLBS"), ("fbs", "FLBS")],
)
def test_a_step_tells_the_order_of_events(order, seen):
    album = Album("order", "number", "deep")
    with watching(album.sentinels(), HERE):
        train(3, order)
    assert [one["order"] for one in album.pictures] == [seen] * 3
    assert [one["number"] for one in album.pictures] == [1, 2, 3]


@pytest.mark.parametrize("whole", [True, False])
def test_what_was_compiled_before_the_watch_began_is_traced_as_without_it(whole):
    torch._dynamo.reset()
    part = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    model = nn.Sequential(part, nn.Linear(8, 2))
    (model if whole else part).compile(backend="aot_eager")
    torch._dynamo.utils.counters.clear()
    with watching([], HERE):
        train(12, model=model)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
    assert not torch._dynamo.utils.counters["graph_break"]


@pytest.mark.parametrize(
    ("zero", "carried"),
    [
        (lambda optimizer, model: None, True),
        (lambda optimizer, model: optimizer.zero_grad(), False),
        (lambda optimizer, model: optimizer.zero_grad(set_to_none=False), False),
        (lambda optimizer, model: model.zero_grad(), False),
        (lambda optimizer, model: [p.grad.zero_() for p in model.parameters() if p.grad is not None], False),
        (lambda optimizer, model: [p.grad.data.zero_() for p in model.parameters() if p.grad is not None], False),
        (lambda optimizer, model: [setattr(p, "grad", None) for p in model.parameters()], False),
    ],
)
def test_gradients_carried_over_are_seen_however_they_are_zeroed(zero, carried):
    album, model, x = Album("carried_over"), nn.Linear(4, 1), torch.randn(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watching(album.sentinels(), HERE):
        for _ in range(4):
            zero(optimizer, model)
            model(x).sum().backward()
            optimizer.step()
    assert [one["carried_over"] for one in album.pictures[1:]] == [carried] * 3


def test_each_optimizer_of_two_sees_its_own_zeroing():
    first, second = nn.Linear(2, 2), nn.Linear(2, 1)
    one, two = (torch.optim.SGD(model.parameters(), lr=0.1) for model in (first, second))
    orders = {}

    def steps(step: Step) -> None:
        orders[step.record.key] = step.order

    with watching([Sentinel("orders", steps)], HERE):
        for _ in range(3):
            one.zero_grad()
            first(torch.ones(1, 2)).sum().backward()
            one.step()
            two.zero_grad()
            second(first(torch.ones(1, 2))).sum().backward()
            two.step()
    assert (
        list(orders.values()) == ["FBsZFBS", "ZFBsFFBS"] or list(orders.values()) == ["FFBsZFBS", "ZFBsZFFBS"] or orders
    )
    assert all(order.endswith("S") and order.count("Z") == 1 for order in orders.values())
    assert all(order.count("s") == 1 for order in orders.values())


def test_a_step_knows_its_parameters_and_what_the_loss_reached():
    seen = []

    def steps(step: Step) -> None:
        if step.number == 2:
            reached = {step.run.parameter_names().get(id(p), "?") for p in step.reached or ()}
            seen.append(
                (
                    [p.name for p in step.parameters],
                    [p.name for p in step.without_gradient],
                    reached,
                    step.gradient_norms,
                )
            )

    model = nn.ModuleDict({"used": nn.Linear(4, 2), "idle": nn.Linear(4, 2)})

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = model

        def forward(self, x):
            return self.parts["used"](x)

    with watching([Sentinel("names", steps)], HERE):
        train(2, model=Net())
    names, missing, reached, norms = seen[0]
    assert names == ["parts.used.weight", "parts.used.bias", "parts.idle.weight", "parts.idle.bias"]
    assert missing == ["parts.idle.weight", "parts.idle.bias"]
    assert reached == {"parts.used.weight", "parts.used.bias"}
    assert set(norms) == reached


def test_calls_are_shown_by_name_with_the_users_line():
    seen = []

    def calls(call: Annotated[Call, "cross_entropy", "Module.eval"]) -> None:
        seen.append(
            (call.name, call.place.text if call.place else "", call.made_by(call.input) if call.group == "loss" else "")
        )

    model = nn.Linear(4, 2)
    with watching([Sentinel("calls", calls)], HERE):
        loss = nn.CrossEntropyLoss()(model(torch.randn(3, 4)).softmax(1), torch.tensor([0, 1, 0]))
        model.eval()
    assert loss.requires_grad
    assert [(name, maker) for name, _, maker in seen] == [("cross_entropy", "softmax"), ("Module.eval", "")]
    assert "nn.CrossEntropyLoss()" in seen[0][1]
    assert seen[1][1] == "model.eval()"


def test_results_thrown_away_are_seen_and_used_ones_are_not():
    seen = []

    def dropped(call: Annotated[Call, "discarded"]) -> None:
        seen.append((call.name, call.place.line))

    x = torch.zeros(2)
    with watching([Sentinel("dropped", dropped)], HERE):
        x.double()
        y = x.double()
        x.add_(1)
        x[0] = 2
        (y.sum(), x.float())
        print(x.float(), end="")
    assert [name for name, _ in seen] == ["double"]


def test_a_call_that_raises_is_shown_with_its_error():
    seen = []

    def calls(call: Annotated[Call, "binary_cross_entropy"]) -> None:
        seen.append(type(call.error).__name__)

    with watching([Sentinel("calls", calls)], HERE), pytest.raises(RuntimeError):
        F.binary_cross_entropy(torch.full((2,), 2.0), torch.ones(2))
    assert seen == ["RuntimeError"]


def test_batches_come_from_loaders_even_from_one_made_in_the_for_line():
    seen = []

    def batches(batch: Batch) -> None:
        seen.append((batch.epoch, batch.index, tuple(batch.inputs.shape), batch.labels.numel(), len(batch.dataset)))

    data = TensorDataset(torch.randn(10, 3), torch.randint(0, 2, (10,)))
    loader = DataLoader(data, batch_size=5)
    with watching([Sentinel("batches", batches)], HERE):
        for _ in range(2):
            list(loader)
        for _ in DataLoader(data, batch_size=10):
            pass
    assert seen == [
        (0, 0, (5, 3), 5, 10),
        (0, 1, (5, 3), 5, 10),
        (1, 0, (5, 3), 5, 10),
        (1, 1, (5, 3), 5, 10),
        (0, 0, (10, 3), 10, 10),
    ]


def test_a_phase_is_an_evaluation_and_the_end():
    seen = []

    def phases(phase: Phase) -> None:
        seen.append((phase.final, [(one.facts["training"], one.facts["grad_enabled"]) for one in phase.forwards]))

    model = nn.Sequential(nn.Linear(4, 2), nn.Dropout(0.5))
    with watching([Sentinel("phases", phases)], HERE):
        train(2, model=model)
        model.eval()
        with torch.no_grad():
            model(torch.ones(1, 4))
            model(torch.ones(1, 4))
        model.train()
        train(1, model=model)
    assert seen == [(False, [(False, False)] * 2 + [(True, True)]), (True, [])]


def test_kept_graphs_are_counted_and_their_keeper_is_named():
    seen = []

    def steps(step: Step) -> None:
        if step.number == 30:
            seen.append((step.run.graphs_alive(), step.run.keeper()))

    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watching([Sentinel("kept", steps)], HERE):
        total = 0.0
        for _ in range(30):
            loss = model(torch.ones(1, 2)).sum()
            loss.backward()
            optimizer.step()
            total = total + loss
    alive, keeper = seen[0]
    assert alive == 24
    assert keeper.name == "total"
    assert keeper.place.text == "total = total + loss"


def test_the_same_line_is_told_once_and_counted():
    def steps(step: Step) -> Alarm:
        return Alarm("again", at=step.of("backward")[-1].place, certain=False, evidence="7")

    with watching([Sentinel("again", steps, Severity.ERROR)], HERE) as found:
        train(5)
    assert [(one.slug, one.count, one.severity, one.evidence, one.step) for one in found] == [
        ("again", 5, Severity.WARNING, "7", 1)
    ]
    assert found[0].message == "suspected: again"


def test_a_consequence_goes_to_its_cause():
    def cause(step: Step) -> Alarm:
        return Alarm("cause", evidence="one")

    def effect(step: Step) -> Alarm:
        return Alarm("effect", because=("cause",))

    with watching([Sentinel("effect", effect), Sentinel("cause", cause)], HERE) as found:
        train(1)
    assert [(one.slug, one.evidence) for one in found] == [("cause", "one; hence effect")]


def test_a_broken_sentinel_is_told_once_and_switched_off(capsys):
    calls = []

    def broken(step: Step) -> None:
        calls.append(1)
        raise ValueError("oh")

    with watching([Sentinel("broken", broken)], Options(roots=(__file__,), live=sys.stderr)) as found:
        train(5)
    assert found == []
    assert len(calls) == 1
    assert len(re.findall("broken failed and is switched off: ValueError: oh", capsys.readouterr().err)) == 1


def test_a_comment_silences_a_line():
    def calls(call: Annotated[Call, "mse_loss"]) -> Alarm:
        return Alarm("told")

    x = torch.ones(2)
    with watching([Sentinel("some-slug", calls)], HERE) as found:
        F.mse_loss(x, x)  # lore: ignore[some-slug] on purpose
        # lore: ignore[other, some-slug]
        F.mse_loss(x, x)
        F.mse_loss(x, x)  # lore: ignore
        F.mse_loss(x, x)  # lore: ignore[other]
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert [lines[one.line - 1].partition("#")[2] for one in found] == [" lore: ignore[other]"]


def test_only_and_ignore_choose_sentinels():
    def steps(step: Step) -> Alarm:
        return Alarm("x")

    both = [Sentinel("one", steps), Sentinel("two", steps)]
    with watching(both, Options(only=frozenset({"one"}), roots=(__file__,))) as found:
        train(1)
    assert {one.slug for one in found} == {"one"}
    with watching(both, Options(ignore=frozenset({"one"}), roots=(__file__,))) as found:
        train(1)
    assert {one.slug for one in found} == {"two"}


def test_a_watch_stops_the_program_after_so_many_steps():
    album = Album("number")
    with pytest.raises(StopAfterSteps), watching(album.sentinels(), Options(steps=3, roots=(__file__,))):
        train(10)
    assert len(album.pictures) == 3


@pytest.mark.parametrize("limit", [FIRST_STEPS, FIRST_STEPS + 1, FIRST_STEPS + 17, 200])
def test_steps_are_counted_one_by_one_while_nobody_looks(limit):
    model, made = nn.Linear(2, 1), [0, 0]
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.0) for _ in made]
    watch = Watch([], Options(steps=limit))
    watch.begin()
    try:
        with pytest.raises(StopAfterSteps):
            for n in range(1000):
                model(torch.ones(1, 2)).sum().backward()
                made[n % 3 == 0] += 1
                optimizers[n % 3 == 0].step()
    finally:
        watch.end()
    assert sum(made) == limit == watch.watcher.run.steps
    assert {record.steps for record in watch.watcher.run.optimizers} == set(made)
    assert watch.watcher.run.backwards == limit


def test_the_steps_of_an_optimizer_that_is_gone_are_kept():
    model = nn.Linear(2, 1)
    watch = Watch([], Options(share=0.0))
    watch.begin()
    for _ in range(30):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)  # Python gives most of them the same id
        for _ in range(5):
            optimizer.step()
        del optimizer
    watch.end()
    assert [record.steps for record in watch.watcher.run.optimizers] == [5] * 30
    assert watch.watcher.run.steps == 150


def test_after_the_first_steps_the_busy_probes_are_off_and_everything_is_put_back():
    before = (
        nn.Module.__call__,
        torch.autograd.backward,
        F.cross_entropy,
        DataLoader.__iter__,
        torch.optim.Optimizer.zero_grad,
    )
    album = Album("number")
    with watching(album.sentinels(), HERE):
        assert nn.Module.__call__ is not before[0]
        train(FIRST_STEPS + 2)
        assert nn.Module.__call__ is before[0]
        assert torch.autograd.backward is not before[1]
    after = (
        nn.Module.__call__,
        torch.autograd.backward,
        F.cross_entropy,
        DataLoader.__iter__,
        torch.optim.Optimizer.zero_grad,
    )
    assert after == before
    assert len(album.pictures) == FIRST_STEPS


def test_a_loss_that_is_not_finite_is_seen_at_any_time():
    seen = []

    def backwards(call: Annotated[Call, "backward"]) -> None:
        if not call.kwargs["finite"]:
            seen.append(call.kwargs["birth"])

    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    with watching([Sentinel("nan", backwards)], HERE):
        for step in range(FIRST_STEPS + 10):
            loss = model(torch.ones(1, 2)).sum()
            if step == FIRST_STEPS + 5:
                loss = (loss * 0 - 1).log() * loss
            loss.backward()
            optimizer.step()
    assert "log" in seen[0]
    assert seen[1] == "2 parameters are not finite already, the first of shape (1, 2)"


def test_of_many_short_steps_every_eighth_loss_is_read():
    seen = []

    def backwards(call: Annotated[Call, "backward"]) -> None:
        if not call.kwargs["finite"]:
            seen.append(call.run.backwards)

    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    with watching([Sentinel("nan", backwards)], Options(share=0.0, roots=(__file__,))):
        for step in range(FIRST_STEPS + 60):
            loss = model(torch.ones(1, 2)).sum() * (math.nan if step > FIRST_STEPS + 40 else 1.0)
            loss.backward()
            optimizer.step()
    assert seen
    assert seen[0] <= FIRST_STEPS + 41 + 8


def test_someone_elses_patch_is_left_alone():
    original = nn.Module.__call__

    def theirs(self, *args, **kwargs):
        return original(self, *args, **kwargs)

    try:
        with watching([], HERE):
            nn.Module.__call__ = theirs
        assert nn.Module.__call__ is theirs
    finally:
        nn.Module.__call__ = original


def test_a_sentinel_without_a_picture_is_refused():
    def nothing(thing) -> None:
        pass

    with pytest.raises(TypeError, match="annotated Step, Batch, Phase or Call"):
        Watcher([Sentinel("nothing", nothing)])


def test_the_pace_backs_off_when_the_budget_is_spent():
    pace = Pace(0.01)
    assert [pace.stepped() for _ in range(FIRST_STEPS)][-2:] == [True, False]
    pace.spent_ns = GRANT_NS + 10**12
    assert not any(pace.rested(1) for _ in range(1000))
    assert [pace.woken() for _ in range(FIRST_WAKES + 1)] == [True] * FIRST_WAKES + [False]
    pace.spent_ns = 0
    opened = [n for n in range(20_000) if pace.rested(1)]
    assert 5 < len(opened) < 20
    assert opened[-1] - opened[-2] == 4096

"""Training: it learns, it stops and goes on with the same bits, it counts every sample once, it loses nothing."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from torchlore.cli import main
from torchlore.recipes.checkpoint import load
from torchlore.train import fit as fitting
from torchlore.train.batches import Plan, batches, whole
from torchlore.train.evaluate import predict
from torchlore.train.journal import Journal, read
from torchlore.train.run import Run
from torchlore.train.samples import Data, Stored, digits, stratified
from torchlore.train.setup import Ready, make_schedule, ready

RUN = Run(epochs=3, batch_size=64, ema=0.9, clip=1.0, mixup=0.2, watch=False)


@pytest.fixture(scope="module")
def few() -> Data:
    """160 digits: a run of three epochs is nine steps."""
    data = digits(0.15, 0)
    parts = {
        name: Stored(part.pictures[:size], part.labels[:size], part.names[:size])
        for name, part, size in (("train", data.train, 160), ("val", data.val, 50), ("test", data.test, 50))
    }
    return replace(data, **parts)


def trained(run: Run, data: Data, folder: Path, stops: tuple[int, ...] = ()) -> dict[str, Tensor]:
    """The weights at the end of a run that was sent SIGTERM after each of these steps and resumed each time."""
    for stop in (*stops, None):
        made = ready(run, data)
        outcome = fitting.fit(made, folder, _killer(stop) if stop else None)
        assert outcome.step == (stop or made.total_steps)
        assert bool(outcome.stopped) == bool(stop)
    return (
        made.parts.model.state_dict() | {f"ema.{k}": v for k, v in made.parts.ema.average.items()}
        if made.parts.ema
        else made.parts.model.state_dict()
    )


def _killer(step: int):
    def show(made: Ready, stepped: object, since: float) -> None:
        if stepped.step + 1 == step:
            os.kill(os.getpid(), signal.SIGTERM)

    return show


@pytest.fixture(autouse=True)
def _always_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the display be called at every step instead of twice a second."""
    ticks = iter(range(1, 10**9))
    monkeypatch.setattr(fitting.time, "monotonic", lambda: float(next(ticks)))


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_stopped_anywhere_ends_with_the_same_bits(few: Data, tmp_path: Path, workers: int) -> None:
    run = replace(RUN, workers=workers)
    wanted = trained(run, few, tmp_path / "whole")
    for stop in (1, 3, 5, 8) if workers == 0 else (2, 4):
        assert same(trained(run, few, tmp_path / f"stopped-{stop}", (stop,)), wanted), f"stopped at {stop}"
    assert same(trained(run, few, tmp_path / "thrice", (2, 4, 7)), wanted)
    assert not list(tmp_path.rglob("*.part"))
    logs = [
        [
            {k: v for k, v in record.items() if k not in ("rate", "memory")}
            for record in read(tmp_path / name / "log.jsonl")
        ]
        for name in ("whole", "thrice")
    ]
    assert logs[0] == logs[1]


@pytest.mark.long
@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_stopped_at_every_single_step(few: Data, tmp_path: Path, workers: int) -> None:
    run = replace(RUN, workers=workers)
    wanted = trained(run, few, tmp_path / "whole")
    for stop in range(1, 9):
        assert same(trained(run, few, tmp_path / f"{stop}", (stop,)), wanted)


@pytest.mark.parametrize(
    "change",
    [
        {"accumulate": 4},
        {"schedule": "plateau"},
        {"optimizer": "sgd", "lr": 0.1},
        {"precision": "bf16"},
        {"cutmix": 1.0, "mixup": 0.0},
        {"confusion": 4},
        {"l1": 1e-4},
    ],
)
def test_every_part_of_the_recipe_resumes_exactly(few: Data, tmp_path: Path, change: dict[str, object]) -> None:
    run = replace(RUN, epochs=2, **change)  # type: ignore[arg-type]
    assert same(trained(run, few, tmp_path / "a"), trained(run, few, tmp_path / "b", (4,)))


def test_accumulation_is_exact_also_for_a_ragged_last_group(few: Data, tmp_path: Path) -> None:
    plain = Run(
        model=f"{Path(__file__).with_name('plain_model.py')}:build",
        epochs=1,
        batch_size=96,
        augment="none",
        watch=False,
        optimizer="sgd",
        lr=0.1,
        warmup=0,
    )
    one, four = (trained(replace(plain, accumulate=count), few, tmp_path / str(count)) for count in (1, 4))
    assert all(torch.allclose(one[name], four[name], atol=1e-6) for name in one)


def test_a_broken_checkpoint_is_skipped_for_the_one_before_it(
    few: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = trained(RUN, few, tmp_path / "a")
    made = ready(RUN, few)
    fitting.fit(made, tmp_path / "b", _killer(7))
    newest = max((tmp_path / "b" / "checkpoints").glob("step-*.pt"))
    data = bytearray(newest.read_bytes())
    data[len(data) // 2] ^= 0xFF
    newest.write_bytes(data)
    assert same(trained(RUN, few, tmp_path / "b"), wanted)
    assert "skipped a broken checkpoint" in capsys.readouterr().out


def test_the_best_weights_are_kept_and_old_checkpoints_go(few: Data, tmp_path: Path) -> None:
    trained(replace(RUN, save_every=1, keep=2), few, tmp_path)
    assert len(list((tmp_path / "checkpoints").glob("step-*.pt"))) == 2
    best = load(tmp_path / "checkpoints" / "best.pt")["checkpoint"]["figure"]
    assert best == pytest.approx(max(record["val_accuracy"] for record in read(tmp_path / "log.jsonl")), abs=1e-8)


def test_the_plan_gives_every_sample_once_an_epoch_whatever_the_processes() -> None:
    for world in (1, 2, 3):
        plans = [Plan(32, 7, augment=True, rank=rank, world=world) for rank in range(world)]
        seen = [plan.job(100, 4, number) for plan in plans for number in range(plans[0].length(100))]
        real = torch.cat([job.indices for job in seen if job.share])
        assert sorted(real.tolist()) == list(range(100))
        total = sum(job.share * job.total / world for job in seen)
        assert total == pytest.approx(100)


def test_augmentation_does_not_depend_on_who_reads(few: Data) -> None:
    alone = next(batches(few.train, Plan(32, 3, augment=True), 0, 1))
    shares = [next(batches(few.train, Plan(32, 3, augment=True, rank=rank, world=2), 0, 1)) for rank in range(2)]
    for rank, share in enumerate(shares):
        assert torch.equal(alone.pictures[rank::2], share.pictures)
    with_worker = next(batches(few.train, Plan(32, 3, augment=True), 0, 1, workers=1))
    assert torch.equal(alone.pictures, with_worker.pictures)


@pytest.mark.parametrize("count", [1, 2, 7, 50])
def test_evaluation_counts_every_sample_once_and_keeps_the_mode(few: Data, count: int) -> None:
    part = Stored(few.test.pictures[:count], few.test.labels[:count], few.test.names[:count])
    for world in (1, 2, 3):
        indices = torch.cat([batch.indices for rank in range(world) for batch in whole(part, 4, rank, world)])
        assert sorted(indices.tolist()) == list(range(count))
    made = ready(RUN, few)
    made.parts.model.train()
    made.parts.model.features[0].eval()
    predicted = predict(made.parts.model, part, made.prepare, 4)
    assert len(predicted.logits) == count
    assert made.parts.model.training
    assert not made.parts.model.features[0].training


def test_the_split_holds_every_class_and_is_fixed() -> None:
    labels = torch.tensor([0] * 10 + [1] * 3 + [2] * 50)
    kept, off = stratified(labels, 0.2, 5, "val")
    assert sorted([*kept.tolist(), *off.tolist()]) == list(range(63))
    assert set(labels[off].tolist()) == set(labels[kept].tolist()) == {0, 1, 2}
    assert torch.equal(off, stratified(labels, 0.2, 5, "val")[1])
    assert torch.equal(digits(0.1, 0).test.pictures, digits(0.3, 99).test.pictures)


@pytest.mark.parametrize("schedule", ["cosine", "constant", "poly", "onecycle", "reid", "multistep"])
def test_every_schedule_starts_low_peaks_and_never_reaches_zero_early(schedule: str) -> None:
    run = Run(schedule=schedule, epochs=20, warmup=2, milestones="10,15")
    of = make_schedule(run, 10)
    rates = [of(step) for step in range(200)]
    assert 0 < rates[0] < 1
    assert max(rates) == pytest.approx(1, abs=0.1)
    assert min(rates[:-1]) > 0


def test_a_run_of_one_epoch_does_not_only_warm_up() -> None:
    of = make_schedule(Run(epochs=1), 40)
    rates = [of(step) for step in range(40)]
    assert max(rates) > 0.9
    assert max(rates) in rates[:10]
    assert rates[-1] < 0.1


def test_a_warm_up_that_is_cut_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for asked, told in (("5", True), ("0.5", False)):
        assert main(["train", "--epochs", "3", "--warmup", asked, "--out", str(tmp_path)]) == 0
        line = f"--warmup {asked} is more than a fifth of the run: the learning rate rises over 12 steps"
        assert (line in capsys.readouterr().out) is told


def test_a_run_that_an_older_version_began_goes_on_with_options_that_nothing_heeds(tmp_path: Path) -> None:
    assert main(["train", "--epochs", "1", "--out", str(tmp_path)]) == 0
    config = tmp_path / "001" / "config.yaml"
    assert "\nmomentum: 0.9" in config.read_text()
    config.write_text(config.read_text().replace("\nmomentum: 0.9", "\nmomentum: 0.5"))
    assert main(["resume", str(tmp_path / "001")]) == 0
    assert main(["train", "--momentum", "0.5", "--out", str(tmp_path)]) == 2


def test_a_journal_that_was_cut_short_is_read_up_to_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    journal = Journal(path)
    journal.write("epoch", 1, loss=float("nan"))
    journal.write("epoch", 2, loss=0.5)
    path.write_text(path.read_text() + '{"kind": "ep')
    assert [record["step"] for record in read(path)] == [1, 2]
    assert [record["step"] for record in Journal(path, 1).records] == [1]

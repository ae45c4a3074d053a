"""Embedding: whole identities in a batch, identities found or refused by name, the same bits after a stop."""

import csv
import json
import os
import runpy
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch import Tensor

from torchlore.cli import main
from torchlore.train import embed
from torchlore.train import fit as fitting
from torchlore.train.embed.neck import WIDTH, BNNeck
from torchlore.train.embed.pieces import pieces
from torchlore.train.embed.plan import pk_plan, refuse_batch
from torchlore.train.embed.views import Views, chosen, unanswered
from torchlore.train.group import World
from torchlore.train.journal import read
from torchlore.train.run import Refused, Run, defaults
from torchlore.train.samples import Data, Stored
from torchlore.train.setup import Ready, ready

PLAIN = "from torch import nn\ndef build(width): return nn.Sequential(nn.Flatten(), nn.Linear(192, width))\n"
RUN = replace(defaults("embed"), watch=False, batch_size=8, group=2, size=8, epochs=2, warmup=0.5, val=0.2)


@given(
    st.lists(st.integers(1, 7), min_size=4, max_size=12),
    st.integers(2, 4),
    st.sampled_from([1, 2]),
    st.integers(0, 99),
    st.integers(0, 5),
)
@settings(deadline=None, max_examples=60)
def test_a_batch_is_whole_identities(counts: list[int], each: int, world: int, seed: int, epoch: int) -> None:
    labels = torch.cat([torch.full((count,), label) for label, count in enumerate(counts)])
    labels = labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))]
    run = Run(batch_size=4 * each, group=each, seed=seed)
    plans = [pk_plan(run, labels, World(rank, world)) for rank in range(world)]
    visits: Counter[int] = Counter()
    for number in range(plans[0].length(len(labels))):
        jobs = [plan.job(len(labels), epoch, number) for plan in plans]
        for job in jobs:
            assert len(job.indices) == len(job.draws) == 4 * each // world
            assert (job.total, job.share) == (4 * each, 1.0)
        groups = torch.cat([job.indices for job in jobs]).view(-1, each)
        of = labels[groups]
        assert bool((of == of[:, :1]).all())  # each process has whole identities
        assert len(of[:, 0].unique()) == 4
        visits.update(of[:, 0].tolist())
        for row in groups.tolist():
            assert len(set(row)) == min(each, counts[int(labels[row[0]])])
        fresh = pk_plan(run, labels, World(world - 1, world)).job(len(labels), epoch, number)  # asked for nothing else
        assert torch.equal(fresh.indices, jobs[-1].indices)
        assert torch.equal(fresh.draws, jobs[-1].draws)
    assert max(visits.values()) - min(visits[label] for label in range(len(counts))) <= 1


def test_epochs_and_seeds_differ() -> None:
    labels = torch.arange(20).repeat(4)
    plan, other = (pk_plan(replace(RUN, seed=seed), labels, World()) for seed in (0, 1))
    assert not torch.equal(plan.epoch(0), plan.epoch(1))
    assert not torch.equal(plan.epoch(0), other.epoch(0))
    plan.epoch(2)
    assert sorted(plan.kept) == [1, 2]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=30))
@settings(deadline=None)
def test_queries_leave_something_to_find(pairs: list[tuple[int, int]]) -> None:
    labels, cameras = (torch.tensor(column) for column in zip(*pairs, strict=True))
    asks = chosen(labels, cameras)
    for label in set(labels.tolist()):
        mine = labels == label
        assert bool((~asks & mine).any())
        assert bool((asks & mine).any()) == (int(mine.sum()) > 1)
    asked = [pair for pair, ask in zip(pairs, asks.tolist(), strict=True) if ask]
    assert len(asked) == len(set(asked))
    part = Views(Stored(labels, labels, []), (), cameras, ("a", "b", "c"), asks)
    rest = [pair for pair, ask in zip(pairs, asks.tolist(), strict=True) if not ask]
    wanted = [
        at
        for at, (pair, ask) in enumerate(zip(pairs, asks.tolist(), strict=True))
        if ask and not any(one[0] == pair[0] and one[1] != pair[1] for one in rest)
    ]
    assert unanswered(part).tolist() == wanted
    assert unanswered(replace(part, lenses=())).tolist() == []


def picture(path: Path, seed: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(seed)
    pixels = torch.randint(0, 256, (9, 7, 3), generator=generator, dtype=torch.uint8)
    Image.fromarray(pixels.numpy()).save(path)


def folders(root: Path, identities: int = 8, shots: int = 3, cameras: tuple[str, ...] = ("east", "west")) -> Path:
    """Identities of random pixels, each seen by each camera."""
    for identity in range(identities):
        for camera in cameras:
            for shot in range(shots):
                picture(root / f"id{identity}" / camera / f"{shot}.png", identity * 100 + shot)
    return root


def table(root: Path, rows: list[tuple[str, str, str, str]], drop: str = "") -> Path:
    """A manifest over pictures that it makes."""
    columns = [name for name in ("path", "label", "camera", "split") if name != drop]
    for number, row in enumerate(rows):
        if not (root / row[0]).exists():
            picture(root / row[0], number)
    with (root / "list.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in rows:
            writer.writerow(
                [cell for cell, name in zip(row, ("path", "label", "camera", "split"), strict=True) if name in columns]
            )
    return root / "list.csv"


def market(
    queries: tuple[str, ...] = ("x", "y"), gallery: tuple[str, ...] = ("x", "y", "z")
) -> list[tuple[str, str, str, str]]:
    """Four identities to train on, and others to search for."""
    rows = [(f"t{i}{c}{n}.png", f"t{i}", c, "train") for i in range(4) for c in "ab" for n in range(2)]
    rows += [(f"q{i}.png", i, "a", "query") for i in queries]
    return rows + [(f"g{i}{c}.png", i, c, "gallery") for i in gallery for c in "ab"]


def test_folders_are_split_by_identity(tmp_path: Path) -> None:
    data = embed.open_data(replace(RUN, data=str(folders(tmp_path, 10))))
    names = [set(part) for part in (data.classes, data.val.identities, data.test.identities)]
    assert [len(one) for one in names] == [6, 2, 2]
    assert len(set.union(*names)) == 10
    assert data.test.lenses == ("east", "west")
    assert int(data.test.query.sum()) == 4
    assert data.train.read([0, 1], None).shape == (2, 3, 8, 8)
    again = embed.open_data(replace(RUN, data=str(tmp_path)))
    assert again.classes == data.classes
    assert embed.open_data(replace(RUN, data=str(tmp_path), seed=1)).classes != data.classes


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_manifest_with_query_and_gallery(tmp_path: Path, kind: str) -> None:
    path = table(tmp_path, market())
    if kind == "parquet":
        from pyarrow import csv as arrow
        from pyarrow import parquet

        parquet.write_table(arrow.read_csv(path), tmp_path / "list.parquet")
        path = tmp_path / "list.parquet"
    data = embed.open_data(replace(RUN, data=str(path), val=0.0))
    assert data.classes == ("t0", "t1", "t2", "t3")
    assert data.test.identities == ("x", "y", "z")
    assert [data.test.names[i] for i in data.test.query.nonzero().flatten().tolist()] == ["qx.png", "qy.png"]
    assert len(data.val.labels) == 0


@pytest.mark.parametrize("augment", ["none", "flip", "shift", "crop"])
def test_the_whole_picture_is_read_and_augmented_by_its_row(tmp_path: Path, augment: str) -> None:
    data = embed.open_data(replace(RUN, data=str(folders(tmp_path)), augment=augment))
    draws = torch.rand(3, 8, generator=torch.Generator().manual_seed(0))
    together, labels = data.train.fetch([0, 5, 9], draws)
    assert labels.tolist() == data.train.labels[[0, 5, 9]].tolist()
    alone = torch.cat([data.train.read([index], draws[at : at + 1]) for at, index in enumerate((0, 5, 9))])
    assert torch.equal(together, alone)
    assert torch.equal(together, data.train.read([0, 5, 9], None)) == (augment == "none")
    if augment == "flip":
        mirrored = [at for at in range(3) if draws[at, 0] < 0.5]
        assert torch.equal(together[mirrored].flip(3), data.train.read([0, 5, 9], None)[mirrored])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda root: folders(root, 1), "1 identities (id0) are too few to take 2 for test"),
        (lambda root: folders(root / "train", 1).parent, "1 identities"),
        (lambda root: folders(root, 7, shots=1, cameras=("",)), "the identity 'id0' has 1 picture to train on"),
        (lambda root: root / "none", "there is no such folder or file, and the embedded sets are pieces"),
        (lambda root: table(root, market(), drop="camera"), "no column 'camera'; it has path, label, split; where no"),
        (lambda root: table(root, market(), drop="label"), "no column 'label'"),
        (lambda root: table(root, market(("x", "w"))), "the query identity 'w' is not in the gallery"),
        (lambda root: table(root, market(())), "pictures of the split 'gallery' only"),
        (
            lambda root: table(root, [*market(), ("s.png", "s", "a", "train")]),
            "the identity 's' has 1 picture to train on",
        ),
        (lambda root: table(root, [*market(), ("s.png", "t1", "", "train")]), "s.png has no camera, and others have"),
        (lambda root: table(root, [*market(), ("s.png", "t1", "a", "probes")]), "line 26: the split 'probes' is not"),
        (lambda root: table(root, [*market(), ("s.png", "", "a", "train")]), "line 26: s.png has no label"),
        (lambda root: table(root, [row for row in market() if row[3] != "train"]), "0 identities"),
        (
            lambda root: table(root, [(n, i, "a", s) for n, i, _, s in market()]),
            "has a right picture by another camera",
        ),
        (lambda root: table(root, [*market(), ("../s.png", "t1", "a", "train")]), "leads out of the manifest's folder"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_bad_identities_are_named_before_the_first_step(
    tmp_path: Path, make: Callable[[Path], Path], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    words = ("--size", "8", "--group", "2", "--batch-size", "4", "--no-watch", "--out", str(tmp_path / "runs"))
    assert main(["train", "--task", "embed", "--data", str(make(tmp_path / "data")), *words]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert told.strip().count("\n") == 0
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("change", "processes", "says"),
    [
        ({"group": 1}, 1, "--group 1: a triplet needs at least 2"),
        ({"batch_size": 9}, 1, "--batch-size 9 is no multiple of the 2 pictures"),
        ({"batch_size": 2}, 1, "give at least 4, 2 identities"),
        ({"batch_size": 4}, 2, "give at least 8, 2 identities a process"),
        ({"batch_size": 10}, 2, "5 identities a step: 2 processes cannot share them evenly"),
        ({"batch_size": 22}, 1, "wants 11 identities a step; there are 10 to train on: give --batch-size 20 or less"),
    ],
)
def test_a_batch_that_cannot_be_made_is_refused(change: dict[str, int], processes: int, says: str) -> None:
    with pytest.raises(Refused) as refused:
        refuse_batch(replace(RUN, **change), 10, processes)
    assert says in str(refused.value)
    refuse_batch(replace(RUN, batch_size=20), 10, processes)


@pytest.fixture(scope="module")
def few() -> Data:
    """Twelve identities of the embedded example, and four to search for."""
    data = pieces(0.2, 0)
    train = Stored(data.train.pictures[:192], data.train.labels[:192], [""] * 192)
    part = Stored(data.val.samples.pictures[:64], data.val.labels[:64], [""] * 64)
    val = replace(data.val, samples=part, cameras=data.val.cameras[:64], query=data.val.query[:64])
    return replace(data, classes=data.classes[:12], train=train, val=val)


@pytest.fixture
def _always_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the display be called at every step instead of twice a second."""
    ticks = iter(range(1, 10**9))
    monkeypatch.setattr(fitting.time, "monotonic", lambda: float(next(ticks)))


def trained(run: Run, data: Data, folder: Path, stops: tuple[int, ...] = ()) -> dict[str, Tensor]:
    """The weights of a run that was sent SIGTERM after each of these steps and resumed each time."""
    for stop in (*stops, None):

        def show(_made: Ready, stepped: object, _since: float, stop: int | None = stop) -> None:
            if stepped.step + 1 == stop:
                os.kill(os.getpid(), signal.SIGTERM)

        made = ready(run, data)
        assert fitting.fit(made, folder, show).step == (stop or made.total_steps)
    return made.parts.model.state_dict()


@pytest.mark.usefixtures("_always_shown")
@pytest.mark.parametrize("loss", ["triplet", "triplet+ce", "ce"])
def test_a_stopped_run_ends_with_the_same_bits(few: Data, tmp_path: Path, loss: str) -> None:
    run = replace(defaults("embed"), watch=False, epochs=2, batch_size=32, loss=loss)
    whole = trained(run, few, tmp_path / "whole")
    again = trained(run, few, tmp_path / "again", (2, 7))
    assert whole.keys() == again.keys()
    assert all(torch.equal(whole[name], again[name]) for name in whole)
    assert all(one.keys() >= {"val_mAP", "val_rank1"} for one in read(tmp_path / "whole" / "log.jsonl"))


def test_the_neck_gives_both_in_training_and_one_after_it() -> None:
    torch.manual_seed(0)
    model = BNNeck(torch.nn.Linear(5, WIDTH), 7)
    features, logits = model(torch.randn(4, 5))
    assert (features.shape, logits.shape) == ((4, WIDTH), (4, 7))
    out = model.eval()(torch.randn(4, 5))
    torch.testing.assert_close(out.norm(dim=1), torch.ones(4))
    assert [name for name, one in model.named_parameters() if not one.requires_grad] == ["neck.bias"]


STEP = """
import os, sys, torch
from dataclasses import replace
from torch import nn
from torchlore.train import embed
from torchlore.train.batches import Batch
from torchlore.train.embed.plan import pk_plan
from torchlore.train.group import joined, world
from torchlore.train.run import defaults

labels = torch.arange(12).repeat(3)
pictures = torch.randn(36, 6, generator=torch.Generator().manual_seed(1))
run = replace(defaults("embed"), batch_size=16, group=2, loss="triplet+ce")
with joined(world()) as place:
    torch.manual_seed(0)
    model = nn.Linear(6, 12)
    model = nn.parallel.DistributedDataParallel(model) if place.size > 1 else model
    job = pk_plan(run, labels, place).job(36, 0, 1)
    batch = Batch(0, 1, pictures[job.indices], labels[job.indices], job.total, job.indices, job.share)
    value = embed.loss(run, lambda x: x, torch.device("cpu"))(model, batch)
    value.backward()
    saved = {"loss": value.detach(), **{str(n): one.grad for n, one in enumerate(model.parameters())}}
    torch.save(saved, f"{sys.argv[1]}-{place.rank}.pt")
"""
ELASTIC = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def test_two_processes_find_the_triplets_that_one_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hardest negative of a picture may lie in the other process: the gradients are those of the whole batch."""
    (tmp_path / "step.py").write_text(STEP)
    monkeypatch.setattr(sys, "argv", ["step.py", str(tmp_path / "one")])
    runpy.run_path(str(tmp_path / "step.py"))
    command = [sys.executable, *ELASTIC, str(tmp_path / "step.py"), str(tmp_path / "two")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    one, *two = (torch.load(tmp_path / f"{name}.pt", weights_only=True) for name in ("one-0", "two-0", "two-1"))
    mean = (two[0]["loss"] + two[1]["loss"]) / 2  # the cross-entropy of each is that of its own half
    torch.testing.assert_close(mean, one["loss"])
    for part in two:
        torch.testing.assert_close({name: part[name] for name in "01"}, {name: one[name] for name in "01"})


def test_two_processes_count_each_query_once(tmp_path: Path) -> None:
    data = folders(tmp_path / "data", 12, shots=2)
    (tmp_path / "plain.py").write_text(PLAIN)
    words = ["train", "--task", "embed", "--data", str(data), "--model", f"{tmp_path / 'plain.py'}:build"]
    words += ["--size", "8", "--batch-size", "12", "--group", "3", "--epochs", "2", "--no-watch", "--name", "run"]
    command = [sys.executable, *ELASTIC, "-m", "torchlore", *words, "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("test mAP") == 1
    two = json.loads((tmp_path / "run" / "test.json").read_text())
    assert main(["test", str(tmp_path / "run")]) == 0  # in one process, with the weights that two made
    one = json.loads((tmp_path / "run" / "test.json").read_text())
    assert one["queries"] == two["queries"] == 4
    assert one["cmc"] == two["cmc"]
    assert one["mAP"] == pytest.approx(two["mAP"])


def test_a_part_of_the_backbone_can_be_frozen(tmp_path: Path) -> None:
    """By the parameters' names inside the neck; the batch norms of the rest still learn."""
    data = embed.open_data(replace(RUN, data=str(folders(tmp_path / "data"))))
    made = ready(replace(RUN, freeze="backbone.features.0,neck"), data)
    moves = {name for name, one in made.built.model.named_parameters() if one.requires_grad}
    rest = {name for name, _ in made.built.model.named_parameters()} - moves
    assert {name.rpartition(".")[0] for name in rest} == {"backbone.features.0.0", "backbone.features.0.1", "neck"}
    model = made.built.model.train()
    before = {name: value.clone() for name, value in model.named_buffers() if name.endswith("running_mean")}
    model(torch.randn(4, 3, 8, 8))
    moved = {name for name, value in model.named_buffers() if name in before and not torch.equal(value, before[name])}
    assert moved == {f"backbone.features.{block}.1.running_mean" for block in (1, 3)}
    with pytest.raises(Refused, match="--freeze layer1: no parameter's name begins with it"):
        ready(replace(RUN, freeze="layer1"), data)


def test_a_backbone_of_torchvision_gets_a_head_and_stays_frozen_below_it(tmp_path: Path) -> None:
    data = embed.open_data(replace(RUN, data=str(folders(tmp_path / "data")), size=32))
    made = ready(replace(RUN, model="resnet18", freeze="backbone", size=32, backbone_lr=0.1), data)
    moves = {name for name, one in made.built.model.named_parameters() if one.requires_grad}
    assert moves == {"backbone.fc.weight", "backbone.fc.bias", "neck.weight", "classifier.weight"}
    features, logits = made.built.model.train()(torch.randn(2, 3, 32, 32))
    assert (features.shape, logits.shape) == ((2, WIDTH), (2, len(data.classes)))

"""Training on videos: it resumes exactly, runs in two processes, tests, reports, exports."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from torchlore.cli import main
from torchlore.recipes.checkpoint import load
from torchlore.train import fit as fitting
from torchlore.train.again import opened
from torchlore.train.batches import Plan, batches
from torchlore.train.journal import read
from torchlore.train.models import build
from torchlore.train.run import Refused, Run, checked, defaults
from torchlore.train.setup import Ready, ready
from torchlore.train.video import CLIPS, CROPS, build_model, evaluate, motion, open_data

PLAIN = f"{Path(__file__).with_name('plain_model.py')}:frames"
VIDEO = replace(defaults("video"), epochs=2, batch_size=12, watch=False, workers=0, device="cpu")


@pytest.fixture(scope="module", autouse=True)
def _a_small_example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The embedded example with 12 videos of each class to train on and 4 to test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setitem(motion.CLIPS, "train", 12)
        patch.setitem(motion.CLIPS, "test", 4)
        motion.example()
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one epoch, which is wrong about enough videos to fill a report."""
    out = tmp_path_factory.mktemp("runs")
    words = ("--task", "video", "--epochs", "1", "--batch-size", "24", "--no-watch", "--name", "run")
    assert main(["train", *words, "--out", str(out)]) == 0
    return out / "run"


def test_the_example_is_made_once_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def dies(root: Path) -> None:
        (root / "train").mkdir()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(motion, "make", dies)
        motion.example()
    assert list((tmp_path / "torchlore").iterdir()) == []
    monkeypatch.setitem(motion.CLIPS, "train", 2)
    monkeypatch.setitem(motion.CLIPS, "test", 1)
    folder = motion.example()
    assert len(list(folder.glob("train/*/*.mp4"))) == 12
    assert len(list(folder.glob("test/*/*.mp4"))) == 6
    assert [one.name for one in folder.parent.iterdir()] == [folder.name]
    before = folder.stat().st_mtime_ns
    assert motion.example() == folder
    assert folder.stat().st_mtime_ns == before
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(Refused, match="set XDG_CACHE_HOME"):
        motion.example()


def test_every_place_and_angle_of_the_example_is_as_likely_in_each_class() -> None:
    """Drawn without a codec, the mean picture of any moment is flat, and the same for all classes."""
    digit = torch.zeros(1, 8, 8, dtype=torch.uint8)
    digit[0, 1:7, 3:6] = 255
    for name in motion.MOTIONS:
        generator = torch.Generator().manual_seed(3)
        drawn = torch.stack([motion.moved(digit, name, generator) for _ in range(600)]).float()
        for moment in (0, 11, 23):
            mean = drawn[:, moment].mean(0)
            assert mean.std() / mean.mean() < 0.2, (name, moment)  # 600 draws of even chance give 0.12
        assert drawn.sum((2, 3)).std(1).mean() < 0.05 * drawn.sum((2, 3)).mean()  # nothing is lost at the border


def trained(run: Run, folder: Path, stops: tuple[int, ...] = ()) -> dict[str, Tensor]:
    """The weights at the end of a run that was sent SIGTERM after each of these steps and resumed each time."""
    for stop in (*stops, None):

        def show(made: Ready, stepped: object, since: float, stop: int | None = stop) -> None:
            if stepped.step + 1 == stop:
                os.kill(os.getpid(), signal.SIGTERM)

        made = ready(run, open_data(run))
        outcome = fitting.fit(made, folder, show)
        assert outcome.step == (stop or made.total_steps)
    return made.parts.model.state_dict()


@pytest.mark.parametrize(
    "change", [{"workers": 2}, {"mixup": 0.2, "ema": 0.9, "augment": "crop"}, {"accumulate": 2, "group": 2}]
)
def test_a_run_that_was_stopped_ends_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object]
) -> None:
    ticks = iter(range(1, 10**9))
    monkeypatch.setattr(fitting.time, "monotonic", lambda: float(next(ticks)))  # show every step
    run = replace(VIDEO, **change)
    wanted = trained(run, tmp_path / "whole")
    found = trained(run, tmp_path / "stopped", (2, 7))
    assert wanted.keys() == found.keys()
    assert all(torch.equal(wanted[name], found[name]) for name in wanted)
    logs = [read(tmp_path / name / "log.jsonl") for name in ("whole", "stopped")]
    assert [one["val_loss"] for one in logs[0]] == [one["val_loss"] for one in logs[1]]


def test_clips_do_not_depend_on_who_reads_them() -> None:
    train = open_data(VIDEO).train
    plan = Plan(8, 3, augment=True)
    alone = next(batches(train, plan, 0, 1))
    with_worker = next(batches(train, plan, 0, 1, workers=1))
    assert torch.equal(alone.pictures, with_worker.pictures)
    for rank in range(2):
        share = next(batches(train, replace(plan, rank=rank, world=2), 0, 1))
        assert torch.equal(alone.pictures[rank::2], share.pictures)
    later = next(batches(train, plan, plan.length(len(train.labels)), 10**6))
    assert not torch.equal(alone.pictures, later.pictures)


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    """A batch of 13 and 24 test videos: numbers that two does not divide, and nine views of each."""
    words = ("--task", "video", "--model", f"motion:{PLAIN}", "--epochs", "2", "--batch-size", "13")
    words += ("--no-watch", "--name", "run")
    assert main(["train", *words, "--out", str(tmp_path / "one")]) == 0
    elastic = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "torchlore")
    command = [sys.executable, *elastic, "train", *words, "--out", str(tmp_path / "two")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    one, two = (tmp_path / name / "run" for name in ("one", "two"))
    weights = [load(folder / "checkpoints" / "last.pt")["model"] for folder in (one, two)]
    assert all(torch.allclose(weights[0][name], weights[1][name], atol=1e-5) for name in weights[0])
    tested = [json.loads((folder / "test.json").read_text()) for folder in (one, two)]
    assert tested[0]["confusion"] == tested[1]["confusion"]
    assert sum(map(sum, tested[1]["confusion"])) == 24
    assert tested[0]["loss"] == pytest.approx(tested[1]["loss"], rel=1e-4)


def test_the_consensus_is_the_mean_over_frames_of_any_network() -> None:
    data = open_data(VIDEO)
    clips = torch.randn(2, 3, 3, 32, 32)
    for name, layer in (("small", "head"), ("resnet18", "fc"), ("timm:resnet18", "fc"), (PLAIN, "1")):
        side = 24 if name == PLAIN else 32
        run = replace(VIDEO, model=f"tsn:{name}")
        torch.manual_seed(0)
        built = build_model(run, data)
        torch.manual_seed(0)
        plain = build(replace(VIDEO, model=name), 6, 3).model
        assert plain.state_dict().keys() == built.model.state_dict().keys()
        assert f"{layer}.weight" in plain.state_dict()
        with torch.no_grad():
            cut = clips[..., :side, :side]
            each = torch.stack([plain.eval()(cut[:, frame]) for frame in range(3)])
            said = built.model.eval()(cut)
        assert said.shape == (2, 6)
        assert torch.allclose(said, each.mean(0), atol=1e-5)
    with pytest.raises(Refused, match="resnet81"):
        build_model(replace(VIDEO, model="motion:resnet81"), data)


def test_freezing_and_sizes_mean_what_they_mean_for_pictures(tmp_path: Path) -> None:
    torch.save(build(replace(VIDEO, model="resnet18"), 6, 3).model.state_dict(), tmp_path / "w.pt")
    run = replace(VIDEO, model="motion:resnet18", weights=str(tmp_path / "w.pt"), freeze="backbone", size=32)
    made = ready(run, open_data(run))
    moving = [name for name, one in made.parts.model.named_parameters() if one.requires_grad]
    assert moving == ["fc.weight", "fc.bias"]
    made = ready(replace(run, freeze="conv1,bn1,layer1"), open_data(run))
    assert not made.parts.model.layer1[0].conv1.weight.requires_grad
    assert made.parts.model.layer2[0].conv1.weight.requires_grad
    assert made.data.train.read([0], None).shape == (1, 3, 3, 32, 32)
    assert made.data.frames == 3
    with pytest.raises(Refused, match="--confusion does nothing for --task video"):
        checked(replace(VIDEO, confusion=2))
    with pytest.raises(Refused, match="--group must be at least 0; got -1"):
        checked(replace(VIDEO, group=-1))


def test_a_test_is_the_mean_over_clips_and_crops(run: Path) -> None:
    made = opened(run)
    views = made.data.test.viewed(CLIPS, CROPS).read([0, 5], None)
    model = made.parts.model.eval()
    with torch.no_grad():
        each = torch.stack([model(made.prepare(view)) for view in views.split(made.data.frames, 1)])
    found = evaluate(made, model, made.data.test)
    assert len(each) == CLIPS * CROPS
    assert torch.allclose(found.mean.logits[[0, 5]], each.mean(0), atol=1e-4)
    middle = evaluate(made, model, replace(made.data.test))  # another split than the test: one view
    assert torch.allclose(found.middle.logits, middle.mean.logits, atol=1e-4)


def test_a_run_has_a_report_with_sheets_of_frames(run: Path) -> None:
    said = json.loads((run / "test.json").read_text())
    assert said["samples"] == 24
    assert said["clips"], said["crops"] == (3, 3)
    assert 0 <= said["middle_clip_accuracy"] <= 1
    html = (run / "report.html").read_text()
    wrong = round(24 * (1 - said["accuracy"]))
    assert html.count('src="data:image/png;base64,') == wrong > 0
    assert re.search(r"<code>test/\w+/00\d\.mp4</code>", html)
    assert "with the middle clip alone" in html
    assert "motion:small on motion" in html


def test_lore_test_takes_other_videos_and_names_the_damaged(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    for name in ("up", "left"):
        shutil.copytree(motion.example() / "test" / name, other / name)
    (other / "up" / "empty.mp4").touch()
    motion.encode(other / "left" / "long.mkv", torch.randint(255, (60, 24, 24), dtype=torch.uint8))
    data = (other / "left" / "long.mkv").read_bytes()
    (other / "left" / "long.mkv").write_bytes(data[: len(data) // 2])
    assert main(["test", str(run), str(other)]) == 65
    out = capsys.readouterr().out
    assert "9 samples: accuracy" in out
    assert "3 clips x 3 crops of each video" in out
    html = (run / "test-other" / "report.html").read_text()
    assert "up/empty.mp4</td><td>the file is empty" in html
    assert re.search(r"left/long\.mkv</td><td>\d\d of \d\d frames cannot be decoded; the other \d\d are used", html)
    assert main(["test", str(run)]) == 0


def test_an_exported_program_takes_clips(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("torch", "onnx"):
        assert main(["export", str(run), "--to", kind]) == 0
        assert "on 16 samples" in capsys.readouterr().out
    clips = opened(run).data.test.read([0], None)
    program = torch.export.load(run / "model.pt2").module()
    assert program(clips).shape == (1, 6)


def test_a_video_that_vanishes_while_training_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("up", "down"):
        shutil.copytree(motion.example() / "train" / name, tmp_path / "data" / name)
    run = replace(VIDEO, data=str(tmp_path / "data"), size=24)
    made = ready(run, open_data(run))
    shutil.rmtree(tmp_path / "data" / "up")
    with pytest.raises(fitting.Trouble, match=r"up/0\d\d\.mp4"):
        fitting.fit(made, tmp_path / "run")
    (tmp_path / "bad").mkdir()
    assert main(["train", "--task", "video", str(tmp_path / "bad"), "--out", str(tmp_path)]) == 2
    assert "--data" in capsys.readouterr().err


def test_the_network_is_left_as_it_was_in_training_mode() -> None:
    made = ready(VIDEO, open_data(VIDEO))
    model = made.parts.model.train()
    evaluate(made, model, made.data.val)
    assert all(module.training for module in model.modules() if not isinstance(module, nn.Identity))

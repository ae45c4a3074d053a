"""What is learned of videos is the order of their frames: a single frame of the embedded example says nothing."""

import json
from pathlib import Path

import pytest

from torchlore.cli import main
from torchlore.train.video import motion


def accuracy(folder: Path, *words: str) -> float:
    assert main(["train", "--task", "video", "--no-watch", "--name", "run", *words, "--out", str(folder)]) == 0
    found: float = json.loads((folder / "run" / "test.json").read_text())["accuracy"]
    return found


def test_the_order_of_frames_is_seen_and_a_single_frame_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setitem(motion.CLIPS, "train", 40)
    monkeypatch.setitem(motion.CLIPS, "test", 24)
    words = ("--epochs", "4", "--batch-size", "16", "--val", "0.05", "--lr", "4e-3")
    single = accuracy(tmp_path / "single", *words, "--model", "tsn:small", "--group", "1")
    assert single < 0.31  # 144 videos, six classes: chance is 0.17, and four standard deviations more are 0.29
    assert accuracy(tmp_path / "motion", *words) > 0.6


@pytest.mark.long
def test_the_whole_example_reaches_its_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setitem(motion.CLIPS, "train", 200)
    monkeypatch.setitem(motion.CLIPS, "test", 50)
    assert accuracy(tmp_path / "motion") > 0.95
    assert accuracy(tmp_path / "single", "--model", "tsn:small", "--group", "1") < 0.26
    assert accuracy(tmp_path / "blind", "--model", "tsn:small") < 0.6

"""Weights from a file or a name: every key is accounted for, and once a run has begun nobody needs the file."""

from pathlib import Path

import pytest
import torch

from torchlore.cli import main
from torchlore.recipes.checkpoint import load

QUICK = ("--epochs", "1", "--batch-size", "512", "--no-watch", "--name", "run")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The best checkpoint of a run."""
    folder = tmp_path_factory.mktemp("first")
    assert main(["train", *QUICK, "--out", str(folder)]) == 0
    return folder / "run" / "checkpoints" / "best.pt"


def test_every_key_is_told_and_the_file_may_go(first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = tmp_path / "weights.pt"
    state = load(first)["model"]
    state["features.0.0.weight"] = state["features.0.0.weight"][:3]
    state["stranger"] = torch.zeros(1)
    torch.save(state, weights)
    capsys.readouterr()
    assert main(["train", *QUICK, "--weights", str(weights), "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert f"{weights}: 17 of 20 weights loaded" in out
    assert "missing     head.weight" in out
    assert "unexpected  stranger" in out
    assert "misshaped   features.0.0.weight: (3, 1, 3, 3) in the file, (32, 1, 3, 3) in the model" in out
    weights.unlink()
    run = tmp_path / "run"
    config = run / "config.yaml"
    config.write_text(config.read_text().replace("epochs: 1", "epochs: 2"))
    assert main(["resume", str(run)]) == 0
    assert load(run / "checkpoints" / "last.pt")["step"] == 6
    assert main(["test", str(run)]) == 0
    assert main(["export", str(run), "--to", "safetensors"]) == 0


def test_weights_are_in_the_model_before_the_first_step(first: Path, tmp_path: Path) -> None:
    """With a rate of next to nothing the run ends where the file was."""
    words = ("--weights", str(first), "--lr", "1e-12", "--weight-decay", "0", "--out", str(tmp_path))
    assert main(["train", *QUICK, *words]) == 0
    before, after = load(first)["model"], load(tmp_path / "run" / "checkpoints" / "last.pt")["model"]
    assert torch.allclose(before["features.3.0.weight"], after["features.3.0.weight"], atol=1e-6)
    assert not torch.allclose(before["head.weight"], after["head.weight"], atol=1e-3)  # a new head


def test_weights_that_cannot_be_fetched_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "hub"))
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody answers there
    assert main(["train", "--model", "resnet18", "--weights", "default", "--out", str(tmp_path / "runs")]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("Downloading")]
    assert len(said) == 1
    assert "could not be fetched" in said[0]
    assert "give a file with --weights FILE, or none" in said[0]
    assert not (tmp_path / "runs").exists()


def test_the_help_says_what_size_0_means(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    assert "else 224" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("model", ["small", f"{Path(__file__).with_name('plain_model.py')}:build"])
def test_published_weights_of_a_model_that_has_none_are_refused(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without this, `--freeze backbone --weights default` would keep random weights as they are."""
    assert main(["train", *QUICK, "--model", model, "--weights", "default", "--freeze", "backbone"]) != 0
    assert f"--weights default: {model} has no weights of its own; give none or a file" in capsys.readouterr().err

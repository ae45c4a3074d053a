"""Exported files are run by themselves, as somebody else would, and say what the model says."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from torchlore.cli import main
from torchlore.train.again import opened
from torchlore.train.fit import evaluated


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    words = ("--epochs", "1", "--no-watch", "--ema", "0.9", "--batch-size", "256", "--name", "run")
    assert main(["train", *words, "--out", str(out)]) == 0
    return out / "run"


def pictures_and_logits(run: Path) -> tuple[torch.Tensor, torch.Tensor]:
    made = opened(run)
    return made.data.test.read(list(range(5)), None), evaluated(made, made.data.test).logits[:5]


def test_the_torch_program_runs_without_our_classes(run: Path) -> None:
    assert main(["export", str(run), "--to", "torch"]) == 0
    pictures, logits = pictures_and_logits(run)
    program = torch.export.load(run / "model.pt2").module()
    assert torch.allclose(program(pictures), logits, atol=1e-4)
    assert program(pictures[:1]).shape == (1, 10)


def test_the_onnx_graph_runs_in_onnxruntime(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import onnxruntime

    assert main(["export", str(run), "--to", "onnx"]) == 0
    assert "of the model's on 16 samples" in capsys.readouterr().out
    pictures, logits = pictures_and_logits(run)
    session = onnxruntime.InferenceSession(str(run / "model.onnx"), providers=["CPUExecutionProvider"])
    for count in (5, 1, 3):
        found = session.run(None, {"pictures": pictures[:count].numpy()})[0]
        assert np.allclose(found, logits[:count].numpy(), atol=1e-4)
    assert json.loads(session.get_modelmeta().custom_metadata_map["classes"]) == list("0123456789")


def test_the_weights_carry_what_is_needed_to_use_them(run: Path) -> None:
    from safetensors import safe_open

    assert main(["export", str(run), "--to", "safetensors", "--out", str(run / "w.safetensors")]) == 0
    with safe_open(run / "w.safetensors", "pt") as file:
        about = {name: value for name, value in file.metadata().items() if name in ("classes", "size", "mean")}
    assert {name: json.loads(value) for name, value in about.items()} == {
        "classes": list("0123456789"),
        "size": 8,
        "mean": [0.5],
    }
    assert not list(run.glob(".*part*"))


def test_what_cannot_be_exported_is_one_line(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path)]) == 2
    assert "is no run" in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert main(["export", str(run), "--to", "safetensors", "--out", str(tmp_path / "file" / "a.safetensors")]) == 2
    assert "cannot be written" in capsys.readouterr().err

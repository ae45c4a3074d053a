"""A trained model as one file for elsewhere, with its preprocessing inside, run against the model on real samples."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from torchlore.recipes.checkpoint import atomic
from torchlore.recipes.device import unwrap
from torchlore.recipes.weights import read, write
from torchlore.train.evaluate import evaluating
from torchlore.train.models import prepared, without_file
from torchlore.train.run import Trouble
from torchlore.train.setup import Ready

ENDINGS = {"torch": ".pt2", "onnx": ".onnx", "safetensors": ".safetensors"}
SAMPLES = 16  # real pictures that the file is tried on
TOLERANCE = 1e-3  # of the logits; another runtime adds up in another order


class Whole(nn.Module):
    """Pictures (B, C, H, W), or clips, uint8 in, what the model says in evaluation out: nobody has to know the mean and the scale."""

    def __init__(self, model: nn.Module, prepare: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.model, self.prepare = model, prepare

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits of pictures."""
        out: Tensor = self.model(self.prepare(pictures))
        return out


@dataclass(frozen=True)
class Exported:
    """The file, and how far its logits lie from the model's."""

    path: Path
    samples: int
    difference: float


def export(made: Ready, to: str, path: Path) -> Exported:
    """Write the file, run it, and compare; Trouble, and no file, if it says something else than the model."""
    model = unwrap(made.parts.model).cpu().to(memory_format=torch.contiguous_format)  # a program's file wants it plain
    samples = next(part for part in (made.data.test, made.data.val, made.data.train) if len(part.labels))
    pictures = samples.read(list(range(min(SAMPLES, len(samples.labels)))), None)
    prepare = prepared(made.built, torch.device("cpu"), channels_last=False)
    whole = Whole(model, prepare)
    with made.parts.ema.applied(model) if made.parts.ema is not None else nullcontext(), evaluating(whole):
        wanted = whole(pictures).clone()
    write_file = {"torch": _torch, "onnx": _onnx, "safetensors": _safetensors}[to]
    partial = path.with_name(f".{path.stem}.part{path.suffix}")
    with made.parts.ema.applied(model) if made.parts.ema is not None else nullcontext():
        found = write_file(made, whole.eval(), pictures, partial)
    difference = float((found - wanted).abs().max())
    if not difference <= TOLERANCE * max(1.0, float(wanted.abs().max())):
        partial.unlink()
        raise Trouble(
            f"the exported file's logits differ from the model's by {difference:.2g} on {len(pictures)} samples"
        )
    partial.replace(path)
    return Exported(path, len(pictures), difference)


def _program(whole: Whole, pictures: Tensor) -> torch.export.ExportedProgram:
    batch = torch.export.Dim("batch", min=1, max=4096)
    several = (
        pictures if len(pictures) > 1 else torch.cat([pictures, pictures])
    )  # a batch of one would be taken as fixed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of its own deprecated insides while it traces
        return torch.export.export(whole, (several,), dynamic_shapes=({0: batch},))


def _torch(_made: Ready, whole: Whole, pictures: Tensor, path: Path) -> Tensor:
    buffer = io.BytesIO()  # on a full disk torch's own writer ends the process
    torch.export.save(_program(whole, pictures), buffer)
    with atomic(path) as file:
        file.write(buffer.getbuffer())
    found: Tensor = torch.export.load(path).module()(pictures).detach()
    return found


def _onnx(made: Ready, whole: Whole, pictures: Tensor, path: Path) -> Tensor:
    import onnxruntime

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's exporter about itself
        made_graph = torch.onnx.export(
            _program(whole, pictures), input_names=["pictures"], output_names=["logits"], verbose=False
        )
    assert made_graph is not None
    graph = made_graph.model_proto
    graph.metadata_props.add(key="classes", value=json.dumps(made.data.classes))
    with atomic(path) as file:
        file.write(graph.SerializeToString())
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return torch.from_numpy(session.run(None, {"pictures": pictures.numpy()})[0])


def _safetensors(made: Ready, whole: Whole, pictures: Tensor, path: Path) -> Tensor:
    about = {"model": made.run.model, "classes": made.data.classes, "size": made.data.size}
    about |= {"mean": made.built.mean, "std": made.built.std}
    state = {name: value.detach().clone() for name, value in whole.model.state_dict().items()}
    write(state, path, **{name: json.dumps(value) for name, value in about.items()})
    fresh = made.task.build_model(without_file(made.run), made.data, load=False)
    fresh.model.load_state_dict(read(path))
    again = Whole(fresh.model, whole.prepare)
    with evaluating(again):
        found: Tensor = again(pictures).clone()
    return found

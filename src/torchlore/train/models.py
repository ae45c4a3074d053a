"""Models by name: ours, torchvision's, timm's, a user's own; weights, the preprocessing they want, the head that fits."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchlore.recipes.weights import load_into
from torchlore.train.run import Refused, Run

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
HALF = ((0.5,), (0.5,))
SUFFIXES = (".pt", ".pth", ".bin", ".ckpt", ".safetensors")  # of files that hold weights


@dataclass(frozen=True)
class Built:
    """A model and what its pictures must look like."""

    model: nn.Module
    heads: tuple[str, ...]  # names of the layers that give the classes
    channels: int
    size: int  # 0: any
    mean: tuple[float, ...]
    std: tuple[float, ...]
    loaded: str = ""  # what the weights' report said


class Quarters(nn.Module):
    """The means of a picture's four quarters: AdaptiveAvgPool2d(2), which has no deterministic gradient on a GPU."""

    def forward(self, pictures: Tensor) -> Tensor:
        """(B, C, H, W) to (B, C, 2, 2)."""
        height, width = pictures.shape[2:]
        return F.avg_pool2d(pictures, (-(-height // 2), -(-width // 2)), (height // 2, width // 2))


class Small(nn.Module):
    """A small convolutional network for pictures of any size from 8 x 8 up."""

    def __init__(self, channels: int, classes: int, width: int = 32) -> None:
        super().__init__()
        self.features = nn.Sequential(
            _block(channels, width),
            _block(width, width * 2),
            nn.MaxPool2d(2),
            _block(width * 2, width * 4),
            Quarters(),
        )
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width * 16, classes)

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits (B, classes) of pictures (B, channels, H, W)."""
        out: Tensor = self.head(self.dropout(self.features(pictures).flatten(1)))
        return out


def _block(inside: int, outside: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1, bias=False), nn.BatchNorm2d(outside), nn.ReLU())


def without_file(run: Run) -> Run:
    """The run as it is once a checkpoint holds its weights: the file they came from may be gone."""
    from_file = "/" in run.weights or Path(run.weights).suffix in SUFFIXES or Path(run.weights).is_file()
    return replace(run, weights="none") if from_file else run


def build(run: Run, classes: int, channels: int, *, load: bool = True) -> Built:
    """The model of a run with a head of the right size (0: its own) and, unless a checkpoint follows, its weights."""
    refuse_absent(run)
    if run.model == "small":
        refuse_named(run)
        built = Built(Small(channels, classes or 10), ("head",), channels, 0, HALF[0] * channels, HALF[1] * channels)
    elif ":" in run.model and run.model.split(":")[0].endswith(".py"):
        refuse_named(run)
        built = _own(run.model, classes or 1000, channels)
    elif run.model.startswith("timm:"):
        built = _timm(run, classes, load)
    else:
        built = _torchvision(run, classes, load)
    return from_file(run, built) if load else built


def refuse_absent(run: Run) -> None:
    """Refuse a file of weights that is not there."""
    if "/" in run.weights and not Path(run.weights).is_file():
        raise Refused(f"--weights {run.weights}: there is no such file")


def refuse_named(run: Run) -> None:
    """Refuse published weights for a model that has none: it would train from random ones without a word."""
    if run.weights != "none" and not Path(run.weights).is_file():
        raise Refused(f"--weights {run.weights}: {run.model} has no weights of its own; give none or a file")


def from_file(run: Run, built: Built) -> Built:
    """The model with the weights of the run's file, where it names one, and the report of what fitted."""
    if not Path(run.weights).is_file():
        return built
    try:
        report = load_into(built.model, run.weights, partial=True, skip=built.heads)
    except ValueError as error:
        raise Refused(f"--weights {run.weights}: {error}") from None
    return replace(built, loaded=str(report))


def refuse_other(path: Path, weights: Mapping[str, Any], model: nn.Module) -> None:
    """Refuse the weights of another architecture, with the first one that does not fit."""
    own = model.state_dict()

    def shape(state: Mapping[str, Any], name: str) -> str:
        return str(tuple(state[name].shape)) if name in state else "not there"

    for name in dict.fromkeys([*own, *weights]):
        have, want = shape(weights, name), shape(own, name)
        if have != want:
            raise Refused(
                f"{path} holds the weights of another model: {name} is {have} in it, {want} in the run's model"
            )


def _own(name: str, classes: int, channels: int) -> Built:
    path, _, factory = name.rpartition(":")
    if not Path(path).is_file():
        raise Refused(f"--model {name}: there is no file {path}")
    spec = importlib.util.spec_from_file_location("torchlore_user_model", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["torchlore_user_model"] = module
    with _in_line(name, path):
        spec.loader.exec_module(module)
    make = getattr(module, factory, None)
    if not callable(make):
        raise Refused(f"--model {name}: {path} has no function {factory!r}")
    with _in_line(name, path):
        model = make(classes) if _takes_one(make) else make()
    if not isinstance(model, nn.Module):
        raise Refused(f"--model {name}: {factory}({classes}) gave a {type(model).__name__}, not an nn.Module")
    mean, std = IMAGENET if channels == 3 else (HALF[0] * channels, HALF[1] * channels)
    return Built(model, (), channels, 0, mean, std)


def _takes_one(make: Callable[..., Any]) -> bool:
    """Whether it can be handed the number of classes."""
    try:
        inspect.signature(make).bind(0)
    except TypeError:
        return False
    except ValueError:  # it has no signature to read
        return True
    return True


@contextmanager
def _in_line(name: str, path: str) -> Iterator[None]:
    """Whatever the user's own file raises, as a refusal in one line."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - it is the user's own code
        raise Refused(f"--model {name}: {said(error, path)}") from None


def said(error: BaseException, path: str = "") -> str:
    """An error in one line: its kind, its words, and the last line of a file on its way."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if path and frame.filename.endswith(path)]
    where = f"line {frames[-1].lineno}: " if frames else ""
    return f"{where}{type(error).__name__}: {' '.join(str(error).split())}"


def _torchvision(run: Run, classes: int, load: bool) -> Built:
    from torchvision import models

    from torchlore.recipes.features import find_heads, replace_head

    if run.model.lower() not in models.list_models():
        near = _nearest(run.model, models.list_models())
        raise Refused(
            f"--model {run.model!r} is no torchvision model{near}; timm models are timm:NAME, your own path.py:factory"
        )
    weights = None if run.weights == "none" or Path(run.weights).is_file() else _enum(models, run)
    try:
        extra = _no_backbone(models, run.model) | ({} if load and weights else _no_side(run.model, weights is not None))
        model = models.get_model(run.model, weights=weights if load else None, **extra)
    except OSError as error:  # what urllib raises
        where = run.model if weights is None else weights.url
        raise Refused(f"--weights {run.weights}: {offline(where, error)}") from None
    heads = tuple(replace_head(model, classes) if classes else find_heads(model))
    if weights is None:
        return Built(model, heads, 3, 224, *IMAGENET)
    wanted = weights.transforms()
    return Built(model, heads, 3, wanted.crop_size[0], tuple(wanted.mean), tuple(wanted.std), f"torchvision {weights}")


def offline(where: str, error: Exception) -> str:
    """Why weights could not be fetched, and what to give instead."""
    why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return f"{where} could not be fetched ({why}); give a file with --weights FILE, or none"


def _no_backbone(models: Any, name: str) -> dict[str, Any]:
    """Segmentation and detection models fetch the weights of their backbone unless they are told not to."""
    known = inspect.signature(models.get_model_builder(name)).parameters
    return {"weights_backbone": None} if "weights_backbone" in known else {}


def _no_side(name: str, published: bool) -> dict[str, bool]:
    """What published weights set in models with side outputs, for one that is built without them."""
    if name.lower() not in ("googlenet", "inception_v3"):
        return {}
    return {"aux_logits": False, "transform_input": published, "init_weights": True}


def _enum(models: Any, run: Run) -> Any:
    known = models.get_model_weights(run.model)
    name = "DEFAULT" if run.weights == "default" else run.weights
    if name not in known.__members__:
        raise Refused(
            f"--weights {run.weights!r}: {run.model} has {', '.join(known.__members__)}, and there is no such file"
        )
    return known[name]


def _timm(run: Run, classes: int, load: bool) -> Built:
    import timm

    name = run.model.removeprefix("timm:")
    if name.split(".")[0] not in timm.list_models():
        raise Refused(f"--model {run.model!r} is no timm model{_nearest(name, timm.list_models())}")
    fetched = load and run.weights == "default"
    try:
        model = timm.create_model(name, pretrained=fetched, num_classes=classes or None)
    except (OSError, RuntimeError, ValueError) as error:
        if not fetched:
            raise
        raise Refused(f"--weights {run.weights}: {offline(f'{name} of timm', error)}") from None
    wanted: dict[str, Any] = model.pretrained_cfg  # type: ignore[assignment]  # timm puts a plain dict on the module
    heads = (wanted["classifier"],) if isinstance(wanted["classifier"], str) else tuple(wanted["classifier"])
    return Built(
        model, heads, wanted["input_size"][0], wanted["input_size"][1], tuple(wanted["mean"]), tuple(wanted["std"])
    )


def _nearest(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=3)
    return f"; the nearest are {', '.join(near)}" if near else ""


def prepared(built: Built, device: torch.device, channels_last: bool) -> Callable[[Tensor], Tensor]:
    """The function that turns pictures (B, C, H, W) or clips (B, T, C, H, W) uint8 into what the model wants."""
    mean = torch.tensor(built.mean, device=device).view(-1, 1, 1) * 255
    scale = 1 / (torch.tensor(built.std, device=device).view(-1, 1, 1) * 255)
    grey = torch.tensor((0.299, 0.587, 0.114), device=device).view(3, 1, 1)
    layout = torch.channels_last if channels_last else torch.contiguous_format

    def prepare(pictures: Tensor) -> Tensor:
        if pictures.ndim == 5:
            flat = prepare(pictures.flatten(0, 1))
            return flat.view(*pictures.shape[:2], *flat.shape[1:])
        moved = pictures.to(device, non_blocking=True)
        if moved.shape[1] == 1 and built.channels == 3:
            moved = moved.expand(-1, 3, -1, -1)
        elif moved.shape[1] == 3 and built.channels == 1:
            moved = (moved * grey).sum(1, keepdim=True)
        if device.type != "cuda":  # a GPU casts and subtracts in one kernel
            moved = moved.float()
        return ((moved - mean) * scale).contiguous(memory_format=layout)

    return prepare

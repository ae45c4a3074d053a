"""Networks that give a class for each pixel: a U-Net, torchvision's, a user's own."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchlore.train.models import HALF, IMAGENET, Built, build, from_file, offline, refuse_absent, refuse_named
from torchlore.train.run import Refused, Run
from torchlore.train.samples import Data


class UNet(nn.Module):
    """A U-Net for pictures of any size: each upward step is brought to the size of what it is joined with."""

    def __init__(self, channels: int, classes: int, width: int = 16, depth: int = 4) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(depth)]
        inside = [channels, *widths[:-1]]
        self.down = nn.ModuleList(_block(*pair) for pair in zip(inside, widths, strict=True))
        self.up = nn.ModuleList(_block(widths[at] + widths[at - 1], widths[at - 1]) for at in range(depth - 1, 0, -1))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits (B, classes, H, W) of pictures (B, channels, H, W)."""
        skips: list[Tensor] = []
        for number, block in enumerate(self.down):
            pictures = block(F.max_pool2d(pictures, 2, ceil_mode=True) if number else pictures)
            skips.append(pictures)
        out = skips.pop()
        for block in self.up:
            skip = skips.pop()
            out = F.interpolate(out, skip.shape[2:], mode="bilinear", align_corners=False)
            out = block(torch.cat([out, skip], 1))
        logits: Tensor = self.head(out)
        return logits


def _block(inside: int, outside: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for channels in (inside, outside):
        layers += [nn.Conv2d(channels, outside, 3, padding=1, bias=False), nn.BatchNorm2d(outside), nn.ReLU()]
    return nn.Sequential(*layers)


class Dense(nn.Module):
    """A network that answers with logits or with a mapping of them: all of it in training, the main one otherwise."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, pictures: Tensor) -> Any:
        """Logits (B, classes, H, W); in training what the network says, perhaps with `out` and `aux`."""
        said = self.net(pictures)
        return said if self.training or isinstance(said, Tensor) else said["out"]


def build_model(run: Run, data: Data, *, load: bool = True) -> Built:
    """The network of a run with an output for each class."""
    classes = len(data.classes)
    refuse_absent(run)
    if run.model == "unet":
        refuse_named(run)
        built = _named(UNet(data.channels, classes), ("head",), *HALF)
    elif run.model.split(":")[0].endswith(".py"):
        own = build(run, classes, data.channels, load=False)
        built = _named(own.model, (), own.mean, own.std)
    else:
        built = _torchvision(run, data, load)
    return from_file(run, built) if load else built


def _named(net: nn.Module, heads: tuple[str, ...], mean: tuple[float, ...], std: tuple[float, ...]) -> Built:
    """Pictures of any size are taken: the window's is the run's own."""
    mean, std = (values * 3 if len(values) == 1 else values for values in (mean, std))
    return Built(Dense(net), tuple(f"net.{name}" for name in heads), 3, 0, mean, std)


def _torchvision(run: Run, data: Data, load: bool) -> Built:
    from torchvision import models

    known = models.list_models(models.segmentation)
    if run.model not in known:
        near = difflib.get_close_matches(run.model, ["unet", *known], n=3, cutoff=0.3) or ["unet", *known]
        raise Refused(
            f"--model {run.model!r} gives no class for each pixel; the nearest that do are {', '.join(near)}, or your own path.py:factory"
        )
    enum = models.get_model_weights(run.model)
    wanted = "DEFAULT" if run.weights == "default" else run.weights
    if wanted not in enum.__members__ and run.weights != "none" and not Path(run.weights).is_file():
        raise Refused(
            f"--weights {run.weights!r}: {run.model} has {', '.join(enum.__members__)}, and no such file is there"
        )
    weights = enum.__members__.get(wanted) if load else None
    extra = {} if run.model.startswith("lraspp") or weights is not None else {"aux_loss": True}
    try:
        net = models.get_model(run.model, weights=weights, weights_backbone=None, **extra)
    except OSError as error:  # what urllib raises
        where = run.model if weights is None else weights.url
        raise Refused(f"--weights {run.weights}: {offline(where, error)}") from None
    return _named(net, _heads(run.model, net, len(data.classes)), *IMAGENET)


def _heads(name: str, net: Any, classes: int) -> tuple[str, ...]:
    """Put in last layers that give the classes: of the main output and, where there is one, of the auxiliary."""
    if name.startswith("lraspp"):
        last = ["classifier.low_classifier", "classifier.high_classifier"]
    else:
        last = [f"classifier.{len(net.classifier) - 1}"]
        last += [] if net.aux_classifier is None else [f"aux_classifier.{len(net.aux_classifier) - 1}"]
    for one in last:
        owner, _, attribute = one.rpartition(".")
        old = net.get_submodule(one)
        setattr(net.get_submodule(owner), attribute, nn.Conv2d(old.in_channels, classes, 1))
    return tuple(last)

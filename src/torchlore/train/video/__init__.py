"""Video: a class for each video. The functions that `tasks.Task` names, in its order, then their helpers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch
from torch import Tensor, nn

from torchlore.recipes.data import PackedStrings
from torchlore.train import classify
from torchlore.train.classify import figure, loss, plan
from torchlore.train.discover import TROUBLE, Listed, refuse_strange, split
from torchlore.train.evaluate import Predicted, predict
from torchlore.train.files import FolderReader, resize
from torchlore.train.models import Built, build
from torchlore.train.run import Refused, Run
from torchlore.train.samples import Data, Names, Samples
from torchlore.train.tested import Tested
from torchlore.train.video.clips import Clips
from torchlore.train.video.motion import NAME, SIDE, example
from torchlore.train.video.videos import Found, find

if TYPE_CHECKING:
    from torchlore.train.setup import Ready

__all__ = ["build_model", "evaluate", "figure", "loss", "open_data", "other_data", "plan", "scores", "tested"]

FRAMES = 3  # of a clip, unless --group says another number
CLIPS, CROPS = 3, 3  # views of a video at the test; odd numbers, so that the middle one is that of validation


@dataclass(frozen=True)
class Viewed:
    """What the model says of each video: the mean over its views, and the middle view alone."""

    mean: Predicted
    middle: Predicted


def open_data(run: Run, size: int = 0) -> Data:
    """The videos of a folder, or of the embedded example, with their splits."""
    embedded = run.data == NAME
    root = example() if embedded else Path(run.data)
    try:
        found = find(root, NAME, run.follow_links)
        listed = Listed(found.names, found.classes, found.labels, found.splits, FolderReader(str(root)), found.skipped)
        data = split(listed, run, size or (SIDE if embedded else 0))
    except TROUBLE as error:
        raise Refused(f"--data {run.data}: {error}") from None
    train, val, test = (
        clips(run, root, found, part.names, part.labels, data.size) for part in (data.train, data.val, data.test)
    )
    return replace(data, train=train, val=val, test=test, frames=run.group or FRAMES)


def other_data(data: str, run: Run, state: dict[str, Any]) -> Data:
    """Videos that the run has not seen, under the run's classes: their test or validation split, or all of them."""
    classes, size = tuple(state["classes"]), int(state["size"])
    root = example() if data == NAME else Path(data)
    try:
        found = find(root, NAME, run.follow_links)
    except TROUBLE as error:
        raise Refused(f"{data}: {error}") from None
    refuse_strange(data, found.classes, classes)
    chosen = next((name for name in ("test", "val") if name in found.splits), "")
    at = [i for i, word in enumerate(found.splits) if not chosen or word == chosen]
    labels = torch.tensor([classes.index(found.classes[found.labels[i]]) for i in at], dtype=torch.long)
    if not len(labels):
        raise Refused(f"{data} holds no video that can be read")
    samples = clips(run, root, found, [found.names[i] for i in at], labels, size)
    frames = run.group or FRAMES
    return Data(Path(data).name, classes, samples, samples, samples, 3, size, found.skipped, frames)


def build_model(run: Run, data: Data, *, load: bool = True) -> Built:
    """An image network that gives the mean of its logits over the frames of a clip.

    It takes and gives clips by hooks: its layers keep their names, so that --freeze, --layer-decay and weights made for
    pictures mean the same here.
    """
    built = build(replace(run, model=backbone(run)[1]), len(data.classes), data.channels, load=load)
    built.model.register_forward_pre_hook(_frames_as_pictures)
    built.model.register_forward_hook(partial(_consensus, data.frames))
    return built


def evaluate(made: Ready, model: nn.Module, samples: Samples) -> Viewed:
    """The logits of every video; at the test the mean over several clips and parts of the picture."""
    assert isinstance(samples, Clips)
    several = samples is made.data.test
    seen = samples.viewed(CLIPS, CROPS) if several else samples
    views = seen.clips * seen.crops
    size = max(1, made.run.batch_size // views)
    found = predict(Views(model, views), seen, made.prepare, size, made.world, made.workers)
    if not len(found.labels):
        return Viewed(found, found)
    each = found.logits.view(len(found.labels), views, -1)
    return Viewed(Predicted(each.mean(1), found.labels), Predicted(each[:, views // 2], found.labels))


def scores(found: Viewed) -> dict[str, float]:
    """The figures of a split that are logged at each evaluation."""
    return classify.scores(found.mean)


def tested(made: Ready, samples: Samples, found: Viewed) -> Tested:
    """What classification says, with sheets of frames as its pictures, and how much the views have helped."""
    assert isinstance(samples, Clips)
    said = classify.tested(made, Sheets(samples), found.mean)
    views = {"clips": CLIPS, "crops": CROPS, "middle_clip_accuracy": found.middle.accuracy}
    line = f"{CLIPS} clips x {CROPS} crops of each video; the middle one alone has accuracy {found.middle.accuracy:.4f}"
    return replace(
        said,
        figures={**said.figures, **views},
        lines=[*said.lines, line],
        tiles={**said.tiles, "with the middle clip alone": f"{found.middle.accuracy:.2%}"},
        sections=f'<div class="videos">{said.sections}</div>',
    )


class Views(nn.Module):
    """A model over several clips of each video: V * T frames in, V * C logits out."""

    def __init__(self, model: nn.Module, views: int) -> None:
        super().__init__()
        self.model, self.views = model, views

    def forward(self, clips: Tensor) -> Tensor:
        """(B, V * T, 3, S, S) to (B, V * C)."""
        out: Tensor = self.model(clips.reshape(-1, clips.shape[1] // self.views, *clips.shape[2:]))
        return out.view(-1, self.views * out.shape[1])


@dataclass(frozen=True)
class Sheets:
    """Each video as one picture for the report: the frames of its middle clip in colour, side by side."""

    clips: Clips
    slow: ClassVar[bool] = True

    @property
    def labels(self) -> Tensor:
        """Those of the videos."""
        return self.clips.labels

    @property
    def names(self) -> Names:
        """Those of the videos."""
        return self.clips.names

    def read(self, indices: Sequence[int], draws: Tensor | None) -> Tensor:
        """(B, 3, side, T * (side + 2) - 2) uint8, two grey columns between two frames."""
        colour = replace(self.clips, stacked=False).read(indices, draws)
        side = min(80, colour.shape[-1])  # a report holds many
        small = resize(colour.flatten(0, 2), side, side).view(*colour.shape[:3], side, side)
        framed = nn.functional.pad(small, (0, 2), value=128)
        return framed.permute(0, 2, 3, 1, 4).flatten(3)[..., :-2]

    def fetch(self, indices: Sequence[int], draws: Tensor | None) -> tuple[Tensor, Tensor]:
        """The sheets and their labels."""
        return self.read(indices, draws), self.labels[torch.as_tensor(indices)]

    def resized(self, size: int) -> Self:
        """The same from videos read at this size."""
        return replace(self, clips=self.clips.resized(size))


def backbone(run: Run) -> tuple[bool, str]:
    """Whether the pictures are stacks of neighbouring frames, and the name of the image network.

    >>> backbone(Run(model="motion:resnet18")), backbone(Run(model="timm:resnet18"))
    ((True, 'resnet18'), (False, 'timm:resnet18'))
    """
    kind, _, name = run.model.partition(":")
    return (kind == "motion", name) if kind in ("motion", "tsn") else (False, run.model)


def clips(run: Run, root: Path, found: Found, names: Names, labels: Tensor, size: int) -> Clips:
    """Some of the videos as samples of a run."""
    packed = PackedStrings(names[i] for i in range(len(names)))
    videos = tuple(found.videos[names[i]] for i in range(len(names)))
    frames, stacked = run.group or FRAMES, backbone(run)[0]
    return Clips(packed, labels, str(root), videos, size, run.augment, frames, stacked)


def _frames_as_pictures(_module: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
    """(B, T, C, H, W) to (B * T, C, H, W)."""
    return (inputs[0].flatten(0, 1),)


def _consensus(frames: int, _module: nn.Module, _inputs: tuple[Tensor], logits: Tensor) -> Tensor:
    """(B * T, K) to (B, K)."""
    return logits.view(-1, frames, logits.shape[1]).mean(1)

"""Evaluation: every sample exactly once, in eval mode, without a graph, train mode left as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from torchlore.train.batches import whole
from torchlore.train.group import World, everyone
from torchlore.train.samples import Samples

ALONE = World()


@dataclass(frozen=True)
class Predicted:
    """What the model says of a split, in the split's order."""

    logits: Tensor  # (N, C) on the CPU
    labels: Tensor  # (N,)

    @property
    def accuracy(self) -> float:
        """Share of samples whose largest logit is the right one."""
        return float((self.logits.argmax(1) == self.labels).double().mean())

    @property
    def loss(self) -> float:
        """Mean cross-entropy."""
        return float(nn.functional.cross_entropy(self.logits.double(), self.labels))


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Eval mode inside; every module's own mode again after it."""
    before = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        for module, training in before:
            module.training = training


def predict(
    model: nn.Module,
    samples: Samples,
    prepare: Callable[[Tensor], Tensor],
    size: int,
    place: World = ALONE,
    workers: int = 0,
) -> Predicted:
    """Logits of a split; with several processes each reads its own samples and all get the whole."""
    with evaluating(model):
        found = [
            model(prepare(batch.pictures)).float().cpu()
            for batch in whole(samples, size, place.rank, place.size, workers)
        ]
    mine = torch.cat(found) if found else torch.empty(0, 0)
    parts = everyone(place, mine)
    if place.size == 1:
        return Predicted(mine, samples.labels)
    width = max(part.shape[1] for part in parts)
    whole_split = torch.empty(len(samples.labels), width)
    for at, part in enumerate(parts):
        if part.numel():
            whole_split[at :: place.size] = part
    return Predicted(whole_split, samples.labels)

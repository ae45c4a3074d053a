"""P identities with K pictures each in every batch: a function of seed, epoch and number, whole identities a process."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from torchlore.recipes.data import PKBatches
from torchlore.train.augment import draw
from torchlore.train.batches import Job
from torchlore.train.group import World
from torchlore.train.run import Refused, Run

EACH = 4  # pictures of an identity in a batch where the run does not say


@dataclass(frozen=True, eq=False)
class PKPlan:
    """Identities are taken in rounds, so that all are seen equally often; an epoch holds as many pictures as there are."""

    batches: PKBatches
    augment: bool
    rank: int = 0
    world: int = 1
    kept: dict[int, Tensor] = field(default_factory=dict)  # epoch -> (batches, P, K) indices, of the last two asked for

    def length(self, samples: int) -> int:
        """Batches an epoch, all of the same size."""
        del samples
        return len(self.batches)

    def epoch(self, number: int) -> Tensor:
        """The indices (batches, P, K) of an epoch: the same whoever asks, whenever."""
        if number not in self.kept:
            shape = (self.batches.classes, self.batches.samples)
            rows = [[index for _, index in batch] for batch in self.batches.at(number)]
            self.kept[number] = torch.tensor(rows).view(len(rows), *shape)
            for old in sorted(self.kept)[:-2]:
                del self.kept[old]
        return self.kept[number]

    def job(self, samples: int, epoch: int, number: int) -> Job:
        """What this process reads of one global batch."""
        del samples
        whole = self.epoch(epoch)[number]
        identities, each = whole.shape
        mine = whole[self.rank :: self.world]
        draws = None
        if self.augment:
            drawn = draw(whole.numel(), self.batches.seed, epoch, number).view(identities, each, -1)
            draws = drawn[self.rank :: self.world].flatten(0, 1)
        return Job(epoch, number, mine.flatten(), draws, whole.numel())


def pk_plan(run: Run, labels: Tensor, place: World) -> PKPlan:
    """The plan of a run over these labels."""
    each = run.group or EACH
    identities = min(run.batch_size // each, len(labels.unique()))
    return PKPlan(PKBatches(labels, identities, each, run.seed), run.augment != "none", place.rank, place.size)


def refuse_batch(run: Run, identities: int, processes: int) -> None:
    """Refused where a batch cannot be made of whole identities, at least two for each process."""
    each = run.group or EACH
    if each < 2:
        raise Refused(f"--group {each}: a triplet needs at least 2 pictures of an identity in a batch")
    wanted = run.batch_size // each
    if run.batch_size % each:
        raise Refused(f"--batch-size {run.batch_size} is no multiple of the {each} pictures of each identity (--group)")
    if wanted < 2 * processes:
        few = f"{2 * processes * each}, 2 identities a process" if processes > 1 else f"{2 * each}, 2 identities"
        raise Refused(f"--batch-size {run.batch_size} with {each} pictures of each identity: give at least {few}")
    if wanted % processes:
        raise Refused(
            f"--batch-size {run.batch_size} is {wanted} identities a step: {processes} processes cannot share them evenly"
        )
    if wanted > identities:
        raise Refused(
            f"--batch-size {run.batch_size} with {each} pictures of each wants {wanted} identities a step; there are "
            f"{identities} to train on: give --batch-size {identities * each} or less"
        )

"""Batches in an order that is a function of seed and epoch, from any step on, for any number of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from torchlore.recipes.data import loader_options
from torchlore.recipes.seed import derive
from torchlore.train.augment import draw
from torchlore.train.files import Files
from torchlore.train.jpegs import unpacked
from torchlore.train.run import Refused
from torchlore.train.samples import Samples, Stored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

AT_ONCE, ROOM = 32, 64 << 20  # batches, and bytes, that are read together where the pictures lie on a device
FEW = 256  # pictures that are read sooner than workers start


@dataclass(frozen=True)
class Batch:
    """What one process gets of one global batch."""

    epoch: int
    number: int  # within the epoch
    pictures: Tensor  # (B, C, H, W), or clips (B, T, C, H, W), uint8
    labels: Tensor  # (B,), or masks (B, H, W)
    total: int  # samples of the global batch, over all processes
    indices: Tensor  # (B,) which samples these are
    share: float = 1.0  # weight of this part's mean loss, so that the mean over processes is the global batch's

    def pin_memory(self) -> Batch:
        """The same in memory that a GPU reads by itself; the loader calls this."""
        return replace(self, pictures=self.pictures.pin_memory(), labels=self.labels.pin_memory())


class Planned(Protocol):
    """How a split is cut into batches: a function of the seed, the epoch and the batch's number, nothing else."""

    def length(self, samples: int, /) -> int:
        """Batches an epoch."""
        ...

    def job(self, samples: int, epoch: int, number: int, /) -> Job:
        """What this process reads of one global batch."""
        ...


@lru_cache(maxsize=2)
def _order(samples: int, seed: int, epoch: int) -> Tensor:
    return torch.randperm(samples, generator=torch.Generator().manual_seed(derive(seed, "order", epoch)))


@dataclass(frozen=True)
class Plan:
    """Every sample once an epoch in a random order."""

    batch_size: int  # global
    seed: int
    augment: bool
    rank: int = 0
    world: int = 1

    def length(self, samples: int) -> int:
        """Batches an epoch; the last one may be smaller."""
        return -(-samples // self.batch_size)

    def order(self, samples: int, epoch: int) -> Tensor:
        """The permutation of an epoch: the same whoever asks, whenever."""
        return _order(samples, self.seed, epoch)

    def job(self, samples: int, epoch: int, number: int) -> Job:
        """What this process reads of one global batch."""
        whole = self.order(samples, epoch)[number * self.batch_size : (number + 1) * self.batch_size]
        mine = slice(self.rank, None, self.world)
        count = len(whole[mine])
        if count == 0:  # a last batch smaller than the number of processes: take part with weight 0
            mine = slice(0, 1)
        draws = draw(len(whole), self.seed, epoch, number)[mine] if self.augment else None
        return Job(epoch, number, whole[mine], draws, len(whole), count * self.world / len(whole))


@dataclass(frozen=True)
class Job:
    """One process's share of a batch, before it is read."""

    epoch: int
    number: int
    indices: Tensor
    draws: Tensor | None
    total: int
    share: float = 1.0

    def __reduce__(self) -> tuple[Callable[..., Job], tuple[object, ...]]:
        """Travel to a worker as plain numbers: a tensor would go by a socket, and a worker that dies there leaves a traceback."""
        draws = None if self.draws is None else self.draws.numpy()
        return _unpacked, (self.epoch, self.number, self.indices.numpy(), draws, self.total, self.share)


def _unpacked(epoch: int, number: int, indices: Array, draws: Array | None, total: int, share: float) -> Job:
    values = None if draws is None else torch.from_numpy(draws)
    return Job(epoch, number, torch.from_numpy(indices), values, total, share)


@dataclass(frozen=True)
class _Reader:
    """What a worker holds: it turns a job into a batch."""

    samples: Samples

    def __getitem__(self, job: Job) -> Batch:
        pictures, labels = self.samples.fetch(job.indices.tolist(), job.draws)
        return Batch(job.epoch, job.number, pictures, labels, job.total, job.indices, job.share)


def batches(samples: Samples, plan: Planned, first: int, last: int, workers: int = 0) -> Iterator[Batch]:
    """Global batches `first` to `last` (counted over all epochs), each as this process's share of it."""
    count, every = len(samples.labels), plan.length(len(samples.labels))
    return _fetched(samples, (plan.job(count, *divmod(step, every)) for step in range(first, last)), workers)


def _fetched(samples: Samples, jobs: Iterable[Job], workers: int) -> Iterator[Batch]:
    found = _read(samples, jobs, workers)
    if isinstance(samples, Files) and samples.decodes:
        return unpacked(found, torch.device(samples.decodes))
    return found


def together(samples: Stored, jobs: Iterable[Job]) -> Iterator[Batch]:
    """Read the pictures of several batches at once, and the next ones while these are used.

    Where pictures lie on a device the host's time is spent in asking, and the device has room beside a small step.
    """
    source, one = iter(jobs), samples.pictures[:1].nbytes
    first = next(source, None)
    if first is None:
        return
    count = max(1, min(AT_ONCE, ROOM // (len(first.indices) * one)))
    source = chain([first], source)
    lane = torch.cuda.Stream(samples.pictures.device) if samples.pictures.is_cuda else None
    ahead = _several(samples, list(islice(source, count)), lane)
    while ahead:
        now = ahead
        if lane is not None:
            torch.cuda.current_stream(lane.device).wait_stream(lane)
        ahead = _several(samples, list(islice(source, count)), lane)
        yield from now


def _several(samples: Stored, some: list[Job], lane: torch.cuda.Stream | None) -> list[Batch]:
    if not some:
        return []
    indices = torch.cat([job.indices for job in some]).tolist()
    drawn = [job.draws for job in some if job.draws is not None]
    with torch.cuda.stream(lane) if lane is not None else nullcontext():
        pictures, labels = samples.fetch(indices, torch.cat(drawn) if drawn else None)
    if lane is not None:
        for part in (pictures, labels):  # they are used on another stream than the one that made them
            part.record_stream(torch.cuda.current_stream(lane.device))
    sizes = [len(job.indices) for job in some]
    return [
        Batch(job.epoch, job.number, mine, truth, job.total, job.indices, job.share)
        for job, mine, truth in zip(some, pictures.split(sizes), labels.split(sizes), strict=True)
    ]


def _read(samples: Samples, jobs: Iterable[Job], workers: int) -> Iterator[Batch]:
    reader = _Reader(samples)
    if workers == 0 and isinstance(samples, Stored) and samples.pictures.is_cuda:
        return together(samples, jobs)
    if workers == 0:
        return (reader[job] for job in jobs)
    loader: DataLoader[Batch] = DataLoader(
        reader,  # type: ignore[arg-type]  # a job is the index
        batch_size=None,
        sampler=jobs,  # type: ignore[arg-type]  # read as the workers get on, not ahead of them
        num_workers=workers,
        pin_memory=torch.cuda.is_available(),
        generator=torch.Generator(),  # else the loader draws its seed from the generator that dropout uses
    )
    return iter(loader)


def choose_workers(wanted: int, samples: Samples, sample: Tensor, processes: int) -> int:
    """How many processes load `sample`, one's share of a batch: none for pictures in memory or few of them, else what CPUs and shared memory allow."""
    if wanted < 0 and (not samples.slow or len(samples.labels) < FEW):
        return 0
    try:
        found: int = loader_options(batch=sample, workers=wanted if wanted >= 0 else None, ranks=processes)[
            "num_workers"
        ]
    except ValueError as error:
        raise Refused(f"--workers {wanted}: {error}") from None
    return found


def whole(samples: Samples, size: int, rank: int = 0, world: int = 1, workers: int = 0) -> Iterator[Batch]:
    """A split once, in order, every sample exactly once over all processes, never padded."""
    mine = torch.arange(len(samples.labels))[rank::world]
    parts = enumerate(mine.split(size) if len(mine) else ())
    yield from _fetched(samples, (Job(0, number, part, None, len(part)) for number, part in parts), workers)

"""Orders of samples that are functions of (seed, epoch), so that any step can be reached at once.

Users import these from `data`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Dataset, Sampler

from torchlore.recipes import _wants
from torchlore.recipes.seed import derive, kept_rng, seed_cpu

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Key = tuple[int, int]  # (epoch, index): what the samplers here yield, so that a worker knows the epoch


def permutation(count: int, seed: int, epoch: int) -> torch.Tensor:
    """Give the order of an epoch, the same in every process.

    >>> permutation(5, seed=0, epoch=1).tolist()
    [1, 0, 3, 4, 2]
    """
    _wants.whole("permutation", 0, count=count)
    _wants.whole("permutation", seed=seed, epoch=epoch)
    return torch.randperm(count, generator=torch.Generator().manual_seed(derive(seed, "order", epoch)))


def shard(count: int, rank: int = 0, world: int = 1) -> range:
    """Give the samples that one process evaluates: all ranks together have each sample exactly once.

    `DistributedSampler` repeats samples until every rank has as many, so a metric counts some twice. Here ranks may
    differ by one: sum counts over ranks, do not average means, and call the model without its DDP wrapper.

    Args:
        count: The size of the data set.
        rank: This process.
        world: The number of processes.

    >>> [list(shard(5, rank, 2)) for rank in range(2)]
    [[0, 2, 4], [1, 3]]
    """
    _wants.whole("shard", 0, count=count)
    _check_rank("shard", rank, world)
    return range(rank, count, world)


def _check_rank(function: str, rank: int, world: int) -> None:
    _wants.whole(function, 1, world=world)
    _wants.whole(function, 0, world - 1, rank=rank)


class EpochBatches(Sampler[list[Key]]):
    """Batches in the order of (seed, epoch), starting at any step, split over ranks.

    Give it as `batch_sampler=` with a data set wrapped in `Seeded`. It yields keys (epoch, index). `at(epoch, step)`
    moves it in constant time but for one permutation; the step is the one the training loop counts, because workers
    fetch ahead of it. All ranks get the same number of batches: the last global batch is given out when every rank
    gets a sample of it, and dropped otherwise or with `drop_last`.

    >>> batches = EpochBatches(5, batch_size=2, seed=0)
    >>> [[index for _, index in batch] for batch in batches.at(epoch=1, step=1)]
    [[3, 4], [2]]
    """

    def __init__(
        self,
        count: int,
        batch_size: int,
        seed: int,
        *,
        shuffle: bool = True,
        drop_last: bool = False,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        _check_rank("EpochBatches", rank, world)
        _wants.whole("EpochBatches", 1, count=count, batch_size=batch_size)
        _wants.whole("EpochBatches", seed=seed)
        self.count, self.batch_size, self.seed = count, batch_size, seed
        self.shuffle, self.rank, self.world = shuffle, rank, world
        whole, rest = divmod(count, batch_size * world)
        self.batches = whole + (rest >= world and not drop_last)
        if not self.batches:
            raise ValueError(f"EpochBatches: count={count} samples give no batch of {batch_size} on {world} processes.")
        self.epoch, self.step = 0, 0

    def __len__(self) -> int:
        """Count the batches of a whole epoch on one rank, wherever it starts."""
        return self.batches

    def at(self, epoch: int, step: int = 0) -> EpochBatches:
        """Start the next iteration at a step of an epoch; the number of the last step rolls over to the next epoch."""
        _wants.whole("EpochBatches.at", 0, epoch=epoch, step=step)
        self.epoch, self.step = epoch + step // self.batches, step % self.batches
        return self

    def set_epoch(self, epoch: int) -> None:
        """Start the next iteration at the first step of an epoch, as DistributedSampler's method does."""
        self.at(epoch)

    def __iter__(self) -> Iterator[list[Key]]:
        epoch, start, self.step = self.epoch, self.step, 0
        order = permutation(self.count, self.seed, epoch) if self.shuffle else torch.arange(self.count)
        size = self.batch_size * self.world
        for number in range(start, self.batches):
            batch = order[number * size : (number + 1) * size][self.rank :: self.world]
            yield [(epoch, index) for index in batch.tolist()]

    def state_dict(self) -> dict[str, Any]:
        """Give where the next iteration starts."""
        return {"epoch": self.epoch, "step": self.step, "seed": self.seed, "count": self.count}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Start there; data of another size or another seed is an error, because the order would be another."""
        for name in ("seed", "count"):
            if state[name] != getattr(self, name):
                raise ValueError(f"the saved order has {name}={state[name]}, this one {name}={getattr(self, name)}")
        self.at(state["epoch"], state["step"])


class Seeded(Dataset[Any]):
    """Let every sample be a function of (seed, epoch, index), whatever its transforms draw from.

    Takes the keys of the samplers here. While a sample is made, `random`, NumPy and torch start from a hash of the
    three, and afterwards go on as if nothing had been drawn; so the result does not depend on the number of workers,
    on what was fetched before, or on a restart. A plain index means epoch 0.

    >>> class Noise(Dataset):
    ...     def __len__(self): return 3
    ...     def __getitem__(self, index): return torch.rand(1)
    >>> data = Seeded(Noise(), seed=0)
    >>> bool(data[4, 1] == data[4, 1]), bool(data[4, 1] == data[5, 1])
    (True, False)
    """

    def __init__(self, dataset: Dataset[Any], seed: int) -> None:
        _wants.whole("Seeded", seed=seed)
        if "__getitem__" not in dir(dataset):
            raise TypeError(_wants.message("Seeded", "dataset", dataset, "a data set with __getitem__"))
        self.dataset, self.seed = dataset, seed

    def __len__(self) -> int:
        return len(self.dataset)  # type: ignore[arg-type] # Dataset does not declare the length that it must have here

    def __getitem__(self, key: Key | int) -> Any:
        return self.__getitems__([key])[0]

    def __getitems__(self, keys: Sequence[Key | int]) -> list[Any]:
        """Make a batch of samples, saving and restoring the generators once; the DataLoader asks for it."""
        found = []
        with kept_rng():
            for key in keys:
                epoch, index = key if isinstance(key, tuple) else (0, key)
                seed_cpu(derive(self.seed, "sample", epoch, index))
                found.append(self.dataset[index])
        return found


def _members(function: str, labels: Sequence[int] | torch.Tensor) -> dict[int, torch.Tensor]:
    """The indices of each label."""
    try:
        flat = torch.as_tensor(labels)
    except (TypeError, ValueError, RuntimeError):  # whatever torch makes of texts and of nothing
        flat = torch.empty(0)
    if flat.ndim != 1 or flat.is_floating_point() or not len(flat):
        got = flat if isinstance(labels, torch.Tensor) else labels
        raise ValueError(_wants.message(function, "labels", got, "a list of whole numbers, one a sample"))
    names, counts = flat.unique(return_counts=True)
    return dict(zip(names.tolist(), flat.argsort(stable=True).split(counts.tolist()), strict=True))


def _groups(members: torch.Tensor, count: int, size: int, generator: torch.Generator) -> list[list[int]]:
    """Groups drawn without repeats until all were drawn, then again; none holds a sample twice unless it must."""
    left: list[int] = []
    groups = []
    for _ in range(count):
        group, left = left[:size], left[size:]
        while len(group) < size:
            fresh: list[int] = members[torch.randperm(len(members), generator=generator)].tolist()
            fresh.sort(key=set(group).__contains__)  # what the group has already comes last in the new round
            group, left = group + fresh[: size - len(group)], fresh[size - len(group) :]
        groups.append(group)
    return groups


class PKBatches(Sampler[list[Key]]):
    """Batches of P classes with K samples each, for metric learning.

    Classes are taken in rounds, so that all are seen equally often. A class with fewer than K samples repeats some of
    them, after it has given each once. The order is a function of (seed, epoch).

    >>> labels = [0, 0, 1, 1, 1, 2]
    >>> batches = PKBatches(labels, classes=2, samples=2, seed=0)
    >>> len(batches), [[labels[index] for _, index in batch] for batch in batches]
    (2, [[1, 1, 2, 2], [0, 0, 2, 2]])
    """

    def __init__(
        self,
        labels: Sequence[int] | torch.Tensor,
        classes: int,
        samples: int,
        seed: int,
        batches: int | None = None,
    ) -> None:
        self.members = _members("PKBatches", labels)
        _wants.whole("PKBatches", 1, samples=samples, **({} if batches is None else {"batches": batches}))
        _wants.whole("PKBatches", 1, len(self.members), classes=classes)
        _wants.whole("PKBatches", seed=seed)
        self.classes, self.samples, self.seed = classes, samples, seed
        self.batches = batches or -(-len(torch.as_tensor(labels)) // (classes * samples))
        self.epoch, self.step = 0, 0

    def __len__(self) -> int:
        return self.batches

    def at(self, epoch: int, step: int = 0) -> PKBatches:
        """Start the next iteration at a step of an epoch."""
        self.epoch, self.step = epoch + step // self.batches, step % self.batches
        return self

    def set_epoch(self, epoch: int) -> None:
        """Start the next iteration at the first step of an epoch."""
        self.at(epoch)

    def __iter__(self) -> Iterator[list[Key]]:
        epoch, start, self.step = self.epoch, self.step, 0
        generator = torch.Generator().manual_seed(derive(self.seed, "pk", epoch))
        rows = self._class_rows(generator)
        visits = Counter(label for row in rows for label in row)
        streams = {
            label: _groups(members, visits[label], self.samples, generator) for label, members in self.members.items()
        }
        used = dict.fromkeys(self.members, 0)
        for number, row in enumerate(rows):
            chosen: list[Key] = []
            for label in row:
                chosen += [(epoch, index) for index in streams[label][used[label]]]
                used[label] += 1
            if number >= start:
                yield chosen

    def _class_rows(self, generator: torch.Generator) -> list[list[int]]:
        """The classes of each batch: P different ones, counts of visits differing by at most one."""
        labels = list(self.members)
        visits = torch.zeros(len(labels))
        rows = []
        for _ in range(self.batches):
            order = visits + torch.rand(len(labels), generator=generator)
            chosen = order.topk(self.classes, largest=False).indices
            visits[chosen] += 1
            rows.append([labels[index] for index in chosen.tolist()])
        return rows


class BalancedSampler(Sampler[Key]):
    """Draw every class equally often, up to one sample, each class going through all of its samples in turn.

    A `WeightedRandomSampler` balances only on average and may leave samples of a large class out for ever.

    >>> labels = [0, 0, 0, 0, 0, 1]
    >>> sorted(labels[index] for _, index in BalancedSampler(labels, seed=0))
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(self, labels: Sequence[int] | torch.Tensor, seed: int, count: int | None = None) -> None:
        self.members = _members("BalancedSampler", labels)
        _wants.whole("BalancedSampler", seed=seed)
        if count is not None:
            _wants.whole("BalancedSampler", 1, count=count)
        self.seed = seed
        self.count = count or sum(map(len, self.members.values()))
        self.epoch, self.start = 0, 0

    def __len__(self) -> int:
        return self.count

    def at(self, epoch: int, start: int = 0) -> BalancedSampler:
        """Start the next iteration at a sample of an epoch."""
        self.epoch, self.start = epoch + start // self.count, start % self.count
        return self

    def set_epoch(self, epoch: int) -> None:
        """Start the next iteration at the first sample of an epoch."""
        self.at(epoch)

    def __iter__(self) -> Iterator[Key]:
        epoch, start, self.start = self.epoch, self.start, 0
        generator = torch.Generator().manual_seed(derive(self.seed, "balanced", epoch))
        share, rest = divmod(self.count, len(self.members))
        lucky = torch.randperm(len(self.members), generator=generator)[:rest].tolist()
        drawn = torch.cat(
            [
                _stream(members, share + (number in lucky), epoch * share, derive(self.seed, "class", label))
                for number, (label, members) in enumerate(self.members.items())
            ]
        )
        order = drawn[torch.randperm(len(drawn), generator=generator)]
        for index in order[start:].tolist():
            yield epoch, index


def _stream(members: torch.Tensor, wanted: int, offset: int, seed: int) -> torch.Tensor:
    """A part of an endless sequence of shuffles, which goes on from epoch to epoch."""
    first, last = offset // len(members), (offset + wanted - 1) // len(members) if wanted else -1
    rounds = [members[permutation(len(members), seed, number)] for number in range(first, last + 1)]
    begin = offset - first * len(members)
    return torch.cat([*rounds, members[:0]])[begin : begin + wanted]

"""What a running program shows of it."""

import re
import weakref
from typing import Any

from torchlore.watch.pictures import Alarm, Batch, Phase

_HELD_OUT = re.compile(  # the loader's own name, or that of what it is made of
    r"^[^=(]*\b(self\.)?(val|valid|test|dev)\w*\s*=(?!=)|\bDataLoader\(\s*(self\.)?(val|valid|test|dev)(_\w+|set|ds)?\s*[,)]"
)


def watch(picture: Batch | Phase) -> Alarm | None:
    if isinstance(picture, Phase):
        found = picture.notes.pop("once", None) if picture.final else None
        return _told(*found) if found is not None and not _held_out(picture, found[2], found[3]) else None
    batch, memory = picture, picture.memory
    if batch.index == 0:
        memory["backwards"] = batch.run.backwards
    if batch.index != 1 or batch.epoch > 1:
        return None
    trains = batch.run.backwards > memory.get("backwards", 0)
    base, chosen = _chosen(batch.loader)
    if chosen is None:
        return None
    sets = batch.notes.setdefault("trained" if trains else "judged", {})
    sets[batch.subject] = (id(base), chosen, batch.record.place, weakref.ref(base) if _can(base) else None)
    for one in () if trains else batch.notes.get("trained", {}).values():
        other = one[3]() if one[3] is not None else None
        twin = one[0] != id(base) and _same_data(base, other) and len(one[1]) < len(base)
        shared = chosen & one[1] if one[0] == id(base) or twin else _one_memory(base, chosen, other, one[1])
        if shared and len(shared) < len(chosen):
            return _told(len(shared), len(chosen), batch.record.place, id(base))
        named = _HELD_OUT.search(getattr(batch.record.place, "text", "") or "")  # else it is the training error
        if shared and named and len(one[1]) >= len(base) and len(batch.notes["judged"]) == 1:
            facts = (len(shared), len(chosen), batch.record.place, id(base))
            if batch.epoch == 1 and not _held_out(batch, facts[2], facts[3]):
                batch.notes.pop("once", None)
                return _told(*facts)
            batch.notes["once"] = facts  # told at the end, if nothing else is ever evaluated
    return None


def _told(shared: int, judged: int, place: Any, _base: int) -> Alarm:
    told = f"{shared} of the {judged} samples that are evaluated here are trained on as well"
    way = "cut one permutation into two parts, or use random_split"
    return Alarm(f"{told}; {way}", at=place, certain=shared < judged)


def _held_out(picture: Batch | Phase, place: Any, base: int) -> bool:
    """Whether another loader hands out other data: then this one measures the training error on purpose."""
    others = [one for one in picture.run.loaders if one.batches and one.thing is not None and one.place != place]
    return any(id(_chosen(one.thing)[0]) != base for one in others)


def _chosen(loader: Any) -> tuple[Any, set[int] | None]:
    """The data set at the bottom, and which of its samples a loader hands out; None where that is not known or a lot."""
    base, indices, sampler = loader.dataset, None, loader.sampler
    if type(sampler).__name__ == "SubsetRandomSampler":
        indices = list(sampler.indices)
    elif type(sampler).__name__ not in ("SequentialSampler", "RandomSampler"):
        return base, None
    while type(base).__name__ == "Subset":
        inner = list(base.indices)
        indices = inner if indices is None else [inner[int(n)] for n in indices]
        base = base.dataset
    if not hasattr(base, "__len__") or not hasattr(base, "__getitem__") or len(base) > 200_000:
        return base, None
    return base, {int(n) for n in indices} if indices is not None else set(range(len(base)))


def _one_memory(base: Any, chosen: set[int], other: Any, trained: set[int]) -> set[int]:
    """Samples of a data set that lie in the same memory as ones of another: both are slices of one tensor."""
    mine, theirs = _first_row(base), _first_row(other)
    if base is other or mine is None or theirs is None or mine[1:] != theirs[1:]:
        return set()
    apart = mine[0] - theirs[0]
    return {n for n in chosen if n + apart in trained}


def _first_row(base: Any) -> tuple[int, int, Any] | None:
    """Of a TensorDataset: which row of the memory is its first sample, where that memory lies, and how its rows lie."""
    if type(base).__name__ != "TensorDataset" or not base.tensors:
        return None
    rows = base.tensors[0]
    width = rows.stride(0) if rows.dim() > 1 else 0
    if width <= 0 or rows.storage_offset() % width or not rows.numel():
        return None
    return rows.storage_offset() // width, rows.untyped_storage().data_ptr(), (tuple(rows.stride()), rows.dtype)


def _can(base: Any) -> bool:
    return type(base).__weakrefoffset__ != 0


def _same_data(one: Any, other: Any) -> bool:
    """Whether two data sets of one class hold the same tensors or arrays: made twice, with another transform."""
    if other is None or type(one) is not type(other) or len(one) != len(other):
        return False
    kept = [(vars(one)[name], vars(other).get(name)) for name in vars(one) if hasattr(vars(one)[name], "shape")]
    sure = [(a, b) for a, b in kept if len(a.shape) and len(a) == len(one)]
    return bool(sure) and all(
        a is b or (type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype and bool((a == b).all()))
        for a, b in sure
    )

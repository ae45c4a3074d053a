"""What a running program shows of it."""

from typing import Any

from torchlore.watch.pictures import Alarm, Batch


def watch(batch: Batch) -> Alarm | None:
    memory = batch.memory
    if batch.index == 0:
        memory["backwards"] = batch.run.backwards
    if batch.index != 1 or batch.epoch > 1:
        return None
    trains = batch.run.backwards > memory.get("backwards", 0)
    base, chosen = _chosen(batch.loader)
    if chosen is None:
        return None
    sets = batch.notes.setdefault("trained" if trains else "judged", {})
    sets[batch.subject] = (id(base), chosen, batch.record.place)
    for one in () if trains else batch.notes.get("trained", {}).values():
        shared = chosen & one[1] if one[0] == id(base) else set()
        whole = len(one[1]) == len(base) and batch.epoch == 1 and len(batch.notes["judged"]) == 1
        if shared and (len(shared) < len(chosen) or whole):
            return Alarm(
                f"{len(shared)} of the {len(chosen)} samples that are evaluated here are trained on as well; cut one permutation into "
                "two parts, or use random_split",
                at=batch.record.place,
                certain=len(shared) < len(chosen),
            )
    return None


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

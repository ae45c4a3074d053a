"""What a running program shows of it."""

import hashlib
import json
from collections.abc import Iterator
from typing import Annotated

from torchlore.watch.pictures import Alarm, Batch, Call, Phase

_BATCHES = 3


def watch(picture: Annotated[Call, "DistributedDataParallel", "forward"] | Batch | Phase) -> Iterator[Alarm]:
    world = picture.run.ranks.world
    if isinstance(picture, Call):
        _note(picture, world)
    elif isinstance(picture, Batch):
        if world > 1:
            _tell(picture)
    elif picture.final and picture.notes.get("averages"):
        yield from _compare(picture)


def _note(call: Call, world: int) -> None:
    """A wrapper over all processes, and how many samples it is given."""
    if call.name == "DistributedDataParallel":
        call.notes["averages"] = call.error is None and call.args[0].process_group.size() == world > 1
    elif world > 1 and type(call.args[0]).__name__ == "DistributedDataParallel":
        given = next((one for one in (*call.args[1:], *call.kwargs.values()) if hasattr(one, "shape")), None)
        call.notes["rows"] = given.shape[0] if given is not None and given.shape else 0


def _tell(batch: Batch) -> None:
    """Leave digests of the first batches of a loader that is trained on whole: some cut each batch by rank themselves."""
    if batch.epoch > 0 or batch.index > _BATCHES:
        return
    digests, trained = batch.memory.setdefault("digests", []), batch.memory.setdefault("trained", batch.run.backwards)
    if batch.index < _BATCHES:
        digests.append(_digest(batch))
        return
    whole = batch.tensors and batch.tensors[0].shape[:1] == (batch.notes.get("rows"),)
    if whole and len(digests) == _BATCHES and None not in digests and batch.run.backwards >= trained + _BATCHES:
        order = [record.key for record in batch.run.loaders].index(batch.record.key)
        batch.notes[f"loader {order}"] = batch.record.place
        batch.run.ranks.say(f"batches {order}", digests)


def _digest(batch: Batch) -> str | None:
    """Of at most a thousand numbers of each tensor; None where reading makes somebody wait."""
    if not batch.tensors or not all(one.is_cpu and not one.is_sparse for one in batch.tensors):
        return None
    digest = hashlib.sha256()
    for one in batch.tensors:
        digest.update(json.dumps([list(one.shape), one.detach().reshape(-1)[:1000].double().tolist()]).encode())
    return digest.hexdigest()


def _compare(end: Phase) -> Iterator[Alarm]:
    ranks = end.run.ranks
    for name in [one for one in end.notes if one.startswith("loader ")]:
        heard = ranks.heard(name.replace("loader", "batches"))
        first = heard.get(ranks.rank, [])
        if len(heard) < 2 or ranks.rank != min(heard) or len(set(first)) < _BATCHES:
            continue  # nobody to compare with, another speaks, or the data has but one batch
        if all(one == first for one in heard.values()):
            yield Alarm(
                f"all {len(heard)} processes get the same batches from this loader, so they do the work of one: give it "
                "sampler=DistributedSampler(dataset) and no shuffle",
                at=end.notes[name],
                evidence=f"the first {_BATCHES} batches are equal on ranks {', '.join(map(str, sorted(heard)))}",
            )

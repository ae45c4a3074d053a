"""What a running program shows of it."""

import hashlib
import weakref
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call, Phase, Step


def watch(picture: Annotated[Call, "DistributedDataParallel"] | Step | Phase) -> Iterator[Alarm]:
    wrappers = picture.notes.setdefault("wrappers", [])
    if isinstance(picture, Call) and picture.error is None:
        wrappers.append(weakref.ref(picture.args[0]))
    elif isinstance(picture, Step) and picture.run.ranks.world > 1:
        _tell(picture, [found for ref in wrappers if (found := ref()) is not None])
    elif isinstance(picture, Phase) and picture.final and picture.run.ranks.world > 1:
        yield from _compare(picture)


def _tell(step: Step, wrappers: list[Any]) -> None:
    """Leave a digest of the weights that should be the same on all processes, where reading them makes nobody wait."""
    reduced = step.notes.setdefault(f"reduced {step.record.key}", set())
    here = {id(one.grad): id(one.tensor) for one in step.trainable if one.grad is not None}
    sums = [e.facts for e in step.events if e.name == "all_reduce" and e.group == "collective"]
    reduced |= {here[one["tensor"]] for one in sums if one["tensor"] in here}
    step.notes["many"] = step.notes.get("many", 0) + sum(
        one["numbers"] > 64 and one["tensor"] not in here for one in sums
    )
    if step.number != 3:
        return
    wrapped = {id(p) for one in wrappers if one.process_group.size() == step.run.ranks.world for p in one.parameters()}
    places = [place for place, one in enumerate(step.trainable) if id(one.tensor) in wrapped | reduced]
    shared = [step.trainable[place].tensor for place in places]
    if not shared or not all(one.is_cpu and type(one.data).__name__ == "Tensor" for one in shared):
        return
    digest = hashlib.sha256()
    for one in shared:
        digest.update(one.detach().contiguous().view(-1).float().numpy().tobytes())
    order = [record.key for record in step.run.optimizers].index(step.record.key)
    step.notes[f"optimizer {order}"] = (step.record.place, len(shared), bool(reduced))
    step.run.ranks.say(f"weights {order}", f"{places} {digest.hexdigest()}")


def _compare(end: Phase) -> Iterator[Alarm]:
    """Only the lowest rank speaks; whoever sums up anything large himself may average weights later on."""
    ranks = end.run.ranks
    for name in [one for one in end.notes if one.startswith("optimizer ")]:
        place, count, by_hand = end.notes[name]
        heard = ranks.heard(name.replace("optimizer", "weights"))
        if len({one.partition("]")[0] for one in heard.values()}) > 1:
            continue  # `p.grad.data` is a new object each time: not the same parameters were recognised everywhere
        if len(set(heard.values())) < 2 or ranks.rank != min(heard) or end.notes.get("many"):
            continue
        way = "all_reduce" if by_hand else "DistributedDataParallel"
        yield Alarm(
            f"the {count} parameters whose gradients {way} is to average differ between the processes: broadcast the weights "
            "of rank 0 before the first step, and see that every gradient is averaged",
            at=place,
            evidence=f"after step 3 {len(set(heard.values()))} versions on {len(heard)} processes",
            because=("ddp-bypassed",),
        )

"""What a running program shows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlore.watch.pictures import Alarm, Batch

if TYPE_CHECKING:
    from torch import Tensor


def watch(batch: Batch) -> Alarm | None:
    memory, labels, given = batch.memory, _goals(batch), batch.inputs
    if batch.index == 1:  # nobody learned from the first batch: an evaluation
        memory["quiet"] = batch.run.backwards == memory.get("backwards")
    sampler = type(getattr(batch.loader, "sampler", None)).__name__
    if (
        batch.index
        or labels is None
        or given is None
        or given.dim() < 3
        or sampler != "SequentialSampler"
        or given.is_cuda
    ):
        return None
    memory["backwards"] = batch.run.backwards
    nets = [one.module for one in batch.run.roots if one.module is not None]
    memory["quiet"] = memory.get("quiet") or (bool(nets) and not any(net.training for net in nets))
    now = (labels.tolist(), float(given.double().sum()), tuple(given.shape))
    before = memory.get("first")
    memory["first"] = now
    same = before is not None and before[0] == now[0] and before[2] == now[2] and len(set(now[0])) > 1
    if not same or not memory.get("quiet") or not batch.times(2, before is not None and before[1] != now[1]):
        return None
    return Alarm(
        "the same samples are different at every evaluation: the validation data are augmented; give them a transform of their own",
        at=batch.record.place,
        certain=False,
        evidence=f"the first batch summed to {before[1] if before else 0:.6g}, now to {now[1]:.6g}",
        because=("dataset-changed-in-place",),
    )


def _goals(batch: Batch) -> Tensor | None:
    """The labels, or what each sample is to become: one number for each."""
    if batch.labels is not None or batch.inputs is None:
        return batch.labels
    shape = batch.inputs.shape  # of the same shape it is a picture without its noise, which may well be drawn anew
    others = (one for one in batch.tensors if one.dim() > 1 and one.is_floating_point() and one.shape != shape)
    goal = next((one for one in others if len(one) == shape[0] and not one.is_cuda), None)
    return goal.double().flatten(1).sum(1) if goal is not None else None

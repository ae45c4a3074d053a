"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Batch, Call, Values


def watch(
    picture: Annotated[Call, "Conv1d", "Conv2d", "Conv3d", "Linear", "LSTM", "GRU"] | Batch,
) -> Alarm | None:
    if isinstance(picture, Batch):
        return _handed_out(picture)
    firsts = picture.notes.setdefault("firsts", {})  # a network's first layer: what it gets is what the network gets
    root = id(picture.modules[0]) if picture.modules else 0
    if firsts.setdefault(root, id(picture.owner)) != id(picture.owner) or not picture.times(2, true=True):
        return None
    return _taken_in(picture)


def _handed_out(batch: Batch) -> Alarm | None:
    """Pictures normalised with numbers of another range; raw ones are only noted, as the loop may scale them yet."""
    images = batch.inputs
    if batch.index > 2 or images is None or images.dim() < 3 or images.numel() < 256:
        return None
    found = batch.values(images)
    if _raw(found):
        batch.notes["loader"] = batch.record.place
    planes = [batch.values(images[:, place]) for place in (0, -1)] if images.dim() == 4 else [None]
    if found is None or not all(one is not None and one.std < 0.05 and abs(one.mean) > 1.5 for one in planes):
        return None
    return Alarm(
        f"inputs lie between {found.low:.4g} and {found.high:.4g}, so pictures hardly differ: the mean and deviation that "
        "they were normalised with belong to another range of pixels",
        at=batch.record.place,
        certain=False,
        evidence=f"a channel's standard deviation is below 0.05 in a batch of shape {tuple(images.shape)}",
    )


def _taken_in(call: Call) -> Alarm | None:
    """What the first layer gets still has the range of pixels."""
    given: Any = call.args[1] if len(call.args) > 1 else None
    loader = call.notes.get("loader")
    if (
        getattr(given, "grad_fn", None) is not None
        or getattr(given, "ndim", 0) < (2 if loader else 3)
        or given.numel() < 256
    ):
        return None
    found = call.values(given)
    if found is None or not _raw(found):
        return None
    return Alarm(
        f"inputs run from {found.low:.3g} to {found.high:.3g}, as pixels that nobody scaled; divide by 255 and normalise",
        at=loader or call.place,
        certain=False,
        evidence=f"standard deviation {found.std:.3g} in what the first layer gets, of shape {tuple(given.shape)}",
    )


def _raw(found: Values | None) -> bool:
    return found is not None and found.low >= -1e4 and found.high > 50 and found.std > 10

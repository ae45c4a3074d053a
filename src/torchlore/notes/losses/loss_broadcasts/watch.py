"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[
        Call,
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "huber_loss",
        "sub",
        "__rsub__",
        "mul",
        "__rmul__",
        "add",
        "__radd__",
    ],
) -> Alarm | None:
    given, target = call.input, call.target
    if call.name in ("mul", "__rmul__", "add", "__radd__"):
        return _weighed(call, given, target) or _squared_batch(call, given, target) or _weighted(call, given, target)
    if (
        given is None
        or not hasattr(target, "numel")
        or given.shape == target.shape
        or 1 in (given.numel(), target.numel())
    ):
        return None
    sizes, by_hand = sorted((tuple(given.shape), tuple(target.shape)), key=len), call.name in ("sub", "__rsub__")
    column = len(sizes[0]) == 1 and sizes[1] == (*sizes[0], 1)
    if by_hand and column and given.data_ptr() != target.data_ptr():
        call.notes["table"] = (
            call.result.data_ptr(),
            call.place,
        )  # the last one: an advantage, if a log-probability meets it
    if by_hand and (not column or given.requires_grad is target.requires_grad):
        return None  # differences of all pairs are often wanted; of predictions and targets never
    shapes = f"{tuple(given.shape)} against {tuple(target.shape)}"
    grown = max(given.numel(), target.numel())
    if call.result is not None and {given.ndim, target.ndim} == {1, 2}:
        grown = given.numel() * target.numel()
    told = f"{call.name} gets {shapes} and compares {grown} pairs; give both the same shape, such as prediction.squeeze(-1)"
    return Alarm(told, evidence=shapes)


def _weighed(call: Call, one: Any, other: Any) -> Alarm | None:
    """A table of all differences, made by accident, that weighs a vector with a graph: an advantage of N x N."""
    pointer, place = call.notes.get("table", (0, None))
    for table, vector in ((one, other), (other, one)):
        whole = getattr(table, "ndim", 0) == 2 and getattr(vector, "ndim", 0) == 1 and vector.requires_grad
        if whole and pointer == table.data_ptr() and not table.requires_grad and table.shape == (len(vector),) * 2:
            told = f"(N) minus (N, 1) gives {tuple(table.shape)} here, and that weighs {len(vector)} values; squeeze the column first"
            return Alarm(told, at=place, evidence=f"{tuple(table.shape)} against ({len(vector)},)")
    return None


_EACH = ("binarycrossentropy", "mse", "smoothl1", "l1", "huber", "nllloss", "softmarginloss")  # a loss of each sample


def _weighted(call: Call, one: Any, other: Any) -> Alarm | None:
    """Losses of (N, 1) times weights of (N): every loss with every weight."""
    for losses, weights in ((one, other), (other, one)):
        column = getattr(losses, "ndim", 0) == 2 and losses.shape[1] == 1 < losses.shape[0] and losses.requires_grad
        if not column or getattr(weights, "ndim", 0) != 1 or len(weights) != losses.shape[0] or weights.requires_grad:
            continue
        made = call.made_by(losses).lower().replace("_", "")
        if made.startswith(_EACH):
            told = f"losses of {tuple(losses.shape)} times weights of {tuple(weights.shape)} give {tuple(call.result.shape)}, each loss with every weight"
            return Alarm(
                f"{told}; write weights.unsqueeze(1)", evidence=f"{tuple(losses.shape)}, {tuple(weights.shape)}"
            )
    return None


def _squared_batch(call: Call, one: Any, other: Any) -> Alarm | None:
    """(B, 1, H, W) meets (B, H, W): every image of the batch with every other."""
    for wide, narrow in ((one, other), (other, one)):
        size = tuple(getattr(wide, "shape", ()))
        images = len(size) > 3 and getattr(narrow, "ndim", 0) == len(size) - 1 and size[1] == 1 < size[0]
        if images and tuple(narrow.shape) == (size[0], *size[2:]) and size[2] != size[0]:
            told = f"{size} meets {tuple(narrow.shape)} here and gives {tuple(call.result.shape)}, each image with every other; reduce with keepdim=True"
            return Alarm(told, evidence=f"{size} and {tuple(narrow.shape)}") if call.times(2, call.deep) else None
    return None

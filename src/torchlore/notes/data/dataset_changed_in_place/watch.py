"""What a running program shows of it."""

import weakref
from dataclasses import dataclass, field
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Batch, Call, Place, line_in

_IN_PLACE = (
    r"^\s*[\w.]+(\[.*\])?\s*([-+*/]=|\.\w+_\()|^\s*[\w.]+\[.*\]\s*=[^=]|\.\w*[a-z]_\("  # x += 1, x.mul_(2), x[i] = 0
)
_MOST = 64  # tensors that are followed


def watch(
    picture: Annotated[
        Call, "forward", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__setitem__", "add_", "sub_", "mul_",
        "div_", "clamp_", "relu_", "leaky_relu_", "dropout_", "masked_fill_", "neg_", "pow_", "sqrt_", "log_", "exp_",
    ]
    | Batch,
) -> Alarm | None:  # fmt: skip
    if isinstance(picture, Batch):
        return _stored(picture)
    if picture.name == "forward":
        return _given(picture)
    _written(picture)
    return None


def _stored(batch: Batch) -> Alarm | None:
    """The data set's own tensors and arrays are others after each batch."""
    stored = {
        k: v
        for k, v in getattr(batch.dataset, "__dict__", {}).items()
        if hasattr(v, "_version") and hasattr(v, "untyped_storage")
    }
    versions = {name: tensor._version for name, tensor in stored.items()}  # noqa: SLF001 - autograd's own counter of writes
    seen = batch.memory.setdefault("versions", versions)
    batch.memory["versions"] = versions
    changed = [name for name in versions.keys() & seen.keys() if versions[name] != seen[name]]
    arrays = _changed_arrays(batch)
    if arrays:
        return _alarm(batch, arrays[0], certain=False)
    if not changed or not batch.times(3, true=True):
        return None
    return _alarm(batch, changed[0])


def _alarm(batch: Batch, name: str, *, certain: bool = True) -> Alarm:
    message = (
        f"each batch changes the data set's own `{name}` in place, so every epoch sees other data: copy the sample "
        "in __getitem__ before changing it"
    )
    kind = type(batch.dataset)
    line = line_in(kind.__getitem__, _IN_PLACE) if hasattr(kind, "__getitem__") else None
    mine = line is not None and not kind.__module__.startswith("torch")
    return Alarm(message, at=line if mine else batch.record.place, certain=certain)


def _changed_arrays(batch: Batch) -> list[str]:
    """Arrays of the dataset, one row a sample, whose numbers are others at the beginning of each of three epochs."""
    if batch.index:
        return []
    seen = batch.memory.setdefault("arrays", {})
    found = []
    for name, array in getattr(batch.dataset, "__dict__", {}).items():
        rows = type(array).__name__ == "ndarray" and array.ndim >= 2 and array.dtype.kind in "fu"
        if not rows or len(array) != len(batch.dataset):
            continue
        part = array[:: max(1, len(array) // 16)].ravel()[:4096]
        key, number = id(array), float(part.sum(dtype=float))
        before, old, times = seen.get(name, (key, number, 0))
        times = times + 1 if key == before and number != old else 0
        seen[name] = (key, number, times)
        found += [name] if times >= 2 else []
    return found


@dataclass
class _Changed:
    """A tensor that is written to, and what of it is given to a network."""

    whole: "weakref.ref[Any]"
    version: int  # as far as every write to it was seen
    place: Place | None
    inside: bool  # the network itself writes
    writes: int = 0  # seen since it was given last
    each: int = 0  # writes between being given and being given again
    parts: set[int] = field(default_factory=set)  # where the parts lie that were given


def _written(call: Call) -> None:
    """Remember a write that keeps something of the old values: nothing else may have written to that tensor."""
    tensor: Any = call.args[0] if call.args else None
    if not hasattr(tensor, "_version") or tensor.requires_grad or not tensor.is_floating_point():
        return
    if call.name == "__setitem__" and not isinstance(call.argument(2, "value"), int | float):
        return
    whole, known = _whole(tensor), call.notes.setdefault("known", {})
    one = known.get(id(whole))
    if one is None or one.whole() is not whole:
        if len(known) >= _MOST:
            known.pop(next(iter(known)))
        before = whole._version - 1  # noqa: SLF001 - autograd's own counter of writes
        one = known[id(whole)] = _Changed(weakref.ref(whole), before, call.place, bool(call.modules))
    one.writes += 1
    one.version += 1


def _given(call: Call) -> Alarm | None:
    """The same part of a tensor is given to a network in training again, and each time it was written to in between."""
    tensor = next((one for one in call.args[1:] if hasattr(one, "_version")), None)
    if tensor is None or not (call.grad_enabled and call.owner.training):
        return None
    whole, known = _whole(tensor), call.notes.setdefault("known", {})
    one = known.get(id(whole))
    if one is None or one.whole() is not whole:
        return None
    if not one.each:
        one.each, one.writes = one.writes, 0
    elif one.writes:
        one.writes = one.writes - one.each
    else:
        one.version += one.each  # not a step where operations are seen: as many as before, or it is let go
    if one.version != whole._version or one.writes:  # noqa: SLF001 - see above
        del known[id(whole)]
        return None
    again, parts = tensor.data_ptr() in one.parts, len(one.parts)
    one.parts.add(tensor.data_ptr())
    if not again or (not one.inside and (parts < 2 or tensor.numel() == whole.numel())):
        return None
    told = "each pass changes in place what the network is given, and the same tensor is given again, changed already: "
    return Alarm(told + "work on a copy (`x = x - m`, `x.clone()`)", at=one.place, evidence=f"{whole._version} writes")  # noqa: SLF001 - see above


def _whole(tensor: Any) -> Any:
    """What a view looks at."""
    return tensor if tensor._base is None else tensor._base  # noqa: SLF001 - documented for views

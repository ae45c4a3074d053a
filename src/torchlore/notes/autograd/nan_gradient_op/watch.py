"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

_EDGES = {"sqrt": 0.0, "acos": 1.0, "arccos": 1.0, "asin": 1.0, "arcsin": 1.0}


def watch(call: Annotated[Call, "sqrt", "acos", "arccos", "asin", "arcsin", "backward"]) -> Alarm | None:
    if call.name != "backward":
        _look(call)
        return None
    place, name, count, number = call.notes.pop("edge", (None, "", 0, -1))
    if place is None or number != call.run.backwards or not call.kwargs.get("finite"):
        return None
    grads = [leaf.grad for ref in call.kwargs.get("leaves", {}).values() if (leaf := ref()) is not None]
    spoilt = sum(not bool(grad.isfinite().all()) for grad in grads if grad is not None and grad.is_cpu)
    if not spoilt:
        return None
    edge = f"{_EDGES[name]:g}"
    told = f"`{name}` gets {edge}, where its slope is infinite, and the gradients are NaN; keep its argument away from {edge}"
    return Alarm(told, at=place, evidence=f"{count} values, {spoilt} of {len(grads)} gradients are not finite")


def _look(call: Call) -> None:
    """Remember the first operation before a backward that stands where its slope is infinite."""
    given: Any = call.args[0] if call.args else call.kwargs.get("input")
    number = call.run.backwards + 1
    if (
        not getattr(given, "requires_grad", False)
        or not given.is_cpu
        or call.notes.get("edge", (0, 0, 0, 0))[3] == number
    ):
        return
    count = int((given.detach().abs() == _EDGES[call.name]).sum())
    if count:
        call.notes["edge"] = (call.place, call.name, count, number)

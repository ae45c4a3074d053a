"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

_BECAUSE = ("penalty-on-data", "gradient-penalty-without-graph")
_THROUGH = ("Add", "Sub", "Mul", "Div", "Neg", "Mean", "Sum")


def watch(call: Annotated[Call, "add", "__add__", "__radd__", "__iadd__", "add_", "backward"]) -> Alarm | None:
    sums = call.notes.setdefault("sums", {})  # number of the graph's node -> line, and the constant that was added
    if call.name != "backward":
        added = _constant(call)
        if added is not None and call.place is not None:
            sums[_number(call.result.grad_fn)] = (call.place, added)
        return None
    found = [sums[number] for number in _scalars(call.args[0].grad_fn) if number in sums]
    sums.clear()
    for place, added in found:
        seen = call.notes.setdefault("seen", {}).setdefault(place, [])
        seen.append(added)
        if len(set(seen)) < 3:
            continue  # a fixed offset is no loss
        told = "a summand of the loss has no graph here, so no weight learns from it; add the tensor itself, not its number or its detached value"
        values = ", ".join(f"{one:.4g}" for one in seen[-3:])
        return Alarm(told, at=place, certain=False, evidence=f"it was {values}", because=_BECAUSE)
    return None


def _constant(call: Call) -> float | None:
    """The summand without a graph, where the other one and the sum are single numbers with one."""
    result, parts = call.result, call.args[:2]
    alive = [one for one in parts if getattr(one, "requires_grad", False)]
    fixed = [one for one in parts if not getattr(one, "requires_grad", False)]
    if len(alive) != 1 or len(fixed) != 1 or getattr(result, "ndim", None) != 0 or not _has_graph(result):
        return None
    if isinstance(fixed[0], float):
        return fixed[0]
    plain = getattr(fixed[0], "is_floating_point", lambda: False)() and fixed[0].device.type == "cpu"
    return float(fixed[0]) if plain and fixed[0].ndim == 0 and alive[0].ndim == 0 else None


def _has_graph(result: Any) -> bool:
    """Whether a graph hangs on it; that of a view that was written to under no_grad cannot be asked for."""
    try:
        return result.grad_fn is not None
    except RuntimeError:
        return False


def _scalars(node: Any) -> list[int]:
    """The numbers of the nodes at the end of a graph: sums, products and means."""
    todo = [node]
    found: list[int] = []
    while todo and len(found) < 64:
        one = todo.pop()
        if one is not None and type(one).__name__.startswith(_THROUGH):
            found.append(_number(one))
            before = [node for node, _ in one.next_functions if node is not None]
            shared = (
                type(one).__name__.startswith(("Mul", "Div")) and len(before) > 1
            )  # a dice: no sum, but a share of two
            todo += [] if shared else before
    return found


def _number(node: Any) -> int:
    return int(node._sequence_nr())  # noqa: SLF001  # the only name a node of the graph has that is not used again

"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

_VIEWS = ("View", "Unsqueeze", "Squeeze", "Reshape", "UnsafeView", "Neg", "Expand", "ToCopy", "Div")


def watch(call: Annotated[Call, "backward"]) -> Alarm | None:
    if call.memory.setdefault("looks", 0) > 3:
        return None
    call.memory["looks"] += 1
    loss = call.args[0] if call.args else None
    first = getattr(loss, "grad_fn", None)
    if first is None or not any(_weighs(node) for node in _walk(first, 200)):
        return None
    told = "a log-probability is weighed with an advantage that has its graph, so the policy's loss moves the critic as well"
    return Alarm(f"{told}; write returns - values.detach()")


def _walk(first: Any, most: int) -> list[Any]:
    """The nodes of a graph, the loss first."""
    found, seen = [first], {first}
    for node in found:
        for one, _ in node.next_functions if len(found) < most else ():
            if one is not None and one not in seen:
                seen.add(one)
                found.append(one)
    return found


def _weighs(node: Any) -> bool:
    """A product of the log-probability of what was chosen and a difference, both with a graph."""
    parts = [one for one, _ in node.next_functions]
    if not node.name().startswith("MulBackward") or len(parts) != 2 or None in parts:
        return False
    return any(_is_chosen(_bare(one)) and _is_gap(_bare(other)) for one, other in (parts, parts[::-1]))


def _bare(node: Any) -> Any:
    """What stands under views, a sign and a division by a number."""
    for _ in range(6):
        ways = [one for one, _ in node.next_functions if one is not None]
        if len(ways) != 1 or not node.name().startswith(_VIEWS):
            break
        node = ways[0]
    return node


def _is_chosen(node: Any) -> bool:
    """`log_softmax(scores)[chosen]`, as `Categorical.log_prob` and `gather` make it."""
    if not node.name().startswith(("Gather", "Index")):
        return False
    made = _bare(node.next_functions[0][0])
    if made.name().startswith("LogSoftmax"):
        return True
    parts = [one.name() for one, _ in made.next_functions if one is not None]
    return made.name().startswith("SubBackward") and any(one.startswith("Logsumexp") for one in parts)


def _is_gap(node: Any) -> bool:
    """`returns - values`: one side is a number that nothing trains."""
    parts = [one for one, _ in node.next_functions]
    return node.name().startswith(("SubBackward", "RsubBackward")) and sum(one is not None for one in parts) == 1

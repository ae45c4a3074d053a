"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    own = {id(one.tensor) for one in step.parameters}
    kinds = {"zero": "Z", "backward": "B", "step": "s"}
    seen = [(kinds[e.group], e) for e in step.events if e.group in kinds and (e.group != "zero" or step.mine(e))]
    after_zero = [pair for n, pair in enumerate(seen) if "Z" not in [kind for kind, _ in seen[n:]]]
    order = "".join(kind for kind, _ in after_zero)
    first = next((event for kind, event in after_zero if kind == "B"), None)
    polluted = order == "BsBs" and first is not None and bool(first.facts.get("leaves", {}).keys() & own)
    if not step.in_a_row(2, polluted and not step.closure):
        return None
    return Alarm(
        "the gradient of the other network's loss is still in these parameters when they are stepped; detach() what they made "
        "for that loss, or zero them before their own backward()",
        at=first.place if first is not None else None,
        certain=False,
    )

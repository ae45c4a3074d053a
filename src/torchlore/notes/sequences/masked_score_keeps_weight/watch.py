"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "softmax", "log_softmax"]) -> Alarm | None:
    scores = call.args[0] if call.args else None
    if scores is None or call.memory.setdefault("looks", 0) > 16 or not scores.is_floating_point() or scores.is_cuda:
        return None
    call.memory["looks"] += 1
    some = scores.detach().flatten()[:8192]
    tiny = some[(some != 0) & (some.abs() < 1e-3)]
    real = int((some.abs() >= 1e-3).sum())  # a mask hides some scores, not all of them
    if len(tiny) * 20 < len(some) or len(tiny) < 2 or real < 2 or len(tiny.unique()) != 1:
        return None
    share = len(tiny) / len(some)
    return Alarm(
        f"{share:.0%} of the scores are {tiny[0].item():.0e}, which a softmax takes for an ordinary score; to hide them "
        "fill with -1e9 or float('-inf')",
    )

"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "binary_cross_entropy_with_logits"]) -> Alarm | None:
    found = call.values(call.target)
    if found is None or (found.low >= -1e-6 and found.high <= 1 + 1e-6):
        return None
    return Alarm(
        f"the targets run from {found.low:.3g} to {found.high:.3g} and must lie from 0 to 1, or the loss has no lower end; map them first"
    )

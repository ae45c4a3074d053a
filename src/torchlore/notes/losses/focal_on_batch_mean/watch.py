"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "exp"]) -> Alarm | None:
    given = call.args[0]
    made = getattr(given, "grad_fn", None)
    if made is None or given.dim() or not made.name().startswith("Neg"):
        return None
    inner = made.next_functions[0][0]
    if inner is None or not inner.name().startswith(("NllLoss", "BinaryCrossEntropy")):
        return None
    return Alarm(
        "exp(-loss) of a loss that is already the mean of the batch gives all samples the same focal weight; compute the "
        'loss with reduction="none" and take the mean in the end'
    )

"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"]) -> Alarm | None:
    given, target = call.input, call.target
    made = getattr(target, "grad_fn", None)
    if (
        made is None
        or getattr(given, "grad_fn", None) is None
        or not made.name().startswith(("AddBackward", "SubBackward"))
    ):
        return None
    parts = [one for one, _ in made.next_functions]
    rest = [one for one in parts if one is not None]
    if len(rest) != 1 or len(parts) != 2 or not rest[0].name().startswith("MulBackward"):
        return None
    if call.memory.setdefault("looks", 0) > 3 or not call.leaves(target).keys() & call.leaves(given).keys():
        return None
    call.memory["looks"] += 1
    return Alarm(
        "the target, reward + factor * value, is made by the network that is trained and has its graph, so the loss pulls the "
        "target down to the prediction as well; compute it under torch.no_grad()",
    )

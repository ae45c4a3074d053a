"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"]) -> Alarm | None:
    for given, target in ((call.input, call.target), (call.target, call.input)):  # these losses take them in any order
        if getattr(given, "grad_fn", None) is None or not _is_bootstrap(target):
            continue
        if call.memory.setdefault("looks", 0) > 3 or not call.leaves(target).keys() & call.leaves(given).keys():
            return None
        call.memory["looks"] += 1
        return Alarm(
            "the target, reward + factor * value, is made by the network that is trained and has its graph, so the loss pulls the "
            "target down to the prediction as well; compute it under torch.no_grad()",
        )
    return None


def _is_bootstrap(target: Any) -> bool:
    """Something without a graph, plus or minus a product with one."""
    made = getattr(target, "grad_fn", None)
    if made is None or not made.name().startswith(("AddBackward", "SubBackward")):
        return False
    parts = [one for one, _ in made.next_functions]
    rest = [one for one in parts if one is not None]
    return len(rest) == 1 and len(parts) == 2 and rest[0].name().startswith("MulBackward")

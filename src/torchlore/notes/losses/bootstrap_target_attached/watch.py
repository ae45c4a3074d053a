"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[Call, "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss", "add_", "lerp_"],
) -> Alarm | None:
    if call.name in ("add_", "lerp_"):
        return _averaged(call)
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


def _averaged(call: Call) -> Alarm | None:
    """`average.mul_(decay).add_(weight, alpha=1 - decay)`, where a loss has just given the average a gradient, and it is stepped."""
    average, weight = (*call.args[:2], None)[:2]
    share = call.argument(2, "weight") if call.name == "lerp_" else call.kwargs.get("alpha")
    if call.run.steps < 2 or not isinstance(share, float) or not 0 < share < 1 or not hasattr(weight, "data_ptr"):
        return None
    held = {one.data_ptr(): one for record in call.run.optimizers for one in _held(record)}
    moved = held.get(average.data_ptr())
    if moved is None or moved.grad is None or weight.data_ptr() not in held or average.shape != weight.shape:
        return None
    if average.data_ptr() == weight.data_ptr():  # no average: weights-kept-by-reference
        return None
    if not call.times(2, bool(moved.grad.any()) if moved.device.type == "cpu" else False):
        return None
    return Alarm(
        "these weights are moved towards other ones as an average, and the optimizer trains them as well: the loss reaches "
        "them; call that network under torch.no_grad()"
    )


def _held(record: Any) -> list[Any]:
    """The parameters of an optimizer that is still there."""
    groups = record.thing.param_groups if record.thing is not None else ()
    return [one for group in groups for one in group["params"]]

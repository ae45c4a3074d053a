"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "forward"]) -> Alarm | None:
    module = call.owner
    if module.training or not call.run.steps or call.memory.setdefault("looks", 0) > 20:
        return None
    call.memory["looks"] += 1
    fresh = {name: layer for name, layer in module.named_modules() if _fresh(layer)}
    first = next(module.parameters())
    stepped = (one.optimizer for one in call.run.optimizers if one.steps)
    trained = any(
        p is first for one in stepped if one is not None for group in one.param_groups for p in group["params"]
    )
    version = call.memory.setdefault("version", first._version)  # noqa: SLF001 - the documented counter of writes
    copied = first._version != version or int(getattr(module, "n_averaged", 0))  # noqa: SLF001 - see above
    if trained:  # a layer that its forward leaves out has nothing to see
        fresh = {name: layer for name, layer in fresh.items() if id(layer.weight) in call.run.reached}
    if not fresh or not (trained or copied):
        return None
    return Alarm(
        f"`{next(iter(fresh))}` evaluates with mean 0 and variance 1: it never saw a batch in training mode; copy the buffers with the "
        "weights, or call torch.optim.swa_utils.update_bn",
        evidence=f"{len(fresh)} batch-norm layers have their first statistics",
    )


def _fresh(layer: Any) -> bool:
    """A batch norm in eval mode whose statistics are those it was made with."""
    mean, count = getattr(layer, "running_mean", None), getattr(layer, "num_batches_tracked", None)
    if (
        layer.training
        or mean is None
        or count is None
        or mean.device.type != "cpu"
        or "BatchNorm" not in type(layer).__name__
    ):
        return False
    return not bool(mean.any()) and bool((layer.running_var == 1).all())

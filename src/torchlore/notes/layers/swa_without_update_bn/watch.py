"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "forward"]) -> Alarm | None:
    average = call.owner
    if type(average).__name__ != "AveragedModel" or average.training or int(getattr(average, "n_averaged", 0)) < 2:
        return None
    if average.use_buffers or average.avg_fn is not None or getattr(average, "multi_avg_fn", None) is not None:
        return None
    own = _statistics(average.module)
    for other in call.run.modules():
        theirs = _statistics(other) if other is not average else {}
        shared = [name for name in own if name in theirs and own[name] is not theirs[name]]
        if shared and all(bool((own[name] == theirs[name]).all()) for name in shared if not own[name].is_cuda):
            return Alarm(
                f"`{shared[0]}` has the statistics of the last network, and the weights before it are averages; call "
                "torch.optim.swa_utils.update_bn(loader, model) before it is evaluated",
            )
    return None


def _statistics(module: Any) -> dict[str, Any]:
    """The running means of a network, by the names of their layers."""
    found = {name: getattr(layer, "running_mean", None) for name, layer in module.named_modules()}
    return {name: mean for name, mean in found.items() if mean is not None}

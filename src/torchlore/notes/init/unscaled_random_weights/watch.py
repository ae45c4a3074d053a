"""What a running program shows of it."""

import math
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call, assignment


def watch(call: Annotated[Call, "cross_entropy", "nll_loss", "mse_loss"]) -> Alarm | None:
    if call.notes.get("looked", 0) or call.run.steps:
        return None
    call.notes["looked"] = 1
    given = call.input
    usual = math.log(given.shape[1]) if call.name != "mse_loss" and given.dim() > 1 and given.shape[1] > 1 else 1.0
    loss = call.result.detach().mean().item() if call.result is not None and call.result.device.type == "cpu" else 0.0
    if loss < 10 * usual:
        return None
    if (layers := _layers_of_torch(call)) is not None:
        return Alarm(f"the first loss is {loss:.3g}: {layers}", certain=False)
    return _own_layers(call, loss)


def _own_layers(call: Call, loss: float) -> Alarm | None:
    """Layers of the user's own whose weights have a spread of 1."""
    found: dict[tuple[type, str], list[tuple[int, ...]]] = {}
    for root in call.run.modules():
        for layer in root.modules():
            if type(layer).__module__.startswith("torch."):
                continue
            for name, weight in layer.named_parameters(recurse=False):
                if (
                    weight.dim() == 2
                    and min(weight.shape) >= 4
                    and max(weight.shape) >= 64
                    and 0.9 < weight.std().item() < 1.1
                ):
                    found.setdefault((type(layer), name), []).append(tuple(weight.shape))
    for (kind, name), shapes in found.items():
        if len(shapes) > 1:
            told = f"the first loss is {loss:.3g}: `{name}` of `{kind.__name__}` has a spread of 1 whatever its size"
            return Alarm(
                f"{told}; divide by the root of its inputs",
                at=assignment(kind, name),
                certain=False,
                evidence=str(shapes[:3]),
            )
    return None


def _layers_of_torch(call: Call) -> str | None:
    """Linear layers and convolutions whose weights were drawn with a spread of 1."""
    wide = [
        name
        for root in call.run.modules()
        for name, layer in root.named_modules()
        if type(layer).__name__ in ("Linear", "Conv1d", "Conv2d", "Conv3d")
        and type(layer).__module__.startswith("torch.nn.")
        and layer.weight[0].numel() >= 16
        and not layer.weight.is_cuda
        and 0.9 < layer.weight.std().item() < 1.1
    ]
    if len(wide) < 2:
        return None
    return f"the weights of {len(wide)} layers, `{wide[0]}` first, have a spread of 1; use nn.init.kaiming_normal_"

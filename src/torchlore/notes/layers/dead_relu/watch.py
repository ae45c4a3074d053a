"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

_LAYERS = ("addmm", "convolution", "nativebatchnorm", "cudnnbatchnorm", "linear", "add")


def watch(call: Annotated[Call, "relu"]) -> Alarm | None:
    result = call.result
    if result is None or result.device.type != "cpu" or result.numel() < 64 or result.dim() < 2 or len(result) < 4:
        return None
    layer = id(call.modules[-1]) if call.modules else 0
    dead = call.made_by(call.args[0]) in _LAYERS and not bool(result.any())
    if not call.in_a_row(3, dead, name=f"dead {layer}"):
        return None
    return Alarm(
        f"every one of the {result[0].numel()} outputs of this ReLU is 0 for the whole batch, so nothing before it learns; look at "
        "the scale of its inputs, the bias and the learning rate",
        certain=False,
        evidence=f"output of shape {tuple(result.shape)}, seen in three looks in a row",
    )

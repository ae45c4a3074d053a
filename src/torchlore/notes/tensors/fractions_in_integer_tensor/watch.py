"""What a running program shows of it."""

import math
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[Call, "full_like", "__setitem__", "fill_", "masked_fill", "masked_fill_", "scatter_"],
) -> Alarm | None:
    if call.name == "full_like":
        value, into = call.argument(1, "fill_value"), call.result
    elif call.name == "__setitem__":
        value, into = call.args[2], call.args[0]
    else:
        value, into = call.args[-1] if len(call.args) > 1 else call.kwargs.get("value"), call.args[0]
    value = value.item() if hasattr(value, "numel") and value.numel() == 1 and value.device.type == "cpu" else value
    whole = into is None or into.is_floating_point() or into.is_complex() or str(into.dtype) == "torch.bool"
    if not isinstance(value, float) or not math.isfinite(value) or value == int(value) or whole:
        return None
    return Alarm(
        f"{value:g} is written into a tensor of {str(into.dtype).removeprefix('torch.')} and becomes {int(value)}; make it float first"
    )

"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[
        Call,
        "LSTM",
        "GRU",
        "RNN",
        "TransformerEncoder",
        "cross_entropy",
        "mse_loss",
        "binary_cross_entropy_with_logits",
    ],
) -> Alarm | None:
    if call.group == "layer":
        given, layer = call.argument(1, "src"), call.owner
        layer = layer.layers[0].self_attn if call.name == "TransformerEncoder" else layer
        sizes = tuple(given.shape) if getattr(given, "dim", int)() == 3 and not layer.batch_first else ()
        call.notes["sizes"] = (call.place, call.name, sizes)
        return None
    place, name, sizes = call.notes.pop("sizes", (None, "", ()))
    target = call.target
    if not sizes or target is None or not target.dim() or target.numel() != len(target):
        return None
    if len(target) != sizes[0] or len(target) == sizes[1] or sizes[1] < 2:
        return None
    return Alarm(
        f"{name} without batch_first takes (time, batch, features) and gets {sizes} for {len(target)} targets: it walks over the "
        "samples instead of the time steps; pass batch_first=True",
        at=place,
    )

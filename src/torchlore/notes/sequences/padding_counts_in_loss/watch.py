"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "cross_entropy", "nll_loss"]) -> Alarm | None:
    target, given = call.target, call.input
    if (
        target is None
        or target.is_floating_point()
        or target.device.type != "cpu"
        or target.numel() < 16
        or given.dim() < 2
    ):
        return None
    if call.argument(6, "reduction", "mean") == "none" or call.argument(2, "weight") is not None:
        return None
    pads = call.memory.get("pads")
    if pads is None:
        layers = [layer for module in call.run.modules() for layer in module.modules()]
        pads = call.memory["pads"] = {
            one.padding_idx
            for one in layers
            if getattr(one, "padding_idx", None) is not None and one.num_embeddings == given.shape[1]
        }
    for pad in pads - {call.argument(4, "ignore_index", -100)}:
        share = float((target == pad).float().mean())
        if share > 0.05:
            return Alarm(
                f"{share:.0%} of the targets are {pad}, which the embedding names as padding, and all of them count in the loss; "
                f"pass ignore_index={pad}"
            )
    return None

"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

_NAMES = ("attn_mask", "mask", "src_mask", "tgt_mask")


def watch(
    call: Annotated[
        Call, "MultiheadAttention", "TransformerEncoder", "TransformerDecoder", "scaled_dot_product_attention"
    ],
) -> Alarm | None:
    positions = {"MultiheadAttention": 6, "TransformerEncoder": 2, "TransformerDecoder": 3}
    given = next((call.kwargs[name] for name in _NAMES if call.kwargs.get(name) is not None), None)
    given = call.argument(positions.get(call.name, 3), "attn_mask") if given is None else given
    if (
        given is None
        or given.device.type != "cpu"
        or given.dim() < 2
        or given.shape[-1] != given.shape[-2]
        or given.shape[-1] < 3
    ):
        return None
    if (
        call.name == "scaled_dot_product_attention"
        and call.modules
        and type(call.modules[-1]).__name__ == "MultiheadAttention"
    ):
        return None  # it has turned the mask round itself
    mask = given.reshape(-1, *given.shape[-2:])[0]
    if str(mask.dtype) == "torch.bool":
        seen = mask if call.name == "scaled_dot_product_attention" else ~mask
    else:
        seen = mask > -1e4
    if bool(seen.triu(1).equal(seen.new_ones(seen.shape).triu(1))) and not bool(seen.tril(-1).any()):
        return Alarm(
            "this mask hides the past and shows the future; turn it round, or pass is_causal=True", certain=False
        )
    ones = seen.all() and not bool((mask != mask.bool().to(mask.dtype)).any()) and bool(mask.any())
    if ones and str(mask.dtype) != "torch.bool" and (not bool(mask.triu(1).any()) or not bool(mask.tril(-1).any())):
        return Alarm("a float mask is added to the scores, and ones hide nothing; fill what must be hidden with -inf")
    return None

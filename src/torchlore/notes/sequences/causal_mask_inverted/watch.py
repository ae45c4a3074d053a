"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

_NAMES = ("attn_mask", "mask", "src_mask", "tgt_mask")


def watch(
    call: Annotated[
        Call,
        "MultiheadAttention",
        "TransformerEncoder",
        "TransformerDecoder",
        "scaled_dot_product_attention",
        "masked_fill",
        "masked_fill_",
    ],
) -> Alarm | None:
    if call.name.startswith("masked_fill"):
        return _filled(call)
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


def _filled(call: Call) -> Alarm | None:
    """Scores filled with minus infinity where a lower triangle is True."""
    mask, value = call.argument(1, "mask"), call.argument(2, "value")
    low = isinstance(value, int | float) and value <= -1e3
    if (
        not low
        or getattr(mask, "ndim", 0) < 2
        or mask.shape[-1] != mask.shape[-2]
        or mask.shape[-1] < 3
        or mask.device.type != "cpu"
    ):
        return None
    hidden = mask.reshape(-1, *mask.shape[-2:])[0].bool()
    past = hidden.new_ones(hidden.shape).tril(-1)
    if bool(hidden.tril(-1).equal(past)) and not bool(hidden.triu(1).any()):
        return Alarm(
            "this hides the past and shows the future: masked_fill fills where the mask is True; turn it round"
        )
    return None

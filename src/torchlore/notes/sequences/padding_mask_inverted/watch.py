"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

_MASKS = ("key_padding_mask", "src_key_padding_mask", "tgt_key_padding_mask")


def watch(
    call: Annotated[
        Call, "MultiheadAttention", "TransformerEncoder", "TransformerEncoderLayer", "TransformerDecoderLayer"
    ],
) -> Alarm | None:
    name = next((one for one in _MASKS if call.kwargs.get(one) is not None), "")
    mask: Any = call.kwargs.get(name)
    given = call.argument(2 if call.name == "MultiheadAttention" else 1, "src")
    first = getattr(call.owner, "self_attn", None) or getattr(call.owner, "layers", [call.owner])[0]
    first = getattr(first, "self_attn", first)
    if not name or getattr(given, "dim", int)() != 3 or str(mask.dtype) != "torch.bool" or given.device.type != "cpu":
        return None
    given = given.detach() if first.batch_first else given.detach().transpose(0, 1)
    if mask.shape != given.shape[:2] or not _same(given, ~mask) or _same(given, mask):
        return None
    return Alarm(
        f"{name} is True at the words and False at the padding, and True means ignore: attention sees the padding only; "
        "pass ~mask",
        evidence="at each place, what is attended to is the same in all samples, what is ignored differs",
    )


def _same(given: Any, where: Any) -> bool:
    """Whether at each place the samples chosen there all hold the same vector, as padding does."""
    seen = 0
    for place in range(given.shape[1]):
        rows = given[where[:, place], place]
        if len(rows) > 1:
            seen += 1
            if not bool((rows == rows[0]).all()):
                return False
    return seen > 0

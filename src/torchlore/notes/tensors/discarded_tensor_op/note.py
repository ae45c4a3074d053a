"""x.clamp(0, 1) alone on a line changes nothing: the result is thrown away.

Most tensor operations return a new tensor. As a statement they compute it and drop it: weights that should be clipped
are not, a mask is not applied, a graph is not cut. `p.data.clamp(-c, c)` in a WGAN is the classic: the critic is never
clipped and training diverges. Only names that end in an underscore work in place.

Assign it, `x = x.clamp(0, 1)`, or use the in-place twin where you mean to change the tensor itself, under `no_grad` for
parameters: `p.clamp_(-c, c)`.
"""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = (
    "https://github.com/lucidrains/flamingo-pytorch/issues/10",
    "https://github.com/facebookresearch/ParlAI/pull/3068",
    "https://github.com/Eaphan/NCLR/issues/10",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["largest"] > 1
    assert good["largest"] <= 0.5
    x = torch.tensor([2.0], device=device)
    x.clamp(0, 1)
    assert x.item() == 2
    x.clamp_(0, 1)
    assert x.item() == 1


_LOST = {"unsqueeze", "masked_fill", "index_fill", "masked_scatter", "log_softmax", "clamp_min", "clamp_max", "clamp", "clip",
         "scatter", "index_add", "index_copy", "permute", "transpose", "detach"}  # fmt: skip


def watch(call: Annotated[Call, "discarded"]) -> Alarm | None:
    if call.name not in _LOST or call.kwargs.keys() & {"out", "inplace"}:
        return None
    return Alarm(
        f"the result of `{call.name}` is thrown away here: assign it, or use its in-place form with an underscore"
    )

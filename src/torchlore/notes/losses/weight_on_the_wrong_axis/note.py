"""`weight` and `pos_weight` of the BCE losses broadcast from the right, so [C] lands on the width.

For logits of shape (N, C, H, W) a `pos_weight` of shape (C,) lines up with W. If W differs from C it raises; if they
happen to be equal, every column of the picture gets a class's weight and nothing is said. `weight` of shape (N,) does the
same when W equals the batch size. The per-class `weight` of cross-entropy is another thing: that one is (C,) always.

```python
nn.BCEWithLogitsLoss(pos_weight=w.view(-1, 1, 1))            # one per class, (N, C, H, W)
F.binary_cross_entropy(p, y, weight=s.view(-1, 1, 1, 1))     # one per sample
```

`pos_weight` must be a tensor, and is a buffer: it moves with the loss module and is in its `state_dict`. The targets are
floats of the same shape as the logits. Prefer `BCEWithLogitsLoss` to a sigmoid and `BCELoss`: the latter clamps its loss
at 100, and where the sigmoid is exactly 0 its gradient is gone.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ("loss-bce", "loss-bce-logits")
SOURCES = ("001:69", "001:70")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn
    from torch.nn import functional as F

    from torchlore.notes.proof import error_of

    assert good["ratio"] > 5  # a missed pixel of the rare class costs more
    assert 0.9 < bad["ratio"] < 1.1

    logits, target = torch.randn(2, 3, 4, 5), torch.ones(2, 3, 4, 5)
    weight = torch.tensor([1.0, 2.0, 3.0])
    with_logits = F.binary_cross_entropy_with_logits
    assert error_of(lambda: with_logits(logits, target, pos_weight=weight)) == "RuntimeError"
    each = with_logits(logits, target, pos_weight=weight.view(3, 1, 1), reduction="none")
    plain = with_logits(logits, target, reduction="none")
    assert torch.allclose(each, plain * weight.view(1, 3, 1, 1))
    assert error_of(lambda: nn.BCEWithLogitsLoss(pos_weight=2.0)) == "TypeError"  # type: ignore[arg-type]  # the point
    assert list(nn.BCEWithLogitsLoss(pos_weight=weight).state_dict()) == ["pos_weight"]
    probability = logits.sigmoid()
    assert error_of(lambda: F.binary_cross_entropy(probability, target.long())) == "RuntimeError"
    assert error_of(lambda: F.binary_cross_entropy(logits * 9, target)) == "RuntimeError"  # no probabilities

    far = torch.tensor([-200.0], requires_grad=True)
    with_logits(far, torch.ones(1)).backward()
    assert far.grad is not None
    assert far.grad == -1
    assert F.binary_cross_entropy(far.detach().sigmoid(), torch.ones(1)) == 100


def watch(call: Annotated[Call, "binary_cross_entropy", "binary_cross_entropy_with_logits"]) -> Alarm | None:
    shape = tuple(call.input.shape)
    for name, axis, view in (("pos_weight", 1, "view(-1, 1, 1)"), ("weight", 0, "view(-1, 1, 1, 1)")):
        weight = call.kwargs.get(name)
        if weight is None or len(shape) != 4 or weight.dim() != 1 or weight.numel() < 2:
            continue
        if weight.numel() == shape[-1] == shape[axis] and bool((weight != weight[0]).any()):
            kind = "class" if axis else "sample"
            return Alarm(
                f"`{name}` of shape {tuple(weight.shape)} weighs the columns of {shape}; for one a {kind} write `{name}.{view}`",
                at=call.place and call.place.first(rf"\(.*\b{name}="),  # where the loss is made
                certain=axis == 1,
                evidence=f"the last dimension and the {kind} dimension are both {shape[-1]}",
            )
    return None

"""A `backward` of one's own that never reads the gradient it is given ignores what comes after it.

`backward(ctx, grad)` owes its caller the gradient of the loss: its own derivative times `grad`. One that returns its own
derivative alone is right only where `grad` is 1, as for a loss on which `backward()` is called directly. Once that loss is
weighted, averaged over micro-batches, summed with another or scaled by a GradScaler, the weight is in `grad` and gets lost:
`0.1 * loss` trains as `loss` does, and a scaler divides by a factor that was never there. In the middle of a network the
gradient of the layers above is thrown away, and nothing raises, as the shapes fit.

```python
@staticmethod
def backward(ctx, grad):
    (own,) = ctx.saved_tensors
    return own * grad
```

`torch.autograd.gradcheck` tells, if the function is checked with an output of more than one number or with a weight.
"""

ROWS = ()
SOURCES = (
    "https://github.com/SeanNaren/warp-ctc/pull/170",
    "https://github.com/pytorch/torchtitan/pull/3250",
    "https://github.com/pytorch/pytorch/issues/21961",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["weighted"] == bad["plain"]
    assert abs(good["weighted"] - 0.1 * good["plain"]) < 1e-6

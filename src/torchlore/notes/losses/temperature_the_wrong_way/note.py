"""A temperature divides the scores, and in a distillation its square comes back as a factor.

`similarity * temperature` with 0.07 squeezes cosines of -1 to 1 into -0.07 to 0.07: the softmax is flat, the loss stands at
`log(batch)` and hardly moves. In a distillation both sides are softened by the same temperature; with one side only, teacher and
student are never equal, and without the factor `T * T` the gradient of the soft part is `T * T` times too small beside the hard one.

```python
logits = z1 @ z2.t() / temperature
soft = F.kl_div(F.log_softmax(student / T, dim=1), F.softmax(teacher / T, dim=1), reduction="batchmean") * T * T
```
"""

ROWS = ()
SOURCES = ("https://github.com/IntelLabs/distiller/issues/122", "https://github.com/SforAiDl/KD_Lib/pull/59")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["gradient"] < good["gradient"] / 10

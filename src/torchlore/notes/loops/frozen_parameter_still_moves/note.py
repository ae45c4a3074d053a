"""A parameter frozen in the middle of training moves on as long as it has a gradient.

`requires_grad = False` stops new gradients from being computed. It does not remove the old one: with
`zero_grad(set_to_none=False)`, or where nobody zeroes it, `.grad` stays a tensor, and the optimizer steps every parameter that
has one. Momentum, Adam's averages and weight decay then move the "frozen" layer in every step.

Set `p.grad = None` when freezing, or build the optimizer from the parameters that still train.
"""

ROWS = ()
SOURCES = (
    "https://github.com/iamwangyabin/S-Prompts/pull/2",
    "https://github.com/facebookresearch/fairseq/issues/4702",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] > 0.01
    assert good["moved"] == 0

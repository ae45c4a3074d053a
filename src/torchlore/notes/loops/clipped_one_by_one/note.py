"""Clipping each parameter by itself changes the direction of the step.

`clip_grad_norm_` scales all gradients by one factor, so that the step keeps its direction and only its length is bounded. Called
in a loop on one parameter at a time it gives each its own factor: large gradients are cut, small ones are not, and the total
norm may still be the bound times the root of the number of parameters.

Call it once: `nn.utils.clip_grad_norm_(model.parameters(), max_norm)`.
"""

ROWS = ()
SOURCES = ("https://github.com/huggingface/transformers/pull/614",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["alike"] < 0.99
    assert good["alike"] > 0.9999

"""`accelerator.backward(loss / steps)` divides twice: the accelerator does it already.

Gradients of four batches are to be averaged, so the loss is divided by four before its backward pass, and so it stands in every
notebook. `Accelerator(gradient_accumulation_steps=4)` does the same inside `accelerator.backward`. With both, the gradients are
a quarter of what they should be: with SGD that is a quarter of the rate, with clipping hardly anything is ever clipped.

Hand the whole loss to `accelerator.backward(loss)`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/huggingface/accelerate/issues/3533",
    "https://github.com/huggingface/transformers/issues/26312",
)
TORCH = "2.11, 2.15"
NEEDS = ("accelerate",)
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["moved"] / bad["moved"] - 4) < 1e-3

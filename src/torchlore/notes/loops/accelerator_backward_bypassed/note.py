"""Under Accelerate the backward pass belongs to the accelerator: `accelerator.backward(loss)`.

`accelerator.backward` divides the loss by the accumulation steps and, in fp16, multiplies it by the scale that `optimizer.step()`
divides by again. `loss.backward()` does neither: with `gradient_accumulation_steps=4` every step is four times too large, and in
fp16 the scaled step is one for gradients that were never scaled, close to nothing. Nothing fails, and on one process in full
precision without accumulation the two are the same, so it is found late.

Write `accelerator.backward(loss)` wherever the model or the optimizer went through `prepare`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/huggingface/accelerate/issues/641",
    "https://huggingface.co/docs/accelerate/basic_tutorials/migration",
)
TORCH = "2.11, 2.15"
NEEDS = ("accelerate",)
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["moved"] / good["moved"] - 4) < 1e-3

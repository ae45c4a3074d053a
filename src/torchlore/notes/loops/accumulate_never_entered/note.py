"""`Accelerator(gradient_accumulation_steps=4)` accumulates nothing outside of `accumulate`.

Only inside `with accelerator.accumulate(model):` does the prepared optimizer wait for the fourth batch. Without it every batch is a
step of its own, while `accelerator.backward` divides each loss by four all the same: the batch is a quarter of what was meant, and
with plain SGD so is the rate. The loss goes down, so it is found late, or never.

Put the body of the loop over batches into `with accelerator.accumulate(model):`.
"""

ROWS = ()
SOURCES = ("https://github.com/huggingface/transformers/issues/26312",)
TORCH = "2.11, 2.15"
NEEDS = ("accelerate",)
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["moved"] / good["moved"] - 4) < 0.01  # four steps of Adam and not one

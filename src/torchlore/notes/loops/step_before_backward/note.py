"""`optimizer.step()` before `loss.backward()` uses the gradients of the batch before, or none.

In a loop of zero, step, backward the step finds no gradient at all and nothing is ever learned. In a loop of step, zero,
backward every update comes one batch late, on weights that have changed since, and the last gradient is never used.
Neither fails.

An optimizer that is cleared in each turn and never stepped, alone or one of several, is the same loss: its network stays as it
was made.

The order is: forward, loss, `backward()`, `step()`; with `zero_grad()` anywhere but between the last two.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/tutorials/beginner/basics/optimization_tutorial.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0.0
    assert good["moved"] > 0.01

"""A loop that steps without `zero_grad` steps along the sum of all gradients so far.

`backward()` adds to `p.grad`; nothing empties it but `zero_grad()`. Without it each step uses the gradients of every
batch seen, the effective learning rate grows with the step number, and training swings or diverges after a good start.

Call `optimizer.zero_grad()` once for every `optimizer.step()`, before the `backward()` of the next batch. Accumulating on
purpose keeps the pair together: step and zero under the same `if (i + 1) % k == 0`.
"""

from typing import Any

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/why-do-we-need-to-set-the-gradients-manually-to-zero-in-pytorch/4903",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["gradient"] > 5 * bad["first"]
    assert good["gradient"] < 1.5 * good["first"]


def watch(step: Step) -> Alarm | None:
    if not step.in_a_row(3, step.carried_over and not step.closure):
        return None
    told = (
        "gradients that step() has applied before are still in .grad and are applied again; call zero_grad() every step"
    )
    return Alarm(told, evidence=f"{step.record.kind}: the same .grad grew over {step.number} steps")

"""A decay factor for the first rate, multiplied onto the current one, compounds.

`(1 - i / n) ** 0.9` and `0.1 ** (epoch // 30)` say what share of the *first* rate is left at step i. In `group["lr"] *= ...`, or
`lr = lr * 0.95 ** epoch`, they are multiplied onto a rate that has been decayed by all the factors before: 0.95 to the power of
1 + 2 + 3 + ... A rate that should reach a tenth at the end is a billionth of itself after a third of the run, and the loss stands
still as if it had converged.

Keep the first rate and multiply that one: `group["lr"] = base_lr * (1 - i / n) ** 0.9`. A plain `group["lr"] *= 0.95` once an epoch
is right too: its factor does not count. Where a scheduler steps, leave the rate to it: it multiplies what it finds in the group.
"""

ROWS = ()
SOURCES = (
    "https://github.com/LBANN/lbann/pull/1984",
    "https://github.com/fcomitani/simpsom/issues/30",
    "https://github.com/deeplearning4j/deeplearning4j/issues/3678",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["rate"] - 0.1 * 0.9**9) < 1e-6
    assert bad["rate"] < good["rate"] / 20

"""`group["lr"] == 1e-4` on a line of its own compares two numbers and sets neither.

One stroke too many, and the line that was to lower the rate, to empty the sum or to keep the best score does nothing. Python evaluates it
and throws the answer away; no name is wrong, so nothing raises. The schedule of the code is not the schedule of the run.

Write one stroke: `group["lr"] = 1e-4`. A comparison that is meant as a check is an `assert`.
"""

ROWS = ()
SOURCES = ("https://docs.astral.sh/ruff/rules/useless-comparison/",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["rate"] == 0.1
    assert good["rate"] == 1e-4

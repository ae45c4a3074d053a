"""A data set built on a generator is empty from the second epoch on.

A generator can be walked through once. `__iter__` that returns one made in `__init__`, or a `map`, `zip` or open file, hands out
everything in the first epoch and nothing after it. The loop body is not entered, no error is raised, and twenty epochs are one.

Make the generator in `__iter__`: write it with `yield`, or return `iter(self.items)`.
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/text/issues/1282",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["steps"] == 5
    assert good["steps"] == 15

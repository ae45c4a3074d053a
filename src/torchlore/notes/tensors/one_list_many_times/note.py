"""`[[]] * n` is one list in n places: what is appended to one stands in all.

The product copies the reference. `scores = [[]] * classes` and `scores[c].append(value)` puts every value into every class, so all
per-class means are equal, and equal to the mean over everything. Dictionaries and sets behave alike, and so does
`dict.fromkeys(names, [])`. `dict.fromkeys(names, torch.zeros(3))` is one tensor, which
`sums[name] += v` changes under all names. Numbers are safe: they cannot be changed in place.

A list in the body of a class is one for all its objects too: `memory = []` and `self.memory.append(...)` gives two agents one memory.

Make one for each place: `[[] for _ in range(classes)]`, `{name: [] for name in names}`; set what belongs to an object in `__init__`.
"""

from typing import Any

ROWS = ()
SOURCES = ("https://docs.python.org/3/faq/programming.html#how-do-i-create-a-multidimensional-list",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert len(set(bad["means"])) == 1
    assert good["means"] == [0.0, 1.0, 2.0]

"""`model.state_dict()` holds the live tensors: a "best" state kept so follows every later step.

The dictionary is new, its tensors are the model's own storage. Kept in a variable while training goes on, `best` is at the
end the last epoch's weights, and loading it back changes nothing. `.copy()` and `dict(...)` copy the dictionary, not the
tensors; `best_model = model` copies nothing at all.

Copy the tensors, `best = copy.deepcopy(model.state_dict())`, or write the state to a file at once.
"""

from typing import Any

ROWS = ()
SOURCES = ("https://github.com/WenjieDu/PyPOTS/issues/667",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["restored"] > bad["best"]
    assert good["restored"] == good["best"]

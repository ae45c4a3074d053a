"""`labels = inputs` is a second name for one tensor: writing into one changes both.

Assignment copies nothing. `inputs[masked] = MASK` after `labels = inputs` puts the mask token into both, and the model learns to
predict the mask token, which it does perfectly. The same happens to a clean image that noise is added to in place, and to the
state before an update. Nothing raises, and the loss looks very good.

Copy what must stay as it is: `labels = inputs.clone()`; for NumPy `labels = inputs.copy()`.
"""

ROWS = ()
SOURCES = ("https://github.com/ServiceNow/Fast-LLM/pull/253",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["labels_masked"] == 1
    assert good["labels_masked"] == 0

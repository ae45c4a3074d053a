"""`max(1)[0]` is the largest score; the predicted class is `max(1)[1]`, or `argmax(1)`.

`torch.max(outputs, 1)` returns values and indices, in this order. Compared with the labels, the values are scores like 2.7 that equal no
class number but by accident: the accuracy stays near zero while the loss falls, and the search for the fault goes to the model.

Write `predicted = outputs.argmax(dim=1)`, or take the second half: `_, predicted = outputs.max(dim=1)`. The same holds for `topk` and
`sort`.
"""

ROWS = ()
SOURCES = ("https://github.com/fastai/fastai_old/pull/33", "https://github.com/saurabhgarg1996/ATC_code/issues/1")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["accuracy"] == 1
    assert bad["accuracy"] < 0.1

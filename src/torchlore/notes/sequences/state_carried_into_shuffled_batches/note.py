"""A recurrent state kept in the model goes into the next batch: shuffled, it is that of strangers.

`out, self.hidden = self.lstm(x, self.hidden)` carries the last state on. That is right for one long text cut into pieces that
follow each other. With `shuffle=True` row 3 of the next batch has nothing to do with row 3 of this one: each sequence starts from a
random other one, the same input gives another output each time it is asked, and the evaluation depends on its order.

Begin from zeros, `out, _ = self.lstm(x)`, or reset the state at the start of each batch.
"""

ROWS = ()
SOURCES = (
    "https://github.com/HIT-SCIR/ELMoForManyLangs/issues/68",
    "https://github.com/tensorflow/tensorflow/issues/40067",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["drift"] > 1e-3
    assert good["drift"] == 0

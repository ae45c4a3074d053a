"""Labels that the data set has shifted must not be shifted again by the loss.

A data set that gives `row[:-1], row[1:]` has done it: at each place stands the next word. A loss that takes `logits[:, :-1]` against
`labels[:, 1:]` does it once more, and the model learns to say the word after the next. The loss falls as it should; only what the model
writes is nonsense. Models of the transformers library shift inside: they want `labels=input_ids`, as they are.

Shift in one place: whole rows from the data set, or no slices in the loss.
"""

ROWS = ()
SOURCES = ("https://github.com/huggingface/transformers/pull/46898",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["next"] == 0
    assert good["next"] == 1

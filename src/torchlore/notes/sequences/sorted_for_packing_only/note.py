"""Who sorts a batch by length for packing must put the outputs back: the labels were not sorted.

`lengths, order = lengths.sort(descending=True); x = x[order]` is what older `pack_padded_sequence` asked for. The outputs come in
the sorted order, the labels of the loader in theirs: each text is trained on the label of another. The loss stays where
guessing is, and nothing raises because the shapes fit.

Pass `enforce_sorted=False` and sort nothing, or undo it: `out[order.argsort()]`.
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/4927", "https://github.com/pytorch/pytorch/issues/3584")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["in_place"] == 1
    assert bad["in_place"] < 0.7

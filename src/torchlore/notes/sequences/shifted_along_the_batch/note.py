"""With the batch first, `tgt[:-1]` and `tgt[1:]` shift samples, not words.

In time-first code (length, batch) the decoder's input is `tgt[:-1]` and its labels are `tgt[1:]`. On (batch, length) the same lines drop
the last and the first sample: sentence i is trained to predict sentence i + 1, word by word. The shapes fit, the loss falls to the
entropy of the words and no further.

Shift along the length: `tgt[:, :-1]` and `tgt[:, 1:]`.
"""

ROWS = ()
SOURCES = ("https://github.com/IBM/TabFormer/pull/14", "https://github.com/Exorust/TorchLeet/issues/5")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["next_word"] < 0.3
    assert good["next_word"] == 1

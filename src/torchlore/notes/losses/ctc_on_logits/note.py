"""ctc_loss takes log-probabilities: raw outputs give a loss that can be lowered without learning.

`ctc_loss` adds up what it is given as the logarithms of probabilities. Raw outputs are not normalised: making all of them
larger lowers the loss, below zero and without end, while the decoded text stays the same. Its gradient too is right only
behind a `log_softmax`.

Write `F.ctc_loss(F.log_softmax(logits, dim=-1), targets, input_lengths, target_lengths)`.
"""

ROWS = ()
SOURCES = ("https://github.com/gwx314/STARS/issues/9",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["shifted"] < bad["loss"] - 10
    assert abs(good["shifted"] - good["loss"]) < 0.01

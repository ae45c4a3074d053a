"""A vocabulary, scale or class number taken from each split means another thing in each.

`self.x = (x - x.mean(0)) / x.std(0)` or `self.vocab = {w: i for i, w in enumerate(sorted(set(words)))}` in `__init__` is computed anew for the
test set: the same measurement gets another value, word 17 is another word, class 2 another class. Nothing raises while the
sizes fit, and the test score is between poor and meaningless.

Compute it from the training data and hand it on: `train = Texts(train_rows)`, `test = Texts(test_rows, vocab=train.vocab)`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/keras-team/keras/issues/3245",
    "https://github.com/hkuedl/Lightweight-Federated-NILM/issues/2",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["same_word"] < 1
    assert good["same_word"] == 1

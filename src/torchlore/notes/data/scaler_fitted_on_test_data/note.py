"""Statistics for scaling come from the training data alone, never from `fit_transform(x_test)`.

`scaler.fit_transform(x_test)` centres the test set on itself. Whatever differs from training, a shift or another scale,
is removed before the model sees it: the score is of another problem, and one sample can no longer be predicted at all.
Fitting on everything before the split leaks the other way, from test to training.

Split first, fit on the training part, transform the rest: `scaler.fit(x_train)`, then `scaler.transform(x_test)`.
"""

ROWS = ()
SOURCES = ("https://scikit-learn.org/stable/common_pitfalls.html",)
TORCH = "2.11, 2.15"
NEEDS = ("sklearn",)
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["shift_seen"] < 0.01
    assert good["shift_seen"] > 2.0

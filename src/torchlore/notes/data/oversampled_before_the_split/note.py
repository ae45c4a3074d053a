"""Oversampling before the split puts copies of one sample into training and test.

`RandomOverSampler`, `SMOTE` or `resample(..., replace=True)` on all data repeats the rare class, or makes points between its members.
`train_test_split` then deals out the copies: what is tested was trained on, the recall of the rare class is near 1, and in
use it is not. The test set has lost its real share of classes as well.

Split first, then oversample the training part alone, or draw with `WeightedRandomSampler`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/georgymh/ml-fraud-detection/issues/1",
    "https://github.com/scikit-learn-contrib/imbalanced-learn/issues/751",
)
TORCH = "2.11, 2.15"
NEEDS = ("sklearn",)
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["trained_on"] > 0.9
    assert good["trained_on"] == 0

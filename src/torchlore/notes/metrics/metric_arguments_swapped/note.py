"""scikit-learn takes the truth first, torchmetrics the prediction: swapped, precision is recall.

Torch's losses and torchmetrics take the prediction first, scikit-learn the truth. Swapped, precision and recall change
places, the confusion matrix is transposed, R² divides by the variance of the predictions, and no shape is wrong.

Name them: `precision_score(y_true=labels, y_pred=predictions)`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/voyazici/orderless-rnn-classification/issues/5",
    "https://github.com/mit-ll-responsible-ai/equine/issues/174",
)
TORCH = "2.11, 2.15"
NEEDS = ("sklearn",)
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["precision"] == good["recall"] == 0.25
    assert bad["recall"] == good["precision"] == 1.0

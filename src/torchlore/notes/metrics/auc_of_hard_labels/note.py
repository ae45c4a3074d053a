"""The area under the ROC curve wants scores: of labels already decided it is something else.

`roc_auc_score` and `average_precision_score` move a threshold through the scores. Given `argmax` or `p > 0.5` there is only one
threshold left, and the area is the mean of sensitivity and specificity there: usually much lower, for a rare class close to 0.5,
and it changes with the threshold, which is what the area was meant to be free of.

```python
auc = roc_auc_score(labels, probabilities)
```

For two classes give the probability of the second, `probs[:, 1]`; for more, all of them with `multi_class="ovr"`.
"""

ROWS = ()
SOURCES = ("https://scikit-learn.org/stable/modules/generated/sklearn.metrics.roc_auc_score.html",)
TORCH = "2.11, 2.15"
NEEDS = ("sklearn",)
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["auc"] > 0.85
    assert bad["auc"] < good["auc"] - 0.1

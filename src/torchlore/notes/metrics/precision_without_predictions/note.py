"""A class that is never predicted has no precision: decide what 0 / 0 means, and keep the values.

Precision of a class is true positives over everything called that class. Early in training some class is never called,
and the loop of the notes divides 0 by 0: NaN, with a RuntimeWarning once, and every mean over it is NaN too. The same
loop writes into the same two names each turn, so only the last class's values survive.

Count once, in a confusion matrix, and say what an empty denominator gives:

```python
matrix = confusion_matrix(prediction, target, num_classes)  # torchlore.recipes.metrics
precision, recall, f1, support = precision_recall_f1(matrix, zero_division=0.0)
```
"""

ROWS = ("metrics-pr-loop",)
SOURCES = ("003:585-592",)
TORCH = "2.11, 2.15"
NEEDS = ("numpy",)


def claim() -> None:
    import warnings

    import numpy as np
    import torch

    from torchlore.recipes.metrics import confusion_matrix, precision_recall_f1

    target, prediction = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1])  # nothing is called 2
    by_hand = []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for c in range(3):
            hits = np.dot((target == c).astype(int), (prediction == c).astype(int))
            by_hand.append((hits / np.sum(prediction == c), hits / np.sum(target == c)))
    assert len(seen) == 1
    assert issubclass(seen[0].category, RuntimeWarning)
    assert np.isnan(by_hand[2][0])

    matrix = confusion_matrix(torch.from_numpy(prediction), torch.from_numpy(target), 3)
    precision, recall, _, support = precision_recall_f1(matrix)
    assert precision.tolist() == [1.0, 1 / 3, 0.0]
    assert recall.tolist() == [float(one[1]) for one in by_hand]
    assert support.tolist() == [2.0, 1.0, 1.0]

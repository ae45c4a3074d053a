"""The micro average of precision, recall and F1 is the accuracy, three times.

With one label a sample, every wrong answer is one false positive and one false negative, so micro precision, recall and
F1 all equal the accuracy: a row that adds nothing. What hides behind a good accuracy are rare classes, and the macro
average shows them: each class counts the same. `weighted` counts classes by their size.

Report accuracy and macro F1. Say what a class without predictions gives (`zero_division=0`), or scikit-learn warns. And
check that every label is below `num_classes`: with `labels=range(num_classes)` the others are dropped in silence.
"""

ROWS = ("metrics-sklearn-prf",)
SOURCES = ("003:619-622",)
TORCH = "2.11, 2.15"
NEEDS = ("sklearn",)


def claim() -> None:
    import torch
    from sklearn.metrics import precision_recall_fscore_support

    from torchlore.recipes.metrics import accuracy, confusion_matrix, precision_recall_f1

    target = torch.tensor([0] * 90 + [1] * 10)
    prediction = torch.tensor([0] * 98 + [1] * 2)  # the rare class is nearly never found
    share = float(accuracy(prediction, target))
    assert abs(share - 0.92) < 1e-6

    def sklearn(average: str, **how: object) -> tuple[float, ...]:
        return tuple(precision_recall_fscore_support(target, prediction, average=average, **how)[:3])

    assert all(abs(value - share) < 1e-6 for value in sklearn("micro"))
    macro = sklearn("macro")
    assert macro[2] < 0.7  # what the accuracy hides
    ours = precision_recall_f1(confusion_matrix(prediction, target, 2), "macro")
    assert all(abs(float(a) - b) < 1e-9 for a, b in zip(ours, macro, strict=False))

    cut = precision_recall_fscore_support([0, 1, 7], [0, 1, 7], average=None, labels=range(2))
    assert cut[3].sum() == 2  # the sample of class 7 is gone

"""In a confusion matrix the row is the truth and the column the prediction; check that it sums to N.

`C[i, j]` counts samples of class `i` that were called `j`: scikit-learn, torchmetrics and
`torchlore.recipes.metrics.confusion_matrix` agree. So the row of a class shows what it is taken for (recall), its
column what is taken for it (precision). Books that draw it the other way round are not wrong, only different.

With `labels=range(num_classes)` scikit-learn leaves out samples with a label outside that range, without a word: the
matrix then sums to less than N. The recipe raises instead. For large data count on the device (one `bincount`), not in
a loop over classes.
"""

ROWS = ("metrics-confusion",)
SOURCES = ("003:623-626",)
TORCH = "2.11, 2.15"
NEEDS = ("sklearn",)


def claim(device: str) -> None:
    import torch
    from sklearn.metrics import confusion_matrix as by_sklearn

    from torchlore.recipes.metrics import confusion_matrix

    assert by_sklearn([0], [1], labels=range(2)).tolist() == [[0, 1], [0, 0]]
    assert by_sklearn([0, 1, 7], [0, 1, 1], labels=range(2)).sum() == 2  # of three samples

    torch.manual_seed(0)
    target, prediction = torch.randint(0, 5, (2, 1000), device=device)
    ours = confusion_matrix(prediction, target, 5)
    assert int(ours.sum()) == 1000
    assert ours.tolist() == by_sklearn(target.cpu(), prediction.cpu()).tolist()
    try:
        confusion_matrix(prediction, target + 1, 5)
    except ValueError:
        pass
    else:
        raise AssertionError("a label outside the matrix vanished")

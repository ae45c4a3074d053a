"""Comparing (N,) predictions with (N, 1) labels counts N x N pairs: accuracies of 300 % are possible.

`(prediction == labels).sum() / N` is right when both have the shape (N,). With labels of shape (N, 1) the comparison
broadcasts to N x N; the sum is divided by N all the same, and the number looks like an accuracy as long as the classes
are many. An empty batch divides by zero, and a NaN among the scores wins the argmax.

Compare equal shapes: `labels.view(-1)` or `labels.squeeze(1)`, or use `torchlore.recipes.metrics.accuracy`, which
refuses anything else. Beware of torchmetrics' `MulticlassAccuracy`: its default is the macro average, the mean of the
classes' accuracies; `average="micro"` is the share of right answers.
"""

ROWS = ("metrics-accuracy-batch",)
SOURCES = ("003:484-490",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch

    from torchlore.notes.proof import error_of
    from torchlore.recipes.metrics import accuracy

    assert bad["accuracy"] > 1.0
    assert good["accuracy"] == 0.75

    scores, labels = torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([0, 0])
    assert float(accuracy(scores, labels)) == 0.5
    assert error_of(lambda: accuracy(scores, labels.unsqueeze(1))) == "ValueError"
    assert int(torch.tensor([1.0, float("nan"), 9.0]).argmax()) == 1

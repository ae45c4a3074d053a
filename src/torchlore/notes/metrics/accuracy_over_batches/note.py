"""A count of correct samples divided by `len(loader)`, the number of batches, is no accuracy.

`len(loader)` counts batches. The sum of `(prediction == labels)` counts samples. Their ratio is the accuracy times the
batch size: 16 instead of 1, or, with a small batch and a poor model, a number that looks like an accuracy.

Divide by samples: `len(loader.dataset)` where every sample is used once, or a count you keep yourself,
`seen += labels.size(0)`. The mean of the batches' accuracies is only right if all batches have one size.
"""

ROWS = ()
SOURCES = ("https://github.com/mlflow/mlflow-torchserve/pull/56",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["accuracy"] == 10.0
    assert good["accuracy"] == 1.0

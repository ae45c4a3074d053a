"""`x - x.max(dim=1)[0]` takes from each column what belongs to a row, wherever the table is square.

A reduction drops its dimension, and what is left is laid along the last one: of an (n, m) table `x.sum(dim=1)` is (n), and meets the
columns. Where n and m differ this raises. A table of scores of everybody with everybody is square, and so is a batch of n samples with n
classes: there nothing raises, row i is divided by the sum of column j's row, and the softmax, the InfoNCE or the row-normalised
matrix written by hand is another formula. With a batch of one it is right again, which hides it in a test.

Keep the dimension: `x - x.max(dim=1, keepdim=True).values`, `x / x.sum(dim=1, keepdim=True)`, or `[:, None]` behind it. The
lowest row, `dim=0`, needs none: it is laid along the columns anyway.
"""

ROWS = ()
SOURCES = ("https://github.com/AdaptiveMotorControlLab/CEBRA/issues/48",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch

    assert good["off"] < 1e-5
    assert bad["off"] > 0.1
    x = torch.rand(1, 5)
    torch.testing.assert_close(x / x.sum(dim=1), x / x.sum(dim=1, keepdim=True))  # a batch of one hides it

"""squeeze() without a dimension drops every dimension of size 1, the batch as well.

It works for months on batches of 32. Then the last batch of an epoch, or the first user of the deployed model, brings
one sample: (1, 1) becomes a number without dimensions, (1, 512, 1, 1) becomes (512,), and the next layer fails, or
takes 512 features for 512 samples.

Name the dimension: `x.squeeze(1)`, `x.squeeze(-1)`, `x.squeeze((-2, -1))`; `x.flatten(1)` after pooling. One-dimensional
tensors are best kept for labels: a loss or a comparison between (N,) and (N, 1) broadcasts to N x N. The mean squared
error of a perfect prediction is then not 0, and `(prediction == label).sum() / N` can report 300 %.
"""

from typing import Any

ROWS = ("tensor-1d",)
SOURCES = ("003:676",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import warnings

    import torch

    assert bad["shapes"] == [(4, 3), (4, 3), (3,)]  # the last batch holds one sample
    assert good["shapes"] == [(4, 3), (4, 3), (1, 3)]

    truth = torch.arange(4.0, device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.nn.functional.mse_loss(truth[:, None], truth).item() == 2.5  # a perfect prediction
    label = torch.tensor([1, 1, 1], device=device)
    assert (label == label[:, None]).sum().item() / 3 == 3.0  # 300 % accuracy

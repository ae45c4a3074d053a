"""An initialiser over the whole embedding fills the padding row too, which is never trained again.

`nn.Embedding(n, d, padding_idx=0)` starts with a row of zeros for the padding and gives it no gradient. `self.embedding.weight.data.uniform_(-0.5,
0.5)` or `nn.init.xavier_uniform_(self.embedding.weight)` afterwards writes random numbers into that row, and there they stay:
each padded position adds the same noise to a sum or a mean, and the prediction changes with the length of the batch.

Write zeros again: `with torch.no_grad(): self.embedding.weight[self.embedding.padding_idx].zero_()`.
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/6411", "https://github.com/microsoft/Graphormer/issues/41")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["changed_by_padding"] > 0.1
    assert good["changed_by_padding"] == 0

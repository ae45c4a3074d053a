"""A weight of `torch.randn(n_in, n_out)` multiplies the signal by the root of n_in.

Each output adds up n_in products of unit variance, so its spread is sqrt(n_in), and the next layer does it again. Three layers of 256
make the logits thousands: the first losses are huge, softmax and tanh saturate, and the optimizer spends its steps on
shrinking the weights. `torch.rand` is worse, all weights are positive. nn.Linear divides by sqrt(n_in) for you.

`nn.init.normal_(m.weight, 0.02)` is a spread of 1 too: a number alone is the mean. And the scale of a batch norm belongs
around 1: drawn around 0, each norm takes the signal away and lets through a few hundredths of it.

Scale it, `nn.Parameter(torch.randn(n_in, n_out) / n_in**0.5)`, or call `nn.init.xavier_uniform_(self.weight)` in `__init__`; name the
spread, `nn.init.normal_(m.weight, std=0.02)`.
"""

ROWS = ()
SOURCES = ("https://github.com/torch/nn/issues/449", "https://github.com/OpenMined/PySyft/pull/737")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["spread"] > 1000
    assert good["spread"] < 10

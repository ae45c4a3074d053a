"""A tensor with `requires_grad=True` is no parameter: no module registers it, no optimizer gets it.

`self.scale = torch.ones(n, requires_grad=True)` collects gradients like a weight. But `parameters()`, `state_dict()` and `.to()` know
only `nn.Parameter` and buffers: the optimizer never moves it, the checkpoint does not hold it, and it stays on the CPU. The same
goes for weights that are drawn into a bare tensor: `self.w = nn.init.xavier_uniform_(torch.empty(n, n))` has no gradient at all.

Write `self.scale = nn.Parameter(torch.ones(n))`.
"""

ROWS = ()
SOURCES = ("https://github.com/automan000/Convolutional_LSTM_PyTorch/issues/17",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["parameters"] == 2
    assert good["parameters"] == 3

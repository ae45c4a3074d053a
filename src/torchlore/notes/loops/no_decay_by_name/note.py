"""Choosing what weight decay spares by comparing names misses most of it; choose by `p.ndim`.

Weight decay should pull weight matrices, not biases and the scales of norms. Names are a poor test for that. A test by
equality (`name in ["bias", "LayerNorm.weight"]`) compares with the full path: `layers.0.norm.bias` is not in the list,
so nothing is spared. A test by suffix (`name[-4:] == "bias"`) misses `bias_ih_l0` of an LSTM, hits `unbias`, and leaves
the weight of every batch norm in the decayed group.

Test the shape: everything with one dimension is a bias or a scale. `torchlore.recipes.optim` builds the groups:

```python
decay = [p for p in model.parameters() if p.ndim > 1]
spared = [p for p in model.parameters() if p.ndim <= 1]
optimizer = torch.optim.AdamW([{"params": decay}, {"params": spared, "weight_decay": 0.0}], lr=1e-3)
```

Use AdamW: in Adam `weight_decay` is added to the gradient and divided by its size like the rest of it.
"""

ROWS = ("train-weight-decay",)
SOURCES = ("003:472-479", "https://github.com/namisan/mt-dnn/pull/37")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import torch
    from torch import nn

    assert bad["spared"] == []
    assert good["spared"] == ["0.bias", "1.bias", "1.weight", "3.bias"]

    model = nn.ModuleDict({"rnn": nn.LSTM(2, 2), "norm": nn.BatchNorm1d(2)})
    by_suffix = {name for name, _ in model.named_parameters() if name[-4:] == "bias"}
    assert by_suffix == {"norm.bias"}  # not the LSTM's four, and not norm.weight
    by_shape = {name for name, p in model.named_parameters() if p.ndim <= 1}
    assert by_shape == {"norm.bias", "norm.weight", "rnn.bias_ih_l0", "rnn.bias_hh_l0"}

    def after_one_step(kind: type[torch.optim.Optimizer]) -> float:
        weight = nn.Parameter(torch.ones(1))
        optimizer = kind([weight], lr=0.1, weight_decay=0.1)  # type: ignore[call-arg]  # both take them
        weight.grad = torch.zeros(1)
        optimizer.step()
        return round(float(weight), 3)

    assert after_one_step(torch.optim.Adam) == 0.9  # a full step of lr, whatever the decay
    assert after_one_step(torch.optim.AdamW) == 0.99

"""Choosing what weight decay spares by comparing names misses most of it; choose by `p.ndim`.

Weight decay should pull weight matrices, not biases and the scales of norms. Names are a poor test for that. A test by
equality (`name in ["bias", "LayerNorm.weight"]`) compares with the full path: `layers.0.norm.bias` is not in the list,
so nothing is spared. A test by suffix (`name[-4:] == "bias"`) misses `bias_ih_l0` of an LSTM, hits `unbias`, and leaves
the weight of every batch norm in the decayed group.

Test the shape: what has one dimension is a bias or a scale (`p.ndim <= 1`). The recipe builds the groups:
`torch.optim.AdamW(torchlore.recipes.optim.decay_groups(model, weight_decay=0.05), lr=1e-3)`.

Use AdamW: in Adam `weight_decay` is added to the gradient and divided by its size like the rest of it.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

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

    weight = nn.Parameter(torch.ones(1))
    for kind, left in ((torch.optim.Adam, 0.9), (torch.optim.AdamW, 0.99)):  # Adam's decay is a full step of lr
        weight.data, weight.grad = torch.ones(1), torch.zeros(1)
        kind([weight], lr=0.1, weight_decay=0.1).step()
        assert abs(weight.item() - left) < 1e-3


def watch(call: Annotated[Call, "Optimizer"]) -> Alarm | None:
    groups = getattr(call.owner, "param_groups", [])
    if all(one["params"] or one.get("weight_decay") != 0 for one in groups) or not any(
        one["params"] and one.get("weight_decay") for one in groups
    ):
        return None
    return Alarm(
        "the group without weight decay holds no parameter: its name test matches nothing; choose by `p.ndim <= 1`"
    )

"""An optimizer's groups are dicts with the key "params"; any other name for it is a KeyError.

`torch.optim.SGD([{"parameters": biases, "weight_decay": 0}])` stops with `KeyError: 'params'`, which does not say that
your key is the problem. A misspelt option beside it is worse: `{"params": p, "learning_rate": 1e-3}` is accepted, the
key is kept and never read, and the group trains at the default rate. Handing over `model.parameters` without the call
is a TypeError.

Write `"params"`, and name options as the optimizer's constructor does: `lr`, `weight_decay`, `momentum`, `betas`.
"""

ROWS = ("train-weight-decay",)
SOURCES = ("003:472-479", "https://github.com/lucidrains/stylegan2-pytorch")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    assert bad["head_lr"] == 0.1  # the rate of the call: the misspelt one is never read
    assert good["head_lr"] == 0.01
    model = nn.Linear(2, 2)
    try:
        torch.optim.SGD([{"parameters": model.parameters()}], lr=0.1)
    except KeyError as error:
        assert error.args == ("params",)  # noqa: PT017 - a claim runs without pytest
    else:
        raise AssertionError("a group without params was accepted")

"""`F.dropout(x)` drops in evaluation too: its `training` flag is True unless you say otherwise.

The function does not know the module it is called from. Without `training=self.training` half of the activations are
set to zero at every call, also after `model.eval()`: two predictions of the same image differ, and the accuracy you
report is that of a damaged network.

```python
x = F.dropout(x, p=0.5, training=self.training)
```

Or make it a layer, `self.drop = nn.Dropout(0.5)`, which follows `train()` and `eval()` by itself. `F.dropout1d`, `2d` and
`3d` have the same default; `F.alpha_dropout` is the other way round and never drops unless told. And
`F.scaled_dot_product_attention(..., dropout_p=0.1)` has no flag at all: pass `dropout_p=0.1 if self.training else 0.0`.

If you want dropout at test time (Monte Carlo dropout), write `training=True`: then the reader knows.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ("module-functional-dropout",)
SOURCES = ("003:657-660",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import inspect

    import torch
    from torch.nn import functional as F

    assert bad["difference"] > 0.1
    assert good["difference"] == 0
    dropped = F.dropout(torch.ones(100_000), p=0.5)
    assert 0.49 < (dropped == 0).float().mean() < 0.51
    assert not (F.dropout(torch.ones(1000), p=0.5, training=False) == 0).any()
    for function in (F.dropout, F.dropout1d, F.dropout2d, F.dropout3d):
        assert inspect.signature(function).parameters["training"].default is True
    assert torch.equal(F.alpha_dropout(torch.ones(1000)), torch.ones(1000))  # off unless told
    query = torch.randn(1, 1, 8, 4)
    once, again = (F.scaled_dot_product_attention(query, query, query, dropout_p=0.5) for _ in range(2))
    assert not torch.equal(once, again)


def watch(
    call: Annotated[Call, "dropout", "dropout1d", "dropout2d", "dropout3d", "scaled_dot_product_attention"],
) -> Alarm | None:
    attends = call.name == "scaled_dot_product_attention"
    on = call.argument(4, "dropout_p", 0.0) > 0 if attends else call.argument(1, "p", 0.5) > 0
    asked = not attends and ("training" in call.kwargs or len(call.args) > 2)
    if not on or asked or not call.modules or any(module.training for module in call.modules):
        return None
    instead = "dropout_p=p if self.training else 0.0" if attends else "training=self.training"
    return Alarm(
        f"`F.{call.name}` drops although the model is in eval mode; give it `{instead}`",
        evidence=f"called in {type(call.modules[-1]).__name__}",
    )

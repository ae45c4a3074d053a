"""The usual init loop misses kinds of layers, breaks on bare BatchNorm, and picks Xavier for ReLU.

The loop with Kaiming for `Conv2d`, 1 and 0 for `BatchNorm2d` and Xavier for `Linear` runs on a ResNet. Elsewhere:
`BatchNorm2d(affine=False)` has no weight and raises; `Conv1d`, `Conv3d`, transposed convolutions, `BatchNorm1d` and
`GroupNorm` are passed over; `mode="fan_out"` takes no account of groups, so a depthwise kernel starts far too small; lazy
layers have no shape yet. And Xavier is made for tanh: through twenty ReLU layers the signal shrinks to nothing, where
Kaiming keeps it.

```python
def init(module):
    if isinstance(module, (nn.Linear, nn.modules.conv._ConvNd)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        if module.bias is not None:
            nn.init.zeros_(module.bias)
model.apply(init)
```

`torchlore.recipes.init.init_model_` covers all of these and reports what no rule covers. Norm layers start at 1 and 0 by themselves. Look at the result: the standard deviation of each layer's output on one batch.
"""

ROWS = ("init-loop",)
SOURCES = ("003:239-254",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import error_of
    from torchlore.recipes.init import init_model_

    def literal(model: nn.Module) -> None:
        for layer in model.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(layer, nn.BatchNorm2d):
                nn.init.constant_(layer.weight, 1.0)
            elif isinstance(layer, nn.Linear):
                nn.init.xavier_normal_(layer.weight)

    literal(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4, 2)))
    assert error_of(lambda: literal(nn.BatchNorm2d(4, affine=False))) == "AttributeError"
    assert error_of(lambda: literal(nn.LazyConv2d(4, 3))) != ""
    init_model_(nn.BatchNorm2d(4, affine=False))  # the recipe takes it
    untouched = nn.Conv1d(3, 4, 3)
    before = untouched.weight.detach().clone()
    literal(untouched)
    assert torch.equal(untouched.weight, before)
    init_model_(untouched)
    assert not torch.equal(untouched.weight, before)

    depthwise = nn.Conv2d(64, 64, 3, groups=64, device=device)
    literal(depthwise)
    assert float(depthwise.weight.detach().std()) < 0.08  # fan_out taken as 576; with 9 it would be 0.47
    init_model_(depthwise)
    assert float(depthwise.weight.detach().std()) > 0.3

    def spread(init_: str) -> float:
        x = torch.randn(256, 128, device=device)
        for _ in range(20):
            layer = nn.Linear(128, 128, bias=False, device=device)
            if init_ == "xavier":
                nn.init.xavier_normal_(layer.weight)
            else:
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            x = layer(x).relu().detach()
        return float(x.std())

    assert spread("xavier") < 0.01
    assert spread("kaiming") > 0.1

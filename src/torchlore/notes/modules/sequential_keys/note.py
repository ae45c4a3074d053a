"""The names in `nn.Sequential` are numbers or those of an OrderedDict, and become checkpoint keys.

`nn.Sequential(conv, relu)` names its parts "0" and "1", so that the weights are saved as `0.weight`. An `OrderedDict`
gives names of your own: `conv1.weight`. With numbers, a layer put in the middle renames all that follow, and an old
checkpoint no longer fits; names stay.

```python
model = nn.Sequential(OrderedDict(conv1=nn.Conv2d(1, 20, 5), relu1=nn.ReLU()))
model.conv1, model[0]  # the same module
```

A plain dict is refused. The output of each module is the only input of the next one: for skips, several inputs or
several outputs write a `forward`.
"""

ROWS = ("module-sequential",)
SOURCES = ("004:65-83",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    from collections import OrderedDict

    import torch
    from torch import nn

    from torchlore.notes.proof import error_of

    numbered = nn.Sequential(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.Conv2d(20, 64, 5), nn.ReLU()).to(device)
    named = nn.Sequential(
        OrderedDict(conv1=nn.Conv2d(1, 20, 5), relu1=nn.ReLU(), conv2=nn.Conv2d(20, 64, 5), relu2=nn.ReLU())
    ).to(device)
    assert list(numbered.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert list(named.state_dict()) == ["conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias"]
    assert named.conv1 is named[0]
    named.load_state_dict(dict(zip(named.state_dict(), numbered.state_dict().values(), strict=True)))
    x = torch.randn(2, 1, 12, 12, device=device)
    assert torch.equal(numbered(x), named(x))
    plain = {"conv1": nn.Conv2d(1, 20, 5)}
    assert error_of(lambda: nn.Sequential(plain)) == "TypeError"  # type: ignore[call-overload]  # the wrong form is the point
    longer = nn.Sequential(numbered[0], nn.BatchNorm2d(20), *list(numbered)[1:])
    assert error_of(lambda: longer.load_state_dict(numbered.state_dict())) == "RuntimeError"

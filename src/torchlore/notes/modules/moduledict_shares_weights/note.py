"""`nn.ModuleDict(model.named_children())` shares the layers with the model; it does not copy them.

The dictionary registers the very same modules under their old names. Training one trains the other, and `eval()` on
one switches the other. That is a fine way to regroup a network, and a bad way to copy it.

For weights of its own, copy first:

```python
self.base = nn.ModuleDict(copy.deepcopy(dict(model.named_children())))
```

Keys must be strings without a dot, and must not be the name of a method of the dictionary itself, such as `keys` or
`items`.
"""

ROWS = ("module-moduledict",)
SOURCES = ("004:90-97",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    import copy

    import torch
    from torch import nn

    from torchlore.notes.proof import error_of

    first = nn.Linear(2, 2)
    source = nn.Sequential(first, nn.Linear(2, 1))
    shared = nn.ModuleDict(source.named_children())  # type: ignore[arg-type]  # an iterator of pairs is fine
    copied = nn.ModuleDict(copy.deepcopy(dict(source.named_children())))
    assert shared["0"] is first
    assert copied["0"] is not first
    with torch.no_grad():
        first.weight.fill_(7)
    assert (shared["0"].get_parameter("weight") == 7).all()
    assert not (copied["0"].get_parameter("weight") == 7).any()
    for key in ("a.b", "keys"):
        assert error_of(lambda key=key: nn.ModuleDict({key: nn.ReLU()})) == "KeyError"  # type: ignore[misc]  # bound now
    assert error_of(lambda: nn.ModuleDict({1: nn.ReLU()})) == "TypeError"  # type: ignore[dict-item]  # the point

"""Summing `numel()` over `parameters()` counts tied weights once and frozen ones too.

`sum(p.numel() for p in model.parameters())` is right for "how many numbers does this model learn or hold", if you know
what is in it: a weight used twice counts once, frozen parameters count, buffers such as BatchNorm's statistics do not.
Counting the entries of `state_dict()` counts a shared layer once for each of its names, and buffers too. A lazy layer
has no size before its first forward pass and raises.

```python
total = sum(p.numel() for p in model.parameters())
trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
```

The old `torchsummary` package counts by hooks at each call, so a layer used three times counts three times, and it fails
on layers that return a tuple, such as `nn.LSTM`. `torchinfo.summary` does neither.
"""

ROWS = ("module-numel", "module-summary")
SOURCES = ("003:234-237", "003:238")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import error_of
    from torchlore.recipes import profile

    def count(module: nn.Module) -> int:
        return sum(p.numel() for p in module.parameters())

    shared = nn.Linear(2, 2)
    tied = nn.Sequential(shared, nn.ReLU(), shared)
    assert count(tied) == 6
    assert sum(t.numel() for t in tied.state_dict().values()) == 12
    assert count(tied.requires_grad_(False)) == 6
    assert count(nn.BatchNorm1d(5)) == 10
    assert sum(t.numel() for t in nn.BatchNorm1d(5).state_dict().values()) == 21
    assert error_of(lambda: count(nn.LazyLinear(3))) == "ValueError"

    # counting at each call, as torchsummary does
    class Thrice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.fc(self.fc(self.fc(x)))  # type: ignore[no-any-return]  # a module call is Any

    model, seen = Thrice(), []
    model.fc.register_forward_hook(lambda module, _inputs, _output: seen.append(count(module)))
    model(torch.ones(1, 4))
    assert (sum(seen), count(model)) == (60, 20)
    assert profile.summary(model, torch.ones(1, 4)).parameters == 20
    assert profile.summary(tied, torch.ones(1, 2)).parameters == 6
    assert isinstance(nn.LSTM(2, 3)(torch.ones(5, 1, 2)), tuple)

"""A plain tensor on `self` is not part of the module: it is not moved, not saved, not trained.

Only two kinds of tensor belong to a module: parameters and buffers. `self.mean = torch.zeros(3)` is neither. `.to(device)`
leaves it where it was, so the first forward pass on a GPU fails; `.half()` leaves its dtype, which promotes everything
back; and `state_dict()` does not hold it, so statistics gathered in training are gone after loading.

```python
self.register_buffer("mean", torch.zeros(3))                    # state: moved and saved
self.register_buffer("grid", make_grid(), persistent=False)     # a constant: moved, not saved
self.scale = nn.Parameter(torch.ones(3))                        # learned
```

In the step that updates it, write into the buffer (`self.mean.lerp_(new, 0.1)`, under `no_grad`). Assigning a plain tensor
over a parameter is refused, over a buffer it is accepted.
"""

ROWS = ("module-parameter",)
SOURCES = ("004:100-102",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import error_of

    assert bad["error_after_loading"] > 1
    assert good["error_after_loading"] < 1e-6
    assert str(bad["dtype"]) == "torch.float32"  # the module was moved to float64
    assert str(good["dtype"]) == "torch.float64"

    layer = nn.Linear(2, 2)
    layer.scaled = nn.Parameter(torch.ones(2)) * 1
    assert sorted(name for name, _ in layer.named_parameters()) == ["bias", "weight"]
    assert error_of(lambda: setattr(layer, "weight", torch.ones(2, 2))) == "TypeError"
    layer.extra = nn.Parameter(torch.ones(2))
    assert len(list(layer.parameters())) == 3

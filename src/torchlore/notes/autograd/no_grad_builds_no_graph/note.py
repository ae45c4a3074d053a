"""Under `torch.no_grad()` nothing is recorded: no saved activations, and no backward later.

Recording keeps every activation that the backward pass will need. Under `no_grad` none is kept, which is where the
memory of inference goes down. A loss computed inside cannot be sent backward. What was recorded before can:
`backward()` of an older graph works even inside the block.

The switch belongs to the thread: a new thread starts with gradients on. Parameters made inside still require a
gradient, because `nn.Parameter` says so itself.

```python
with torch.inference_mode():  # the stronger form
    scores = model(images)
```

`inference_mode` is faster still, but its tensors can never take part in a recorded computation again. Where a result
is used in training later, write `no_grad`. Neither switches dropout or BatchNorm: that is `model.eval()`.
"""

ROWS = ("autograd-no-grad",)
SOURCES = ("001:74", "003:662-664", "004:5-13")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import threading

    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
    x = torch.randn(3, 4, device=device)
    kept: list[torch.Tensor] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        return tensor

    def refuses(loss: torch.Tensor) -> bool:
        try:
            loss.backward()
        except RuntimeError:
            return True
        return False

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        older = model(x).sum()
        assert kept
        kept.clear()
        with torch.no_grad():
            silent = model(x).sum()
    assert not kept
    assert refuses(silent)

    seen: list[bool] = []
    with torch.no_grad():
        older.backward()
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
        assert nn.Parameter(torch.ones(1)).requires_grad
    assert seen == [True]
    assert model[0].weight.grad is not None

    with torch.inference_mode():
        features = model[0](x)
    try:
        model[2](features)
    except RuntimeError:
        pass
    else:
        raise AssertionError("a tensor from inference_mode was recorded")
    with torch.no_grad():
        features = model[0](x)
    assert model[2](features).requires_grad

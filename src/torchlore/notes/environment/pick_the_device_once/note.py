"""Pick the device once at the top, then send the model and every batch there.

`"cuda:0" if torch.cuda.is_available() else "cpu"` ties the script to one card and one vendor. The accelerator
interface asks for whatever this machine has, but only with `check_available=True`: without it, a CUDA build answers
"cuda" on a machine that has no GPU, and the first `.to(device)` fails.

```python
from torchlore.recipes.device import best_device

device = best_device()          # cuda, mps, xpu or cpu: what is there and works
model.to(device)                # a module moves in place
batch = batch.to(device)        # a tensor must be assigned
```
"""

ROWS = ("env-device-idiom",)
SOURCES = ("001:4-9", "001:26-32")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch import nn

    from torchlore.recipes.device import best_device, move

    found = best_device()
    assert torch.ones(2, device=found).sum().item() == 2
    if device == "cuda":
        assert found.type == "cuda"
    if not torch.cuda.is_available() and torch.backends.cuda.is_built():
        unchecked = torch.accelerator.current_accelerator()
        assert unchecked is not None
        assert unchecked.type == "cuda"  # named, but not there

    model = nn.Linear(2, 1)
    assert model.to(device) is model  # the module itself moved
    assert {p.device.type for p in model.parameters()} == {device}
    data = torch.ones(3, 2)
    assert data.to("meta") is not data  # a tensor that moves is a new one
    assert model(move({"x": data}, device)["x"]).shape == (3, 1)  # whole batches too

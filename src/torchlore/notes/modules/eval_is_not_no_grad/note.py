"""`model.eval()` changes how layers behave; `torch.no_grad()` stops recording. Evaluation needs both.

`eval()` makes dropout pass everything and BatchNorm use its running statistics, but the forward pass is still recorded
and uses the memory of training. `no_grad()` records nothing, but in train mode dropout still drops, and BatchNorm still
normalises with the batch and moves its running statistics: evaluating changes the model.

```python
model.eval()
with torch.inference_mode():
    scores = model(images)
model.train()
```

`train()` and `eval()` reach every layer inside: a later `model.train()` also undoes the `eval()` of a frozen part.
"""

ROWS = ("module-train-eval",)
SOURCES = ("003:661-664",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch import nn

    norm = nn.BatchNorm1d(8)
    model = nn.Sequential(nn.Linear(4, 8), norm, nn.Dropout(0.5)).to(device)
    x = torch.randn(16, 4, device=device)

    model.eval()
    assert model(x).requires_grad  # still recorded
    assert torch.equal(model(x), model(x))
    assert int(norm.get_buffer("num_batches_tracked")) == 0

    model.train()
    with torch.no_grad():
        assert not torch.equal(model(x), model(x))
    assert int(norm.get_buffer("num_batches_tracked")) == 2  # moved without a gradient

    norm.eval()
    model.train()
    assert norm.training

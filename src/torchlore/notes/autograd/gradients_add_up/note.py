"""Gradients of several backward calls add up; scaled by n/N they equal one large batch.

`backward()` adds to `.grad`, it never replaces it. Two half batches with a mean loss leave twice the gradient of the
whole batch, so "the same as a larger batch" is true only after scaling: a step with the unscaled sum is a step at twice
the learning rate.

Divide by the number of samples, not by the number of micro-batches:

```python
optimizer.zero_grad()
for x, y in micro_batches:  # N samples in all
    (loss_fn(model(x), y) * len(x) / N).backward()
optimizer.step()
```

Dividing each mean by `k` is exact only if all `k` micro-batches have the same size; the short last one gets too much
weight. And BatchNorm still sees the small batches: its statistics are not those of the large one, whatever the scaling.
"""

ROWS = ("autograd-accumulate",)
SOURCES = ("001:11", "003:666")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch import nn

    x, y = torch.randn(8, 5, device=device), torch.randn(8, 3, device=device)
    model = nn.Linear(5, 3, device=device)

    def gradient(sizes: list[int], scale: str) -> torch.Tensor:
        model.zero_grad()
        for part, want in zip(x.split(sizes), y.split(sizes), strict=True):
            loss = nn.functional.mse_loss(model(part), want)
            factor = {"none": 1.0, "count": 1 / len(sizes), "samples": len(part) / len(x)}[scale]
            (loss * factor).backward()
        assert model.weight.grad is not None
        return model.weight.grad.clone()

    whole = gradient([8], "none")
    assert torch.allclose(gradient([4, 4], "none"), 2 * whole, atol=1e-5)
    assert torch.allclose(gradient([4, 4], "count"), whole, atol=1e-5)
    assert torch.allclose(gradient([3, 3, 2], "samples"), whole, atol=1e-5)
    assert not torch.allclose(gradient([3, 3, 2], "count"), whole, atol=1e-3)

    large, small = nn.BatchNorm1d(5, device=device), nn.BatchNorm1d(5, device=device)
    large(x)
    for part in x.split(4):
        small(part)
    assert large.running_mean is not None
    assert small.running_mean is not None
    assert not torch.allclose(large.running_mean, small.running_mean)

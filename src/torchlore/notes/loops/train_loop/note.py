"""A training step is: zero the gradients, forward, loss, backward, step; and `model.train()` before.

`zero_grad` may stand anywhere but between `backward` and `step`: before the forward, before the backward and after the
step give the same weights to the last bit. Between the two it throws the gradient away, and nothing is learned,
silently. The listing of the notes also lacks `model.train()`: after the first validation the loop would train in eval
mode.

```python
for epoch in range(80):
    model.train()
    for images, labels in loader:
        images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = loss_function(model(images), labels)
        loss.backward()
        optimizer.step()
    scheduler.step()
```

With clipping it goes between `backward` and `step`; with a scaler, `unscale_` comes before the clipping.
"""

ROWS = ("train-loop",)
SOURCES = ("003:417-427",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch import nn

    def train(where: str) -> torch.Tensor:
        torch.manual_seed(0)
        model = nn.Linear(4, 3).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        x, y = torch.randn(8, 4).to(device), torch.arange(8, device=device) % 3
        for _ in range(5):
            if where == "before forward":
                optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            if where == "before backward":
                optimizer.zero_grad()
            loss.backward()
            if where == "between":
                optimizer.zero_grad()
            optimizer.step()
            if where == "after step":
                optimizer.zero_grad()
        return model.weight.detach()

    reference = train("before forward")
    assert torch.equal(train("before backward"), reference)
    assert torch.equal(train("after step"), reference)
    torch.manual_seed(0)
    start = nn.Linear(4, 3).weight.detach().to(device)
    assert torch.equal(train("between"), start)  # nothing was learned
    assert not torch.equal(reference, start)

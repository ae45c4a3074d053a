"""A new head takes its width from the old one, and a frozen backbone still moves in train mode.

`model.fc = nn.Linear(512, 100)` fits ResNet-18 and 34; on a ResNet-50 it stops at the first batch, because the feature
has 2048 values there. Read the width: `nn.Linear(model.fc.in_features, 100)`. Replace the head before the optimizer is
built, or the optimizer trains the layer you threw away.

`requires_grad = False` freezes parameters, not batch norm's running statistics: in train mode every batch still moves
them, and the "frozen" backbone drifts to the new data. Put the frozen part into eval mode after each `model.train()`:

```python
model.requires_grad_(False)
model.fc = nn.Linear(model.fc.in_features, classes)
optimizer = torch.optim.SGD(model.fc.parameters(), lr=1e-2, momentum=0.9)
model.eval()  # the backbone's batch norm
model.fc.train()
```
"""

ROWS = ("transfer-finetune-head",)
SOURCES = ("003:380-387",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)


def claim() -> None:
    import torch
    from torch import nn
    from torchvision.models import resnet18, resnet50

    torch.manual_seed(0)
    with torch.device("meta"):
        assert resnet18().fc.in_features == 512
        large = resnet50()
        large.fc = nn.Linear(512, 100)
        x = torch.zeros(2, 3, 64, 64)
    try:
        large(x)
    except RuntimeError:
        pass
    else:
        raise AssertionError("a head of 512 took a feature of 2048")

    model = resnet18(weights=None)
    model.requires_grad_(False)
    model.fc = nn.Linear(model.fc.in_features, 10)
    images, labels = torch.randn(4, 3, 32, 32) + 3, torch.tensor([0, 1, 2, 3])
    optimizer = torch.optim.SGD(model.fc.parameters(), lr=1e-2)

    def step() -> tuple[float, float]:
        """How far the backbone's statistics and the head moved in one step."""
        mean, head = model.bn1.running_mean.clone(), model.fc.weight.detach().clone()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        return (model.bn1.running_mean - mean).abs().max().item(), (model.fc.weight - head).abs().max().item()

    model.train()
    moved, learned = step()
    assert moved > 0
    assert learned > 0
    assert [name for name, p in model.named_parameters() if p.grad is not None] == ["fc.weight", "fc.bias"]
    model.eval()
    model.fc.train()
    moved, learned = step()
    assert moved == 0
    assert learned > 0

"""Two learning rates need two lists that share no parameter, and generators are used up once.

To train a pretrained backbone slowly and its new head fast, give the optimizer two groups. A parameter in both is a
`ValueError`; a parameter in neither is silence, it is just never trained. Filtering by `id` works, but a generator
expression can be read once: whoever looks at it afterwards (a count, a clip, a second optimizer) sees nothing.

Make lists, by name, and check that they add up; `torchlore.recipes.optim.finetune_groups(model, "fc", ...)` does both:

```python
head = [p for name, p in model.named_parameters() if name.startswith("fc.")]
body = [p for name, p in model.named_parameters() if not name.startswith("fc.")]
assert len(head) + len(body) == len(list(model.parameters()))
optimizer = torch.optim.SGD([{"params": body, "lr": 1e-3}, {"params": head}], lr=1e-2, momentum=0.9)
```
"""

ROWS = ("transfer-lr-groups",)
SOURCES = ("003:388-396",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)


def claim() -> None:
    import torch
    from torchvision.models import resnet18

    with torch.device("meta"):
        model = resnet18(weights=None)
    head = list(map(id, model.fc.parameters()))
    body = (p for p in model.parameters() if id(p) not in head)
    optimizer = torch.optim.SGD([{"params": body, "lr": 1e-3}, {"params": model.fc.parameters()}], lr=1e-2)
    assert [(len(g["params"]), g["lr"]) for g in optimizer.param_groups] == [(60, 1e-3), (2, 1e-2)]
    assert list(body) == []  # spent

    from torchlore.recipes.optim import finetune_groups

    groups = finetune_groups(model, "fc", lr=1e-2, backbone_lr=1e-3)
    assert sorted((group["lr"], len(group["params"])) for group in groups) == [(1e-3, 60), (1e-2, 2)]
    named = [p for name, p in model.named_parameters() if not name.startswith("fc.")]
    assert len(named) == 60
    assert len(list(model.parameters())) == 62
    try:
        torch.optim.SGD([{"params": model.parameters()}, {"params": model.fc.parameters()}], lr=1e-2)
    except ValueError:
        pass
    else:
        raise AssertionError("a parameter stood in two groups")

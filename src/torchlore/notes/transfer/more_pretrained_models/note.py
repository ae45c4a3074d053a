"""For pretrained networks beyond torchvision's, use timm; pretrained-models.pytorch is history.

The notes point to Cadene's `pretrained-models.pytorch`. It has not been kept since 2020: its constructors still build
under today's torch, but its weights lie on servers that nobody promises.

timm carries over a thousand image models with weights, one interface for all of them: `num_classes=0` gives the pooled
feature, `features_only=True` the maps of every stage, and `timm.data.resolve_data_config` the preprocessing that belongs
to the weights.

```python
model = timm.create_model("resnet18", pretrained=True, num_classes=10)
```
"""

ROWS = ("transfer-other",)
SOURCES = ("003:379",)
TORCH = "2.11, 2.15"
NEEDS = ("timm",)


def claim() -> None:
    import timm
    import torch
    from timm.data.config import resolve_data_config

    assert len(timm.list_models()) > 1000
    pooled = timm.create_model("resnet18", pretrained=False, num_classes=0).eval()
    stages = timm.create_model("resnet18", pretrained=False, features_only=True).eval()
    x = torch.zeros(1, 3, 64, 64)
    with torch.no_grad():
        assert pooled(x).shape == (1, 512)
        assert [tuple(stage.shape[1:]) for stage in stages(x)] == [
            (64, 32, 32),
            (64, 16, 16),
            (128, 8, 8),
            (256, 4, 4),
            (512, 2, 2),
        ]
    assert resolve_data_config({}, model=pooled)["input_size"] == (3, 224, 224)

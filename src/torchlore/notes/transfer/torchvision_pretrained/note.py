"""`pretrained=True` is deprecated and means the oldest weights.

torchvision replaced the flag in 0.13 by `weights=`. The flag still works, with two warnings, and stands for
`IMAGENET1K_V1`; for ResNet-50 and many others `DEFAULT` is a newer set, more accurate and with another preprocessing.
So the flag hides which network you have, and its removal has been announced.

Name the weights, and take the transforms from the same name:

```python
from torchvision.models import ResNet50_Weights, resnet50
weights = ResNet50_Weights.IMAGENET1K_V2
model, preprocess = resnet50(weights=weights), weights.transforms()
```

A string works too and needs no import: `resnet50(weights="IMAGENET1K_V1")` is what `pretrained=True` meant, and
`weights=None` is `pretrained=False`.
"""

ROWS = ("transfer-pretrained-flag",)
SOURCES = ("003:331-338", "003:357", "003:382", "003:390")
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)
SEVERITY = "hint"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    from torchvision.models import ResNet18_Weights, ResNet50_Weights, ResNet152_Weights

    assert bad["warnings"] == 2
    assert good["warnings"] == 0
    assert bad["outputs"] == good["outputs"]
    assert ResNet50_Weights.DEFAULT is ResNet50_Weights.IMAGENET1K_V2
    assert ResNet152_Weights.DEFAULT is ResNet152_Weights.IMAGENET1K_V2
    assert ResNet18_Weights.DEFAULT is ResNet18_Weights.IMAGENET1K_V1

"""The children of a model are not its forward: `Sequential(*children()[:-1])` works for few models.

A module's children are what `__init__` registered, in that order. What happens between them is written in `forward`:
functional calls, flattening, branches. For torchvision's ResNets the trick of cutting the last child gives the pooled
feature (as N x 512 x 1 x 1, with the weights shared, not copied). For DenseNet it runs and is wrong: the ReLU and the
pooling before the classifier live in `forward`, so you get unpooled maps with negative values. Inception, GoogLeNet and
ViT stop somewhere inside.

Replace the head (`model.fc = nn.Identity()`, `model.classifier = nn.Identity()`), which keeps the forward as it is, or
ask for a node by name: `create_feature_extractor(model, {"flatten": "feature"})`, or
`torchlore.recipes.features`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import tree, values
from torchlore.check.source import Hit, Source

ROWS = ("transfer-resnet-gap",)
SOURCES = ("003:337-340",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import torch
    from torch import nn
    from torchvision.models import resnet18

    assert bad["shape"] == [2, 1024, 2, 2]
    assert float(str(bad["lowest"])) < 0
    assert good["shape"] == [2, 1024]
    assert float(str(good["lowest"])) >= 0

    model = resnet18(weights=None).eval()
    cut = nn.Sequential(*list(model.children())[:-1])
    x = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        feature = cut(x)
        assert feature.shape == (2, 512, 1, 1)
        assert torch.allclose(model.fc(feature.flatten(1)), model(x), atol=1e-5)  # right for a ResNet
    assert cut[0] is model.conv1


_BRANCHED = ("densenet121", "densenet161", "densenet169", "densenet201", "inception_v3", "googlenet", "vit_b_16",
             "vit_b_32", "vit_l_16", "vit_l_32", "vit_h_14")  # fmt: skip
_NAMES = tuple(f"torchvision.models.{name}" for name in _BRANCHED)
WORDS = ("children|named_children", "list", "*Sequential*")


def find(source: Source) -> Iterator[Hit]:
    for children in source.methods("children", "named_children"):
        cut, model = source.parents[children], tree.receiver(children)
        part = source.parents[cut] if isinstance(cut, ast.Call) and source.name(cut.func) == "list" else None
        if not isinstance(part, ast.Subscript) or not isinstance(part.slice, ast.Slice):
            continue
        made = values.made_by(source, model, *_NAMES)
        if made is not None and "Sequential" in source.text:
            kind, code = made.name.rpartition(".")[2], source.code(model)
            head = (
                "fc" if kind in ("inception_v3", "googlenet") else "heads" if kind.startswith("vit") else "classifier"
            )
            yield source.hit(
                children,
                f"the forward of {kind} does more than run its children in order, so cutting the list gives other "
                f"values or an error: write `{code}.{head} = nn.Identity()` and call `{code}`",
                severity="hint" if kind.startswith("densenet") else None,  # its features, without the last ReLU
            )

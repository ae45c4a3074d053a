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

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, tree, uses
from torchlore.check.source import Hit, Source

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


WORDS = ("*torchvision*",)


def find(source: Source) -> Iterator[Hit]:
    if "torchvision" not in source.text or follow.before(source, "1.12"):  # torchvision 0.13
        return
    for keyword in uses.keywords(source, "pretrained", "pretrained_backbone"):
        call = source.parents[keyword]
        builder = _builder(source, call.func) if isinstance(call, ast.Call) else ""
        if not builder or keyword.arg is None:
            continue
        wanted, new = tree.literal(keyword.value), keyword.arg.replace("pretrained", "weights")
        named = {False: "None", True: '"IMAGENET1K_V1"' if builder.count(".") == 2 else ""}.get(wanted, "")
        message = f"`{keyword.arg}=` is deprecated and means the oldest weights: write `{new}={named or '...'}`"
        fixes = (edits.replace(source, keyword, f"{new}={named}"),) if named else ()
        yield source.hit(keyword, message, *fixes)
    for call in source.all(ast.Call):
        flag = call.args[0] if call.args else None
        if isinstance(flag, ast.Constant) and isinstance(flag.value, bool) and _builder(source, call.func):
            named = '"IMAGENET1K_V1"' if flag.value else "None"
            fix = (edits.replace(source, flag, f"weights={named}"),) if len(call.args) == 1 else ()
            yield source.hit(
                call, f"`{flag.value}` means `pretrained`, which is deprecated: write `weights={named}`", *fix
            )


def _builder(source: Source, func: ast.expr) -> str:
    """The full name of the function of torchvision that builds a model, however it is looked up."""
    if isinstance(func, ast.Subscript) and source.name(func.value) == "torchvision.models.__dict__":
        return "torchvision.models.any"
    if isinstance(func, ast.Call) and source.name(func.func) == "getattr" and func.args:
        return "torchvision.models.any" if source.name(func.args[0]) == "torchvision.models" else ""
    name = source.name(func)
    return name if name.startswith("torchvision.models.") else ""

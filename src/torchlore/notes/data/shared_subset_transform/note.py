"""The parts of `random_split` share one dataset: a transform set on one is set on all.

`val_set.dataset.transform = val_transform` reaches through the subset to the one dataset behind it, and the training set
loses its augmentation, silently. The other way round, a dataset built with random augmentation and then split hands
augmented pictures to validation too.

Make two datasets over the same files, each with its own transform, and split the indices:

```python
order = torch.randperm(len(plain)).tolist()
train_set = Subset(ImageFolder(root, train_transform), order[:n])
val_set = Subset(ImageFolder(root, val_transform), order[n:])
```
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/udacity/deep-learning-v2-pytorch/issues/132",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_RANDOM = re.compile(
    r"^torchvision\.transforms\.(v2\.)?(Random\w+|ColorJitter|AutoAugment|TrivialAugmentWide|RandAugment)$"
)
_HELD_OUT = re.compile(r"val|test|eval|dev", re.IGNORECASE)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["train"] == bad["val"] == 1.0  # the training set lost its transform
    assert good["train"] == 10.0
    assert good["val"] == 1.0


def find(source: Source) -> Iterator[Hit]:
    for node in source.all(ast.Attribute):
        inner = node.value
        if not isinstance(node.ctx, ast.Store) or node.attr not in ("transform", "transforms", "target_transform"):
            continue
        if isinstance(inner, ast.Attribute) and inner.attr == "dataset" and _is_part(source, inner.value):
            part = source.code(inner.value)
            yield source.hit(
                node,
                f"`{part}.dataset` is the one dataset behind every part of the split, so this changes the others too: build a "
                "dataset for each transform and split the indices",
            )
    for call in source.calls("torch.utils.data.random_split"):
        held, given = source.parents[call], tree.argument(call, 0, "dataset")
        names = (
            [tree.dotted(one) for one in getattr(held.targets[0], "elts", [])] if isinstance(held, ast.Assign) else []
        )
        out = [name for name in names[1:] if _HELD_OUT.search(name)]
        if out and given is not None and _augments(source, given) and not _mended(source, call, out):
            message = f"`{out[0]}` is a part of a dataset with random augmentation, and is augmented too"
            yield source.hit(
                call, f"{message}: build a dataset for each transform and split the indices", severity="warning"
            )


def _is_part(source: Source, node: ast.expr) -> bool:
    found = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    calls = [source.name(one.value.func) for one in found if isinstance(one.value, ast.Call) and one.path]
    return bool(calls) and len(calls) == len(found) and set(calls) == {"torch.utils.data.random_split"}


def _augments(source: Source, node: ast.expr) -> bool:
    made = [one.node for one in source.values(node) if one.source is source and isinstance(one.node, ast.Call)]
    given = (
        tree.argument(made[0], None, "transform") if len(made) == 1 and values.sure(source, node, "dataset") else None
    )
    transform = follow.followed(source, given) if given is not None else None
    return transform is not None and any(
        _RANDOM.match(source.name(one.func)) for one in ast.walk(transform) if isinstance(one, ast.Call)
    )


def _mended(source: Source, call: ast.Call, names: list[str]) -> bool:
    """Whether the held-out part is given another dataset or transform afterwards."""
    home = tree.function(source, call)
    stored = (one for one in source.all(ast.Attribute) if isinstance(one.ctx, ast.Store))
    return any(
        tree.dotted(one).startswith(f"{name}.") and tree.function(source, one) is home
        for one in stored
        for name in names
    )

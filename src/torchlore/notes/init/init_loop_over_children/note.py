"""An init loop over `children()` reaches the top level only; nested layers keep their default.

`for layer in model.children(): if isinstance(layer, nn.Conv2d): ...` looks at direct parts. In a model made of blocks these
are containers, no convolution is among them, and the loop initialises nothing or only the stem. Nothing raises.

Walk all of them:

```python
for layer in model.modules():
    if isinstance(layer, nn.Conv2d):
        nn.init.kaiming_normal_(layer.weight)
```

or `model.apply(init_weights)`, which does the same walk.
"""

import ast
from collections.abc import Iterator

from torchlore.check import classes, edits, tree, values
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source

_BOXES = ("sequential", "modulelist", "moduledict")

ROWS = ("module-modules-children", "init-loop")
SOURCES = ("003:239", "004:31-33")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["initialised"] == 1
    assert good["initialised"] == 3


WORDS = ("children|named_children", "isinstance")


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("children", "named_children"):
        loop = source.parents[call]
        if not isinstance(loop, ast.For) or loop.iter is not call or not isinstance(call.func, ast.Attribute):
            continue
        tests = [one for one in tree.body_nodes(loop) if _asks_for_layer(source, one)]
        if tests and _initialises(source, loop) and _nested(source, tree.receiver(call)):
            better = call.func.attr.replace("children", "modules")
            message = (
                f"`{call.func.attr}()` stops at the top level and nested layers keep their default: write `{better}()`"
            )
            yield source.hit(loop.iter, message, edits.rename(source, call.func, better))


def _asks_for_layer(source: Source, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or source.name(node.func) != "isinstance" or len(node.args) != 2:
        return False
    kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    return any(
        source.name(kind).startswith(("torch.nn.Conv", "torch.nn.Linear", "torch.nn.BatchNorm")) for kind in kinds
    )


def _initialises(source: Source, loop: ast.For) -> bool:
    """The loop calls nn.init, and neither its function again nor anything that walks further down."""
    home = tree.function(source, loop)
    calls = [n for n in tree.body_nodes(loop) if isinstance(n, ast.Call) and n is not loop.iter]
    names = {source.name(call.func) or getattr(call.func, "attr", "") for call in calls}
    deeper = {"children", "named_children", "modules", "named_modules", "apply"} & {
        name.rpartition(".")[2] for name in names
    }
    again = home is not None and any(name.rpartition(".")[2] == home.name for name in names)
    return any(name.startswith("torch.nn.init.") for name in names) and not deeper and not again


def _nested(source: Source, owner: ast.expr) -> bool:
    """Whether the module surely holds layers inside others."""
    if isinstance(owner, ast.Name) and owner.id == "self":
        cls = enclosing_class(source, owner)
        found = [one for group in classes.attributes(cls).values() for one in group] if cls else []
        return any(one.value is not None and values.sure(one.source, one.value, *_BOXES) for one in found)
    made = values.values(source, owner)
    behind = [classes.class_behind(source, value) for value in made]
    boxes = [
        one
        for cls in behind
        if cls is not None
        for group in classes.attributes(cls).values()
        for one in group
        if one.value is not None and values.sure(one.source, one.value, *_BOXES)
    ]
    return bool(boxes) or any(value.name.startswith("torchvision.models.") for value in made)

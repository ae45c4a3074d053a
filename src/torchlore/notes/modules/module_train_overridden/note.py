"""A method called `train` in a Module replaces the one that switches the mode.

`model.eval()` is `self.train(False)`. If the class has a training loop named `train`, `eval()` calls that, with `False` for
the data or the number of epochs. Where it does not crash, the mode never changes: dropout stays on and BatchNorm goes on
learning while the model is tested.

Call the loop `fit`, or keep it out of the module:

```python
def fit(self, loader, epochs): ...
```

An override that takes `mode=True`, calls `super().train(mode)` and returns `self` is fine: that is how a frozen part is
kept in eval mode.
"""

import ast
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import classes, tree
from torchlore.check.calls import callers
from torchlore.check.project import Class, as_function, enclosing_class
from torchlore.check.source import Hit, Source
from torchlore.check.tree import FunctionNode
from torchlore.watch.pictures import Alarm, Call

_MODES = {"mode", "training", "is_training", "is_train", "train", "flag", "train_mode"}

ROWS = ()
SOURCES = ("https://github.com/Zhenye-Na/DA-RNN/issues/21",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["difference"] > 0
    assert good["difference"] == 0
    assert bad["dropout_on"] == 1
    assert good["dropout_on"] == 0


def watch(call: Annotated[Call, "Module.eval"]) -> Alarm | None:
    if not call.owner.training:
        return None
    name = type(call.owner).__name__
    return Alarm(
        f"{name} is in train mode after eval(); its own `train` replaces the one that switches the mode, rename it"
    )


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        found = {name: node for name, node in classes.methods(cls).items() if name in ("train", "eval")}
        if not found or not classes.is_module(cls):
            continue
        for name, node in found.items():
            if not _switches(node) and not _switched_off(node):
                better = "fit" if name == "train" else "evaluate"
                message = f"`{cls.node.name}.{name}` replaces the method that switches the mode: call it `{better}`"
                yield source.hit(node, message, severity=None if _asked(source, cls) else "hint")


def _asked(source: Source, cls: Class) -> bool:
    """Whether somebody calls `eval()` on what may be one of these: not on its parts, nor in a function that nobody calls."""
    for call in source.methods("eval"):
        owner, home = enclosing_class(source, call), tree.function(source, call)
        part = tree.dotted(tree.receiver(call)).startswith("self.") and owner is not None and _related(cls, owner)
        given = home is not None and tree.dotted(tree.receiver(call)) in {arg.arg for arg in tree.parameters(home)}
        idle = given and home is not None and not callers(as_function(source, home))
        if not part and not idle:
            return True
    return False


def _related(one: Class, other: Class) -> bool:
    """Whether one of the two classes comes from the other."""
    families = (one.source.project.bases(cls)[0] for cls in (one, other))
    return any(cls.node is end.node for family, end in zip(families, (other, one), strict=True) for cls in family)


def _switched_off(node: FunctionNode) -> bool:
    """`def train(self, mode=True): return self`: the author wants no mode."""
    plain = (ast.Pass, ast.Return, ast.Expr)
    return all(
        isinstance(one, plain) and not any(isinstance(part, ast.Call) for part in ast.walk(one)) for one in node.body
    )


def _switches(node: FunctionNode) -> bool:
    """Whether the override still does its job: it hands the mode on to the mother or to the parts."""
    inside = list(ast.walk(node))
    mother = any(isinstance(one, ast.Name) and one.id == "super" for one in inside)
    sets = any(
        isinstance(one, ast.Attribute) and one.attr == "training" and isinstance(one.ctx, ast.Store) for one in inside
    )
    parts = any(isinstance(one, ast.Attribute) and one.attr in ("train", "eval") for one in inside)
    given = [arg.arg for arg in tree.parameters(node)][1:]
    return mother or sets or (parts and (not given or given[0] in _MODES))

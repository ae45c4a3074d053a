"""A Module whose `__init__` does not call `super().__init__()` first cannot hold layers.

`nn.Module.__init__` makes the tables in which parameters, buffers and hooks are kept. Assigning a layer before it ran
raises "cannot assign module before Module.__init__() call"; a module without layers fails later and more obscurely, at
the first call. The call must come before the first assignment of a layer or a parameter.

```python
class Net(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3)
```

The older `super(Net, self).__init__()` means the same and is still legal; it breaks when the class is renamed or copied
and the name inside is not.
"""

import ast
from collections.abc import Iterator

from torchlore.check import classes, edits, tree, values
from torchlore.check.source import Hit, Source
from torchlore.check.tree import FunctionNode

ROWS = ("module-super",)
SOURCES = ("001:36-41",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, str], good: dict[str, str]) -> None:
    import torch
    from torch import nn

    assert bad["error"] == "AttributeError"
    assert good["error"] == ""

    class Old(nn.Module):
        def __init__(self) -> None:
            super(Old, self).__init__()  # noqa: UP008 - the old spelling is the point
            self.fc = nn.Linear(2, 1)

    assert len(list(Old().parameters())) == 2

    class NoLayers(nn.Module):
        def __init__(self) -> None:
            self.scale = 2

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.scale

    try:
        NoLayers()(torch.ones(1))
    except AttributeError:
        return
    raise AssertionError("a module ran without Module.__init__")


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        init = classes.methods(cls).get("__init__")
        if init is None or not classes.is_module(cls) or source.code(init.body[-1]) == "...":
            continue
        first = min(_mothers(init), default=None)
        early = [one for one in init.body if first is None or one.lineno < first]
        if not early:
            continue
        layer = next((one for one in early if _registers(source, one)), None)
        if first is None and (layer is not None or "forward" in classes.methods(cls)):
            plain = [source.name(base) for base in cls.node.bases] == ["torch.nn.Module"]
            fix = [edits.insert_first(source, init, "super().__init__()")] if plain else []
            yield source.hit(init, f"`{cls.node.name}.__init__` never calls `super().__init__()`: call it first", *fix)
        elif first is not None and layer is not None:
            yield source.hit(layer, "no layer can be assigned before `super().__init__()`: call it first")


def _mothers(init: FunctionNode) -> list[int]:
    """Lines that may run the mother's `__init__`: `super()`, `Base.__init__(self)`, a call that is given `self`."""
    found: list[int] = []
    nodes = (node for statement in init.body if not found for node in ast.walk(statement))  # the first says it
    for node in nodes:
        named = isinstance(node, ast.Name) and node.id == "super"
        dunder = isinstance(node, ast.Attribute) and node.attr in ("__init__", "__setstate__", "__dict__")
        handed = isinstance(node, ast.Call) and any(isinstance(a, ast.Name) and a.id == "self" for a in node.args)
        if isinstance(node, ast.expr) and (named or dunder or handed):
            found.append(node.lineno)
    return found


def _registers(source: Source, statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign):
        return False
    on_self = any(tree.dotted(target).startswith("self.") for target in statement.targets)
    return on_self and values.sure(source, statement.value, "module", "parameter")

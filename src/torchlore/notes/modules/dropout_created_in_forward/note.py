"""`nn.Dropout(0.5)(x)` inside `forward` drops in evaluation too: the new layer is in train mode.

`eval()` reaches the layers that a module holds. A dropout made on the spot is held by nobody; it starts in train mode and
stays there. Predictions differ from call to call, and every metric is that of a damaged network.

Hold it, or use the function with the flag:

```python
self.drop = nn.Dropout(0.5)                            # in __init__
x = F.dropout(x, 0.5, training=self.training)          # in forward
```
"""

import ast
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import classes, edits, tree, uses
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/yangze0930/NTS-Net/issues/14",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_FUNCTION = {"Dropout": "dropout", "Dropout1d": "dropout1d", "Dropout2d": "dropout2d", "Dropout3d": "dropout3d",
             "AlphaDropout": "alpha_dropout"}  # fmt: skip


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["difference"] > 0.1
    assert good["difference"] == 0


def watch(call: Annotated[Call, "dropout", "dropout1d", "dropout2d", "dropout3d"]) -> Alarm | None:
    if len(call.args) < 3 or not call.args[2] or not call.modules or call.modules[0].training:
        return None
    held = [one for one in call.modules[0].modules() if "Dropout" in type(one).__name__ and one.training]
    if held:  # Monte Carlo dropout switches its layers on by hand
        return None
    return Alarm(
        "a dropout layer drops although the model is in eval mode; the model does not hold it, make it in `__init__`"
    )


WORDS = ("Dropout|Dropout1d|Dropout2d|Dropout3d|AlphaDropout",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls(*(f"torch.nn.{name}" for name in _FUNCTION)):
        home, outer = tree.function(source, call), source.parents[call]
        called = isinstance(outer, ast.Call) and outer.func is call
        local = isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Name)
        if home is None or home.name == "__init__" or not (called or (local and home.name == "forward")):
            continue
        cls, tests = enclosing_class(source, call), [source.code(test) for test, _ in tree.conditions(source, call)]
        if cls is not None and not any("training" in test for test in tests) and classes.is_module(cls):
            better = _better(source, call, outer) if called and isinstance(outer, ast.Call) else ""
            message = "this dropout is new, in train mode, and drops in `eval()` too: make it in `__init__`"
            yield source.hit(call, message, *([edits.replace(source, outer, better)] if better else []))
    yield from _of_the_file(source)


def _of_the_file(source: Source) -> Iterator[Hit]:
    """`drop = nn.Dropout(0.5)` at the top of the file, called in a model that does not hold it."""
    for call in source.calls(*(f"torch.nn.{name}" for name in _FUNCTION)):
        made = source.parents[call]
        name = made.targets[0] if isinstance(made, ast.Assign) and source.parents[made] is source.tree else None
        used = [one for one in uses.names(source, name.id) if one is not name] if isinstance(name, ast.Name) else []
        runs = [one for one in used if isinstance(up := source.parents[one], ast.Call) and up.func is one]
        inner = [one for one in runs if (cls := enclosing_class(source, one)) is not None and classes.is_module(cls)]
        tests = [source.code(test) for one in runs for test, _ in tree.conditions(source, one)]
        if inner and len(runs) == len(used) and not any("train" in test for test in tests):
            told = f"no model holds `{inner[0].id}`, so `eval()` does not reach it and it drops in evaluation too: make it in `__init__`"
            yield source.hit(inner[0], told)


def _better(source: Source, call: ast.Call, outer: ast.Call) -> str:
    """The same by the function; "" where torch itself is not imported by name."""
    rate = tree.argument(call, 0, "p")
    if len(outer.args) != 1 or outer.keywords or source.names.imported.get("torch") != "torch":
        return ""
    name = _FUNCTION[source.name(call.func).rpartition(".")[2]]
    given = f", {source.code(rate)}" if rate is not None else ""
    return f"torch.nn.functional.{name}({source.code(outer.args[0])}{given}, training=self.training)"

"""A misspelt `__init__` or `forward` is just another method: the one of the base class runs instead.

`def _init_`, `__int__`, `__init` are never called when the module is made, so that no layer exists; `foward` leaves the
module without a `forward`, which is told only at the first call. Worse are `training_setp` or `__getitem`, where the base
class has something that runs. Python cannot know what was meant.

```python
class Net(nn.Module):
    def __init__(self): ...
    def forward(self, x): ...
```

In a data set the names are `__len__` and `__getitem__`, with two underscores on both sides.
"""

import ast
import difflib
from collections.abc import Iterator
from functools import lru_cache

from torchlore.check import calls, classes
from torchlore.check.project import as_class, as_function
from torchlore.check.source import Hit, Source
from torchlore.check.tree import FunctionNode

ROWS = ()
SOURCES = ("https://github.com/vsitzmann/siren/issues/61",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_WANTED = {"module": ("__init__", "forward"), "loss": ("__init__", "forward"),
           "dataset": ("__init__", "__len__", "__getitem__")}  # fmt: skip
_ALL = {"__init__", "forward", "__len__", "__getitem__"}
_REAL = {"__getitems__", "_forward", "forward_", "__le__", "__ne__", "_forward_", "forwards"}  # methods of their own


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["error"] == "AttributeError"
    assert good["error"] == ""
    assert good["parameters"] == 2


@lru_cache(maxsize=4096)
def _near(name: str) -> bool:
    letters = set(name)  # nine tenths share too few with any of them, which is told at once
    near = () if not 5 <= len(name) <= 16 else _ALL if "_" in name else ("forward",)  # the others are half underscores
    likely = [one for one in near if sum(map(one.count, letters)) > 0.39 * (len(name) + len(one))]
    return bool(likely) and bool(difflib.get_close_matches(name, likely, n=1, cutoff=0.8))


WORDS = ("class",)


def find(source: Source) -> Iterator[Hit]:
    for node in source.all(ast.ClassDef):
        strange = {one.name for one in node.body if isinstance(one, FunctionNode) and _near(one.name)} - _ALL - _REAL
        if not strange:
            continue
        cls = as_class(source, node)
        own = classes.methods(cls)
        wanted = [name for name in _WANTED.get(classes.kind_of_instances(cls), ()) if name not in own]
        for name in sorted(strange):
            meant = difflib.get_close_matches(name, wanted, n=1, cutoff=0.8)
            core = meant[0].strip("_") if meant else ""
            longer = {"forward"} & set(name.strip("_").split("_")) and name.strip("_") != core  # `forward_mt` says more
            if not meant or longer:
                continue
            above = (source, *(base.source for base in source.project.bases(cls)[0]))  # `self.Forward()` of the base
            if not any(f".{name}(" in one.text for one in above) and not calls.callers(as_function(source, own[name])):
                message = f"nobody calls `{cls.node.name}.{name}`: write `{meant[0]}`"
                has = any(meant[0] in classes.methods(base) for base in source.project.bases(cls)[0])
                yield source.hit(own[name], message, severity="warning" if has else None)  # a hook of the base?

"""A layer made inside `forward` has new random weights at every call and is never trained.

`nn.Linear(...)(x)` in `forward` makes a fresh layer each time the model runs. The optimizer has never heard of it, no
checkpoint holds it, `.to(device)` does not move it, and the same input gives another output each time. The network around
it learns to live with the noise, so the loss still falls.

Make layers in `__init__`. Where a size is known only at run time, use the lazy form:

```python
self.fc = nn.LazyLinear(64)
```
"""

import ast
from collections.abc import Iterator

from torchlore.check import classes, tree, uses, values
from torchlore.check.modules import parameterless
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/wangyida/softpool/issues/11", "https://github.com/graykode/nlp-tutorial/issues/29")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["difference"] > 0.01
    assert good["difference"] == 0
    assert bad["parameters"] < good["parameters"]


def find(source: Source) -> Iterator[Hit]:
    for call, name in uses.calls_under(source, "torch.nn."):
        if name.count(".") != 2 or not name[9:10].isupper():
            continue
        home, cls = tree.function(source, call), enclosing_class(source, call)
        if home is None or home.name != "forward" or cls is None or tree.method_class(source, home) is not cls.node:
            continue
        made = [one for one in values.values(source, call) if one.kind == "module" and not parameterless(one)]
        if made and name != "torch.nn.Module" and _used_here(source, call) and classes.is_module(cls):
            message = (
                f"`{source.code(call.func)}` is made anew at each call, with random weights: make it in `__init__`"
            )
            yield source.hit(call, message)
    yield from _parameters(source)


def _parameters(source: Source) -> Iterator[Hit]:
    """`self.weight = nn.Parameter(...)` in every forward pass: the optimizer holds the one before."""
    for call in source.calls("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        held, home, cls = source.parents[call], tree.function(source, call), enclosing_class(source, call)
        own = isinstance(held, ast.Assign) and tree.dotted(held.targets[0]).startswith("self.")
        if not own or home is None or home.name != "forward" or cls is None or not classes.is_module(cls):
            continue
        if not tree.conditions(source, call):
            name = source.code(held.targets[0]) if isinstance(held, ast.Assign) else ""
            told = f"`{name}` is a new parameter at each call, and the optimizer holds an old one: compute with it, assign nothing"
            yield source.hit(call, told)


def _used_here(source: Source, call: ast.Call) -> bool:
    """Called at once, or kept in a local name; what goes into `self.x` may be kept under `if self.x is None`."""
    up = source.parents[call]
    while isinstance(up, ast.Attribute) or (isinstance(up, ast.Call) and isinstance(up.func, ast.Attribute)):
        up = source.parents[up]
    if isinstance(up, ast.Call):
        return True
    if not isinstance(up, ast.Assign) or not all(isinstance(target, ast.Name) for target in up.targets):
        return False
    names = {tree.dotted(target) for target in up.targets}
    return not any(isinstance(one, ast.Name) and one.id in names for one in _kept(tree.function(source, call)))


def _kept(home: tree.FunctionNode | None) -> Iterator[ast.expr]:
    """What a function assigns as it is: `self.table = wider`."""
    for node in tree.body_nodes(home) if home is not None else ():
        if isinstance(node, ast.Assign):
            yield from node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]

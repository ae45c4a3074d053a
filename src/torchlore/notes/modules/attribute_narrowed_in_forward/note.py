"""`self.weights = self.weights[labels]` in a forward pass replaces the table by one batch's rows.

A tensor set up in `__init__`, one number for each class, is picked from with `gather`, `index_select` or an index. Assigned back to the
same attribute, the second batch picks from the first batch's rows: its labels meet other numbers, and nothing complains as long as
the indices are in range. Class weights turn into noise, then mostly into the weight of the commonest class. The error shows at last,
as an index out of range, when a batch is smaller than the number of classes.

Give the picked rows a name of their own:

```python
alpha = self.alpha[labels]
loss = alpha * loss
```
"""

import ast
from collections.abc import Iterator

from torchlore.check import classes, follow, scopes, tree, values
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/yatengLG/Focal-Loss-Pytorch/issues/9",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["weights_kept"] == 0
    assert good["weights_kept"] == 1


def find(source: Source) -> Iterator[Hit]:
    for assign in source.all(ast.Assign):
        target, home = assign.targets[0], tree.function(source, assign)
        name = tree.dotted(target)
        if home is None or home.name not in ("forward", "__call__") or not name.startswith("self."):
            continue
        if _set_by_mode(source, assign, home):
            told = f"`{name}` stays {source.code(assign.value)} when the mode changes back: give it a name of its own, `{name[5:]} = {source.code(assign.value)}`"
            yield source.hit(assign, told)
            continue
        index = _index(assign.value, name)
        cls = enclosing_class(source, assign) if index is not None else None
        if index is None or cls is None or tree.conditions(source, assign) or not _given(source, index):
            continue
        made = [one for one in classes.assigned(cls, name[5:]) if one.method == "__init__"]
        if made and all(one.value is not None and values.sure(one.source, one.value, "tensor") for one in made):
            short = name[5:]
            told = f"`{name}` is replaced by what this batch picks from it, and the next batch picks from that: write `{short} = {source.code(assign.value)}`"
            yield source.hit(assign, told)


def _set_by_mode(source: Source, assign: ast.Assign, home: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """`if not self.training: self.p = 0`: what `__init__` set is gone, and no other line of the class sets it again."""
    number = tree.literal(assign.value)
    asks = any(
        source.code(test) in ("self.training", "not self.training") for test, _ in tree.conditions(source, assign)
    )
    cls = enclosing_class(source, assign) if asks and isinstance(number, float | int) else None
    if cls is None or not classes.is_module(cls):
        return False
    name = tree.dotted(assign.targets[0])[5:]
    first = [one for one in classes.assigned(cls, name) if one.method == "__init__"]
    read = [
        one for one in tree.under(source, home, ast.Attribute) if isinstance(one.ctx, ast.Load) and one.attr == name
    ]
    return len(first) == 1 and len(classes.assigned(cls, name)) == 2 and bool(read)


def _index(node: ast.expr, name: str) -> ast.expr | None:
    """What is picked with: `self.x[index]`, `self.x.gather(0, index)`, `self.x.index_select(0, index)`."""
    while isinstance(node, ast.Call) and follow.method(node) in (
        "to",
        "view",
        "reshape",
        "unsqueeze",
        "squeeze",
        "float",
    ):
        node = tree.receiver(node)
    if isinstance(node, ast.Subscript) and tree.dotted(node.value) == name:
        return node.slice
    picked = isinstance(node, ast.Call) and follow.method(node) in ("gather", "index_select", "take")
    if picked and isinstance(node, ast.Call) and tree.dotted(tree.receiver(node)) == name and node.args:
        return node.args[-1]
    return None


def _given(source: Source, index: ast.expr) -> bool:
    """Whether the index comes from what the function is called with."""
    for node in ast.walk(index):
        if isinstance(node, ast.Name) and node.id != "self":
            bound = scopes.reaching(source, node)
            if any(one.how == "parameter" or (one.value is not None and one.how == "assign") for one in bound):
                return True
    return False

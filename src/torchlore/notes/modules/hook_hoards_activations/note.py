"""A forward hook that appends `output` keeps the graph and the activations of every batch.

The tensor a hook is given is part of the graph. Appended to a list, it keeps that whole graph alive: all activations of
that batch, and of every batch after it. Memory grows with each step until there is none left. Even a detached output is a
batch of activations kept for ever if the list is never emptied.

Store what you need of it, without its history:

```python
def hook(module, inputs, output):
    stats[name].append(output.detach().abs().mean().item())
```

If the activation itself is needed, overwrite it (`features[name] = output.detach()`) instead of collecting it, and remove
the hook when done: `handle.remove()`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import flow, tree
from torchlore.check.source import Hit, Source
from torchlore.check.tree import FunctionNode

ROWS = ()
SOURCES = ("https://github.com/boschresearch/Continuous-Recurrent-Units/pull/4",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["graphs_kept"] == 20
    assert good["graphs_kept"] == 0


def find(source: Source) -> Iterator[Hit]:
    calls = list(source.methods("register_forward_hook"))
    if not calls or not any(source.methods("backward")):
        return
    emptied = {_root(tree.receiver(call)) for call in source.methods("clear", "pop", "popleft")}
    emptied |= {_root(one) for gone in source.all(ast.Delete) for one in gone.targets if isinstance(one, ast.Subscript)}
    removed = {tree.function(source, one) for one in source.methods("remove")}
    calls = [one for one in calls if tree.function(source, one) not in removed]  # for a few passes
    for hook in _hooks(source, calls):
        given = [arg.arg for arg in tree.parameters(hook)]
        for call in ast.walk(hook):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
                continue
            box, kept = call.func.value, call.args[0] if len(call.args) == 1 else None
            stores = [n for n in source.all(ast.Name) if n.id == _root(box) and isinstance(n.ctx, ast.Store)]
            own = given[1:] if given[:1] == ["self"] else given
            whole = isinstance(kept, ast.Name) and len(own) in (3, 4) and kept.id == own[-1]
            if (
                whole
                and _root(box) not in emptied
                and len(stores) <= 1
                and not any(tree.loops(source, n) for n in stores)
            ):
                message = f"`{source.code(box)}` keeps the graph of every batch: append `{given[-1]}.detach()`, or better a number"
                yield source.hit(call, message)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return tree.dotted(node)


def _hooks(source: Source, calls: list[ast.Call]) -> Iterator[FunctionNode | ast.Lambda]:
    """The functions given to the calls: named, a lambda, or what a maker of hooks returns."""
    for call in calls:
        node = call.args[0] if call.args else None
        if isinstance(node, ast.Lambda):
            yield node
        elif isinstance(node, ast.Attribute) and tree.dotted(node.value) == "self":
            here = tree.class_of(source, call)
            yield from (
                one for one in ast.walk(here or source.tree) if isinstance(one, FunctionNode) and one.name == node.attr
            )
        elif isinstance(node, ast.Name | ast.Call):
            made = flow.called(source, node) if isinstance(node, ast.Call) else None  # `self.make_hook(name)`
            target = made or source.project.resolve(source, node.func if isinstance(node, ast.Call) else node)
            inside = list(ast.walk(target.node)) if target is not None and target.source is source else []
            yield from (
                one
                for one in inside
                if isinstance(one, FunctionNode) and (one is not inside[0]) == isinstance(node, ast.Call)
            )

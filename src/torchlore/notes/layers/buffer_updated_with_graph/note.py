"""A running average updated without `no_grad` drags the graph of every batch along.

`self.running_mean += momentum * (batch_mean - self.running_mean)` in a forward pass makes the buffer part of the graph:
it now requires a gradient and holds the history of all batches so far. Memory grows with each step; if the output uses
the buffer, the second `backward()` raises; a deep copy of the module fails. Written without `if self.training`, the
average also moves in evaluation.

```python
if self.training:
    with torch.no_grad():
        self.running_mean.lerp_(batch_mean, self.momentum)
```

The same goes for any state kept between steps: a memory bank, a prototype. Detach what goes in.
"""

import ast
from collections.abc import Iterator

from torchlore.check import classes, scopes, tree, values
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source

_OFF = {"torch.no_grad", "torch.inference_mode"}
_WRITES = ("add_", "mul_", "lerp_", "copy_", "sub_")
_CUTS = {"detach", "item", "argmax", "long", "int", "bool", "tolist", "numpy", "size", "numel", "dim"}

ROWS = ("layer-bn-running",)
SOURCES = ("003:223-233",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import error_of

    assert bad["graph_nodes"] > 100
    assert good["graph_nodes"] == 0

    def two_steps(*, detach: bool) -> None:
        layer, mean = nn.Linear(2, 2), torch.zeros(2)
        for _ in range(2):
            out = layer(torch.randn(4, 2))
            now = out.detach().mean(0) if detach else out.mean(0)
            mean += 0.1 * (now - mean)
            (out - mean).pow(2).sum().backward()

    assert [error_of(lambda cut=cut: two_steps(detach=cut)) for cut in (False, True)] == ["RuntimeError", ""]  # type: ignore[misc]  # bound now


def find(source: Source) -> Iterator[Hit]:
    for target, given in _writes(source):
        home, cls = tree.function(source, target), enclosing_class(source, target)
        owner, _, name = tree.dotted(target).partition(".")
        if owner != "self" or home is None or home.name != "forward" or cls is None:
            continue
        buffer = any(one.how == "buffer" for one in classes.attributes(cls).get(name, []))
        around = (one.func if isinstance(one, ast.Call) else one for one in tree.contexts(source, target))
        if buffer and not _OFF & {source.name(one) for one in around} and any(_graph(source, one) for one in given):
            message = f"`self.{name}` now drags the graph of every batch along: update it under `torch.no_grad()`"
            certain = any(values.attached(source, one) for one in given)
            yield source.hit(tree.statement(source, target), message, severity="error" if certain else "warning")


def _writes(source: Source) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """`self.x = ...`, `self.x += ...` and `self.x.lerp_(...)` with what is written."""
    yield from ((assign.targets[0], [assign.value]) for assign in source.all(ast.Assign))
    yield from ((change.target, [change.value]) for change in source.all(ast.AugAssign))
    for call in source.methods(*_WRITES):
        owner = tree.receiver(call)
        while isinstance(owner, ast.Call) and tree.receiver(owner) is not owner.func:
            owner = tree.receiver(owner)
        yield owner, list(call.args)


def _graph(source: Source, node: ast.expr, depth: int = 5) -> bool:
    """Whether the value comes from the input of `forward` or from a layer, and nothing on its way cuts the graph."""
    attached = values.attached(source, node)
    if attached is not None or not depth:
        return bool(attached)
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr not in _CUTS:
        parts = list(node.args) if source.name(node.func) else [tree.receiver(node), *node.args]
    elif isinstance(node, ast.Name):
        bindings, home = scopes.reaching(source, node), tree.function(source, node)
        first = [arg.arg for arg in tree.parameters(home)][1:2] if home else []
        if any(one.how == "parameter" and one.name in first for one in bindings):
            return True
        parts = [one.value for one in bindings if one.value is not None and not one.path]
    return any(_graph(source, part, depth - 1) for part in parts)

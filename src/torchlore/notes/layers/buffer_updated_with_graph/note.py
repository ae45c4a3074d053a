"""A running average updated without `no_grad` drags the graph of every batch along.

`self.running_mean += momentum * (batch_mean - self.running_mean)` in a forward pass makes the buffer part of the graph,
with the history of all batches so far. Memory grows with each step; if the output uses the buffer, the second
`backward()` raises. Written without `if self.training`, the average also moves in evaluation.

```python
if self.training:
    with torch.no_grad():
        self.running_mean.lerp_(batch_mean, self.momentum)  # a memory bank or a prototype likewise
```
"""

import ast
from collections.abc import Iterator

from torchlore.check import classes, scopes, tree, values
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

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
            mean += 0.1 * ((out.detach() if detach else out).mean(0) - mean)
            (out - mean).pow(2).sum().backward()

    assert error_of(lambda: two_steps(detach=False)) == "RuntimeError"
    two_steps(detach=True)


def watch(step: Step) -> Alarm | None:
    pairs = [pair for module in step.run.modules() for pair in module.named_buffers()] if step.number == 3 else []
    for name, buffer in pairs:
        if buffer.grad_fn is not None:
            message = f"the buffer `{name}` hangs on the graphs of all batches so far; update it under torch.no_grad()"
            return Alarm(message, evidence=f"it was made by {buffer.grad_fn.name()}")
    return None


def find(source: Source) -> Iterator[Hit]:
    for target, given in _writes(source):
        while isinstance(target, ast.Call):  # self.mean.mul_(0.9).add_(...)
            target = tree.receiver(target)  # noqa: PLW2901 - down to the name
        owner, _, name = tree.dotted(target).partition(".")
        home = tree.function(source, target) if owner == "self" else None
        cls = enclosing_class(source, target) if home is not None and home.name == "forward" else None
        buffer = cls is not None and any(one.how == "buffer" for one in classes.attributes(cls).get(name, []))
        nodes = tree.contexts(source, target) if buffer else []
        around = {source.name(getattr(one, "func", one)) for one in nodes}
        if buffer and not _OFF & around and any(_graph(source, one) for one in given):
            message = f"`self.{name}` now drags the graph of every batch along: update it under `torch.no_grad()`"
            certain = any(values.attached(source, one) for one in given)
            yield source.hit(tree.statement(source, target), message, severity="error" if certain else "warning")


def _writes(source: Source) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """`self.x = ...`, `self.x += ...` and `self.x.lerp_(...)` with what is written."""
    yield from ((one.targets[0], [one.value]) for one in source.all(ast.Assign))
    yield from ((one.target, [one.value]) for one in source.all(ast.AugAssign))
    yield from ((tree.receiver(call), call.args) for call in source.methods(*_WRITES))


def _graph(source: Source, node: ast.expr, depth: int = 5) -> bool:
    """Whether the value comes from the input of `forward` or from a layer, and nothing on its way cuts the graph."""
    parts: list[ast.expr | None] = []
    if (attached := values.attached(source, node)) is not None or not depth:
        return bool(attached)
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr not in _CUTS:
        parts = [*node.args, *([] if source.name(node.func) else [node.func.value])]
    elif isinstance(node, ast.Name):
        bindings, home = scopes.reaching(source, node), tree.function(source, node)
        first = [arg.arg for arg in tree.parameters(home)][1:2] if home else []
        if any(one.how == "parameter" and one.name in first for one in bindings):
            return True
        parts = [one.value for one in bindings if not one.path]
    return any(part is not None and _graph(source, part, depth - 1) for part in parts)

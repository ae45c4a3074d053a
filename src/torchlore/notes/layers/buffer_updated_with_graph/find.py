"""The rule of buffer-updated-with-graph."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, scopes, tree, values
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source

_OFF = {"torch.no_grad", "torch.inference_mode"}
_WRITES = ("add_", "mul_", "lerp_", "copy_", "sub_")
_CUTS = {"detach", "item", "argmax", "long", "int", "bool", "tolist", "numpy", "size", "numel", "dim"}


def find(source: Source) -> Iterator[Hit]:
    for target, given in _writes(source):
        while isinstance(target, ast.Call):  # self.mean.mul_(0.9).add_(...)
            target = tree.receiver(target)  # noqa: PLW2901 - down to the name
        whole = target.value if isinstance(target, ast.Subscript) else target
        owner, _, name = tree.dotted(whole).partition(".")
        home = tree.function(source, target) if owner == "self" else None
        cls = enclosing_class(source, target) if home is not None and home.name != "__init__" else None
        if cls is None or not any(one.how == "buffer" for one in classes.assigned(cls, name)):
            continue
        around = {source.name(getattr(one, "func", one)) for one in tree.contexts(source, target)}
        certain = any(values.attached(source, one) for one in given)
        likely = certain or (home is not None and home.name == "forward" and any(_graph(source, one) for one in given))
        freed = f"self.{name}.detach_()" in source.text or f"self.{name} = self.{name}.detach()" in source.text
        if not _OFF & around and likely and not freed:
            message = f"`self.{name}` now drags the graph of every batch along: update it under `torch.no_grad()`"
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

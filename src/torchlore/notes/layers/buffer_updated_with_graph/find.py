"""The rule of buffer-updated-with-graph."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, follow, scopes, tensors, tree, uses, values
from torchlore.check.calls import callers
from torchlore.check.pattern import regex
from torchlore.check.project import as_function, enclosing_class
from torchlore.check.source import Hit, Source

_OFF = {"torch.no_grad", "torch.inference_mode"}
_WRITES = ("add_", "mul_", "lerp_", "copy_", "sub_")
_CACHE = regex(r"cache|past|(^|_)kv", re.IGNORECASE)  # what is generated token by token, without gradients
_NO_GRAPH = {ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.JoinedStr, ast.Compare, ast.Lambda}
_CUTS = {"detach", "item", "argmax", "long", "int", "bool", "tolist", "numpy", "size", "numel", "dim"}


def find(source: Source) -> Iterator[Hit]:
    yield from _shadows(source)
    for target, given in _writes(source):
        while isinstance(target, ast.Call):  # self.mean.mul_(0.9).add_(...)
            target = tree.receiver(target)  # noqa: PLW2901 - down to the name
        name = _own(target)
        if not name or "debug" in name:
            continue
        home = tree.function(source, target)
        cls = enclosing_class(source, target) if home is not None and home.name != "__init__" else None
        found = classes.assigned(cls, name) if cls is not None else []
        buffer = any(one.how == "buffer" for one in found)
        if not buffer and not (found and found[0].method == "__init__" and _refilled(source, target, given)):
            continue
        around = {source.name(getattr(one, "func", one)) for one in tree.contexts(source, target)}
        given = [part for one in given for part in _joined(source, one)]  # noqa: PLW2901 - what is joined, one by one
        freed = f"self.{name}.detach_()" in source.text or f"self.{name} = self.{name}.detach()" in source.text
        freed |= _CACHE.search(name) is not None or any(_emptied(one) for one in found)
        freed = freed or (f"= self.{name}.detach()" in source.text and not _made_of_itself(target, given))
        if freed or _OFF & around:
            continue
        inside = home is not None and home.name == "forward"
        if any(values.attached(source, one) or (inside and _graph(source, one)) for one in given):
            once = _once(source, target, name)
            if not once and (not _grows(source, target, given) or _only_moved(target, given)):
                continue
            told = (
                "keeps the graph of the batch that it is set from"
                if once
                else "now drags the graph of every batch along"
            )
            message = f"`self.{name}` {told}: update it under `torch.no_grad()`"
            yield source.hit(
                tree.statement(source, target), message, severity="warning"
            )  # a caller may hold the gradients back


def _own(target: ast.expr) -> str:
    """`mean` of `self.mean` and of `self.mean[0]`, "" of what is no attribute of `self`."""
    whole = target.value if isinstance(target, ast.Subscript) else target
    if not isinstance(whole, ast.Attribute) or not isinstance(whole.value, ast.Name) or whole.value.id != "self":
        return ""
    return whole.attr


def _grows(source: Source, target: ast.expr, given: list[ast.expr]) -> bool:
    """Whether the old value comes into the new one, here or in another line; `self.query = q` keeps the graph of one batch."""
    if not isinstance(source.parents[target], ast.Assign) or _made_of_itself(target, given):
        return True
    name, cls = tree.dotted(target), tree.class_of(source, target)
    writes = [one for one in tree.under(source, cls, ast.Assign) if tree.dotted(one.targets[0]) == name] if cls else []
    return any(_made_of_itself(one.targets[0], [one.value]) for one in writes)


def _only_moved(target: ast.expr, given: list[ast.expr]) -> bool:
    """`self.best = self.best.to(x)`: it has no graph of its own."""
    moved = [one for one in given if follow.method(one) in ("to", "type_as", "expand_as", "to_dense")]
    return bool(moved) and all(tree.dotted(tree.receiver(one)) == tree.dotted(target) for one in moved)  # type: ignore[arg-type]  # a call


def _emptied(one: classes.Attribute) -> bool:
    """`self.keys = None` in `reset`: it lives as long as one sequence."""
    return one.method != "__init__" and isinstance(one.value, ast.Constant) and one.value.value is None


def _once(source: Source, target: ast.expr, name: str) -> bool:
    """`if self.scale < 0: self.scale = ...`, `if not self.ready`: a condition asks whether it was set already."""
    for test, _ in tree.conditions(source, target):
        parts = [test, *(value for one in tree.under(source, test, ast.Name) for value in follow.possible(source, one))]
        told = " ".join(source.code(part) for part in parts)
        if f"self.{name}" in told or re.search(r"init|first|ready|is_set", source.code(test)):
            return True
    return False


def _made_of_itself(target: ast.expr, given: list[ast.expr]) -> bool:
    """Whether the old value comes in with its graph; `self.x = f(old)` with `old = self.x.detach()` keeps one batch."""
    name = tree.dotted(target)
    return isinstance(target, ast.Subscript) or any(
        tree.dotted(part) == name for one in given for part in ast.walk(one)
    )


def _joined(source: Source, node: ast.expr) -> list[ast.expr]:
    """The parts of `torch.cat([a, b])[-n:]`; itself where it is none."""
    while isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call | ast.Subscript):
        node = node.value
    first = node.args[0] if isinstance(node, ast.Call) and node.args and source.name(node.func) == "torch.cat" else None
    return first.elts if isinstance(first, ast.List | ast.Tuple) else [node]


def _refilled(source: Source, target: ast.expr, given: list[ast.expr]) -> bool:
    """`self.queue = torch.cat([self.queue, keys])[-n:]`: a tensor of its own that is made of itself."""
    value = given[0] if given else None
    while isinstance(value, ast.Subscript):
        value = value.value
    joined = isinstance(value, ast.Call) and source.name(value.func) in ("torch.cat", "torch.concat", "torch.vstack")
    code = source.code(target)
    return joined and any(source.code(one) == code for one in tree.under(source, given[0], ast.Attribute))


def _shadows(source: Source) -> Iterator[Hit]:
    """`shadow[name] = decay * shadow[name] + (1 - decay) * param` over the live parameters."""
    for walk in source.methods("parameters", "named_parameters"):
        loop = source.parents[walk]
        if not isinstance(loop, ast.For) or loop.iter is not walk:
            continue
        own = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
        name = own.id if isinstance(own, ast.Name) else ""
        writes: list[ast.Assign | ast.AugAssign] = [
            *tree.under(source, loop, ast.Assign),
            *tree.under(source, loop, ast.AugAssign),
        ]
        for write in writes:
            target = write.target if isinstance(write, ast.AugAssign) else write.targets[0]
            moves = (
                isinstance(target, ast.Subscript)
                and not isinstance(write.value, ast.List)
                and _mentions(source, write, target)
            )
            if moves and _live(source, write.value, name) and not _quiet(source, write):
                told = f"`{source.code(target)}` now drags a graph along that grows with every update: use `{name}.detach()`, or update under `torch.no_grad()`"
                yield source.hit(write, told)


def _mentions(source: Source, write: ast.Assign | ast.AugAssign, target: ast.expr) -> bool:
    """Whether the new value is made of the old one."""
    code = source.code(target)
    return isinstance(write, ast.AugAssign) or any(
        source.code(one) == code for one in tree.under(source, write.value, ast.Subscript)
    )


def _live(source: Source, value: ast.expr, name: str) -> bool:
    """Whether the parameter comes in with its graph."""
    used = [source.parents[one] for one in tree.under(source, value, ast.Name) if one.id == name]
    return bool(used) and not any(isinstance(up, ast.Attribute | ast.Subscript) for up in used)


def _quiet(source: Source, node: ast.AST) -> bool:
    home = tree.function(source, node)
    if tensors.no_grad_around(source, node) or home is None:
        return tensors.no_grad_around(source, node)
    calling = callers(as_function(source, home))
    return bool(calling) and all(tensors.no_grad_around(where, call) for where, call, _ in calling)


def _writes(source: Source) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """`self.x = ...`, `self.x += ...` and `self.x.lerp_(...)` with what is written."""
    held = (*uses.assigns(source, ast.Attribute), *uses.assigns(source, ast.Subscript))
    every: list[ast.Assign | ast.AugAssign] = [*held, *source.all(ast.AugAssign)]
    for one in every:
        first = getattr(source.parents[one], "name", "") == "__init__"
        target = one.target if isinstance(one, ast.AugAssign) else one.targets[0]
        if not first and one.value.__class__ not in _NO_GRAPH and _own(target):
            yield target, [one.value]
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

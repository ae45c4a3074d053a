"""The rule of one-list-many-times."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, tree, uses
from torchlore.check.project import as_class
from torchlore.check.source import Hit, Source

_MAKES = {"list", "dict", "set", "collections.defaultdict", "collections.Counter", "collections.deque"}
_TENSORS = {
    "torch.zeros",
    "torch.ones",
    "torch.full",
    "torch.rand",
    "torch.randn",
    "torch.zeros_like",
    "torch.ones_like",
}
_TENSORS |= {"numpy.zeros", "numpy.ones", "numpy.full", "numpy.zeros_like", "numpy.ones_like"}
_CHANGES = {"append", "extend", "insert", "add", "update", "setdefault", "remove", "clear", "appendleft"}


def find(source: Source) -> Iterator[Hit]:
    yield from _on_the_class(source)
    for node in (one.value for one in uses.assigns(source, None, ast.BinOp) if isinstance(one.value, ast.BinOp)):
        box = node.left if isinstance(node.left, ast.List) else node.right
        if isinstance(node.op, ast.Mult) and isinstance(box, ast.List) and len(box.elts) == 1:
            count = node.right if box is node.left else node.left
            made = _is_made(source, box.elts[0]) and tree.literal(count) != 1
            if made and _changed(source, node) and not follow.in_test(source, node):
                fixed = f"[{source.code(box.elts[0])} for _ in range({source.code(count)})]"
                yield source.hit(
                    node,
                    f"this is one `{source.code(box.elts[0])}` in every place, and what changes one changes all: write `{fixed}`",
                    edits.replace(source, node, fixed),
                )
    for call in source.methods("fromkeys"):
        if len(call.args) == 2 and tree.dotted(tree.receiver(call)) == "dict" and _can_change(source, call.args[1]):
            fixed = f"{{key: {source.code(call.args[1])} for key in {source.code(call.args[0])}}}"
            if _changed(source, call):
                yield source.hit(
                    call,
                    f"this is one `{source.code(call.args[1])}` under every key, and what changes one changes all: write `{fixed}`",
                    edits.replace(source, call, fixed),
                    severity="warning",
                )


def _on_the_class(source: Source) -> Iterator[Hit]:
    """`memory = []` in the body of a class, to which `self.memory.append(...)` adds, of a class that is made several times."""
    for cls in source.all(ast.ClassDef):
        for held in cls.body:
            target = held.targets[0] if isinstance(held, ast.Assign) else None
            if not isinstance(held, ast.Assign) or not isinstance(target, ast.Name) or not _is_made(source, held.value):
                continue
            read = uses.attributes(source, target.id)
            grown = (one for one in read if tree.dotted(one.value) == "self" and _grows(source, one))
            if not any(tree.class_of(source, one) is cls for one in grown) or not _several(source, cls):
                continue
            shared = any(tree.dotted(one.value) in ("cls", cls.name, "type(self)", "self.__class__") for one in read)
            if not shared and not any(isinstance(one.ctx, ast.Store) and _of(source, one, cls) for one in read):
                told = (
                    f"all objects of `{cls.name}` share this one `{target.id}`, and what one adds the others have too"
                )
                yield source.hit(held, f"{told}: set `self.{target.id}` in `__init__`", severity="warning")


def _of(source: Source, use: ast.Attribute, cls: ast.ClassDef) -> bool:
    """Whether this may be an attribute of the class: what another class does with its own `self` is not."""
    home = tree.class_of(source, use)
    heirs = home is not None and any(tree.dotted(one) == cls.name for one in home.bases)
    return tree.dotted(use.value) != "self" or home is cls or heirs


def _grows(source: Source, use: ast.Attribute) -> bool:
    up = source.parents[use]
    put = isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store)
    adds = isinstance(up, ast.Attribute) and isinstance(source.parents[up], ast.Call) and up.attr in _CHANGES
    return put or (adds and isinstance(up, ast.Attribute) and up.attr not in ("clear", "remove"))


def _several(source: Source, cls: ast.ClassDef) -> bool:
    """Whether the file makes more than one: in a comprehension or loop, or in two places of one block."""
    made = [*source.calls(as_class(source, cls).qualified)]
    many = any(isinstance(source.parents[one], ast.ListComp | ast.DictComp) for one in made)
    homes = [tree.function(source, one) for one in made]
    return many or any(homes.count(one) > 1 for one in homes)


def _is_made(source: Source, node: ast.expr) -> bool:
    """A fresh thing that can be changed in place."""
    if isinstance(node, ast.List | ast.Dict | ast.Set | ast.ListComp):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return isinstance(node.left, ast.List) or isinstance(node.right, ast.List)
    return isinstance(node, ast.Call) and source.name(node.func) in _MAKES


def _can_change(source: Source, node: ast.expr) -> bool:
    """Also a tensor; a list of one has a rule of its own."""
    return _is_made(source, node) or (isinstance(node, ast.Call) and source.name(node.func) in _TENSORS)


def _changed(source: Source, node: ast.expr) -> bool:
    """Whether one of the places is changed by its index or key: `x[i].append(v)`, `x[i] += v`, `x[i][k] = v`."""
    held = source.parents[node]
    target = held.targets[0] if isinstance(held, ast.Assign) and held.value is node else None
    if isinstance(target, ast.Name):
        home = tree.function(source, node)
        reads: list[ast.expr] = [
            one for one in uses.names(source, target.id) if home is None or tree.function(source, one) is home
        ]
    elif isinstance(target, ast.Attribute):
        reads = [*uses.attributes(source, target.attr)]
    else:
        return False
    places = [up for one in reads if isinstance(up := source.parents[one], ast.Subscript)]
    replaced = any(isinstance(one.ctx, ast.Store) and isinstance(source.parents[one], ast.Assign) for one in places)
    return not replaced and any(_changes(source, one) for one in places)


def _changes(source: Source, place: ast.AST) -> bool:
    up = source.parents[place]
    if isinstance(up, ast.AugAssign):
        return up.target is place
    if isinstance(up, ast.Subscript):
        return isinstance(up.ctx, ast.Store) or (
            isinstance(source.parents[up], ast.AugAssign) and source.parents[up].target is up  # type: ignore[attr-defined]  # asked before
        )
    if isinstance(up, ast.Attribute) and isinstance(source.parents[up], ast.Call):
        return up.attr in _CHANGES or (up.attr.endswith("_") and not up.attr.startswith("_"))
    return False

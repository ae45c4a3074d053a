"""Modules that a class keeps in plain lists and dicts: what is in them, and whether somebody registers it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import follow, tree
from torchlore.check.calls import returned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.classes import Attribute
    from torchlore.check.project import Class

_LISTS = {"torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.Sequential"}
_WALKS = {"named_modules", "modules", "children", "named_children"}
_ADD = {"add_module", "register_module", "setattr", "__setattr__"}


def is_container(node: ast.expr | None) -> bool:
    """Whether the expression is a list, dict or tuple as it stands."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("list", "dict") and not node.args
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List)
    return isinstance(node, ast.List | ast.Dict | ast.ListComp | ast.DictComp | ast.Tuple)


def held(cls: Class, one: Attribute) -> Iterator[ast.expr]:
    """The expressions put into the container: in its assignment, by append or insert, by an index."""
    yield from _written(one.value.left if isinstance(one.value, ast.BinOp) else one.value)
    name = f"self.{one.name}"
    for call in tree.under(cls.source, cls.node, ast.Call):
        added = isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "insert") and call.args
        if added and tree.dotted(tree.receiver(call)) == name:
            yield call.args[-1]
    for assign in tree.under(cls.source, cls.node, ast.Assign):
        targets = (target for target in assign.targets if isinstance(target, ast.Subscript))
        if any(tree.dotted(target.value) == name for target in targets):
            yield assign.value


def built(cls: Class, call: ast.expr | None) -> list[ast.expr]:
    """What is in the plain list that a method of the class, `self._build(...)`, makes and returns."""
    own = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and tree.dotted(call.func.value) == "self"
    method = cls.source.project.method(cls, call.func.attr) if own and isinstance(call, ast.Call) else None  # type: ignore[attr-defined]  # `own` says so
    back = returned(method) if method is not None and method.source is cls.source else []
    if method is None or len(back) != 1:
        return []
    if not isinstance(back[0], ast.Name):
        return _written(back[0]) if isinstance(back[0], ast.List | ast.ListComp) else []
    name = back[0].id
    bound = [one for one in tree.under(cls.source, method.node, ast.Assign) if tree.dotted(one.targets[0]) == name]
    if len(bound) != 1 or not isinstance(bound[0].value, ast.List | ast.ListComp):
        return []
    calls = (one for one in tree.under(cls.source, method.node, ast.Call) if isinstance(one.func, ast.Attribute))
    added = [one.args[0] for one in calls if follow.method(one) == "append" and tree.dotted(tree.receiver(one)) == name]
    return _written(bound[0].value) + added


def _written(node: ast.expr | None) -> list[ast.expr]:
    if isinstance(node, ast.List | ast.Tuple):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.ListComp):
        return [node.elt]
    return [node.value] if isinstance(node, ast.DictComp) else []


def _taken_out(node: ast.AST, name: str) -> bool:
    """`self.net = self.nets[key]`, or a method other than forward that hands one of them out."""
    if isinstance(node, ast.Assign):
        own = any(tree.dotted(target).startswith("self.") for target in node.targets)
        return own and isinstance(node.value, ast.Subscript) and tree.dotted(node.value.value) == name
    if not isinstance(node, ast.FunctionDef) or node.name in ("forward", "__call__"):
        return False
    backs = [part.value for part in tree.body_nodes(node) if isinstance(part, ast.Return)]
    bound = {tree.dotted(part.targets[0]): part.value for part in tree.body_nodes(node) if isinstance(part, ast.Assign)}
    given = [bound.get(tree.dotted(back), back) for back in backs if back is not None]
    return any(isinstance(back, ast.Subscript) and tree.dotted(back.value) == name for back in given)


def registered(cls: Class, name: str, inside: list[ast.expr]) -> bool:
    """Whether the container `self.name`, or a thing in it, is handed to something that registers it."""
    picked = tree.under(cls.source, cls.node, ast.Subscript)
    looked_up = any(tree.dotted(one.value) == f"self.{name}" for one in picked)
    taken = tree.under(cls.source, cls.node, ast.Assign, ast.FunctionDef) if looked_up else []
    if any(_taken_out(node, f"self.{name}") for node in taken):
        return True
    added = {node.id for node in inside if isinstance(node, ast.Name)}
    for loop in tree.under(cls.source, cls.node, ast.For):
        if any(tree.dotted(part) == f"self.{name}" for part in ast.walk(loop.iter)):
            added |= {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
    for call in tree.under(cls.source, cls.node, ast.Call):
        full, last = cls.source.name(call.func), tree.dotted(call.func).rpartition(".")[2]
        given = [arg.value if isinstance(arg, ast.Starred) else arg for arg in call.args]
        if full in _LISTS and any(tree.dotted(arg) == f"self.{name}" for arg in given):
            return True
        parts = [part for arg in given for part in ast.walk(arg)] if last in _ADD else []
        if any(
            tree.dotted(part) == f"self.{name}" or (isinstance(part, ast.Name) and part.id in added) for part in parts
        ):
            return True
    return False


def borrowed(node: ast.expr | None) -> bool:
    """`{name: part for name, part in self.encoder.named_modules()}`: parts of what is registered already."""
    over = node.generators[0].iter if isinstance(node, ast.ListComp | ast.DictComp) else None
    own = isinstance(over, ast.Call) and follow.method(over) in _WALKS
    return own and isinstance(over, ast.Call) and tree.dotted(tree.receiver(over)).startswith("self.")


def by_hand(cls: Class, name: str) -> bool:
    """Whether the class, or one it comes from, asks each module of the container for its parameters itself."""
    for base in cls.source.project.bases(cls)[0]:
        for loop in tree.under(base.source, base.node, ast.For):
            mine = any(tree.dotted(part) == f"self.{name}" for part in ast.walk(loop.iter))
            if mine and any(follow.method(part) == "parameters" for part in ast.walk(loop)):
                return True
    return False

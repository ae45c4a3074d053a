"""Tensors of whole numbers, and values that are none."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import follow, scopes, tree

if TYPE_CHECKING:
    from torchlore.check.source import Source

_WHOLE = {
    "torch.long",
    "torch.int64",
    "torch.int32",
    "torch.int",
    "torch.int16",
    "torch.uint8",
    "torch.bool",
    "torch.short",
}
_MAKERS = {
    "torch.randint",
    "torch.randperm",
    "torch.nn.functional.one_hot",
    "torch.argmax",
    "torch.argsort",
    "torch.bincount",
}
_METHODS = {"long", "int", "argmax", "argmin", "argsort", "byte", "short", "nonzero"}
_KEEP = {
    "unsqueeze",
    "squeeze",
    "view",
    "reshape",
    "clone",
    "detach",
    "to",
    "cuda",
    "cpu",
    "contiguous",
    "flatten",
    "expand",
}
_INDEX_AT = {"gather": 1, "scatter_": 1, "scatter": 1, "index_select": 1, "scatter_add_": 1}


def is_integer(source: Source, node: ast.expr, hops: int = 6) -> bool:
    """Whether a tensor surely holds whole numbers: by how it was made, or because it serves as an index."""
    if hops == 0:
        return False
    if isinstance(node, ast.Name):
        found = scopes.reaching(source, node)
        made = [one.value for one in found if one.how == "assign" and not one.path]
        if made and len(made) == len(found):
            return all(one is not None and is_integer(source, one, hops - 1) for one in made)
        return len(found) == 1 and found[0].how == "parameter" and _is_index(source, node)
    if isinstance(node, ast.Subscript):
        return is_integer(source, node.value, hops - 1)
    return isinstance(node, ast.Call) and _made_whole(source, node, hops)


def _made_whole(source: Source, call: ast.Call, hops: int) -> bool:
    dtype = tree.argument(call, None, "dtype")
    if dtype is not None:
        return source.name(dtype) in _WHOLE
    full, method = source.name(call.func), follow.method(call)
    if full in _MAKERS:
        return True
    if full in ("torch.tensor", "torch.arange"):
        given = [tree.literal(arg) for arg in call.args]
        return bool(given) and all(_whole_number(one) for one in given)
    if full:
        return False
    if method == "to" and call.args and source.name(call.args[0]).startswith("torch."):
        return source.name(call.args[0]) in _WHOLE
    return method in _METHODS or (method in _KEEP and is_integer(source, tree.receiver(call), hops - 1))


def _whole_number(value: object) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(_whole_number(one) for one in value)
    return isinstance(value, int)


def _is_index(source: Source, name: ast.Name) -> bool:
    """Whether the same parameter is given to something that only takes int64 indices."""
    home = tree.function(source, name)
    for node in tree.body_nodes(home) if home is not None else ():
        if not isinstance(node, ast.Call):
            continue
        method = follow.method(node)
        given = tree.argument(node, _INDEX_AT[method], "index") if method in _INDEX_AT else None
        if source.name(node.func) == "torch.nn.functional.one_hot" and node.args:
            given = node.args[0]
        while isinstance(given, ast.Call | ast.Subscript):
            kept = isinstance(given, ast.Subscript) or follow.method(given) in _KEEP
            given = (given.value if isinstance(given, ast.Subscript) else tree.receiver(given)) if kept else None
        if isinstance(given, ast.Name) and given.id == name.id:
            return True
    return False


def is_fraction(source: Source, node: ast.expr, hops: int = 12) -> bool:
    """Whether a number surely has a part behind the point: 0.9, 1 / n, 1 - eps with eps=0.1."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float) and node.value != int(node.value) if _finite(node.value) else False
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        whole = tree.literal(node)
        return whole is tree.UNKNOWN or (isinstance(whole, float) and whole != int(whole))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Add):
        left, right = is_fraction(source, node.left, hops), is_fraction(source, node.right, hops)
        other = tree.literal(node.right if left else node.left)
        return left != right and isinstance(other, int)
    return isinstance(node, ast.Name) and hops > 0 and _small_default(source, node, hops - 1)


def _finite(value: object) -> bool:
    return isinstance(value, float) and abs(value) < 1e9


def _small_default(source: Source, name: ast.Name, hops: int) -> bool:
    """A variable bound to a fraction, or a parameter whose default is one."""
    value = follow.binding(source, name)
    if value is not None:
        return is_fraction(source, value, hops)
    found = scopes.reaching(source, name)
    home = tree.function(source, name)
    if len(found) != 1 or found[0].how != "parameter" or home is None:
        return False
    args = home.args
    pairs = [*zip([*args.posonlyargs, *args.args][::-1], args.defaults[::-1], strict=False)]
    return any(arg.arg == name.id and isinstance(one, ast.Constant) and is_fraction(source, one) for arg, one in pairs)

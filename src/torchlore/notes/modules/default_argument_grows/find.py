"""The rule of default-argument-grows."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_GROWS = {"append", "extend", "insert"}
_MEANT = regex(r"cache|memo|registry|counter|store|seen|^_|state|singleton", re.IGNORECASE)
WORDS = ("def",)


def find(source: Source) -> Iterator[Hit]:
    lists = (*source.all(ast.List), *source.calls("list"))
    owners = dict.fromkeys(source.parents[up] for one in lists if isinstance(up := source.parents[one], ast.arguments))
    for function in owners:
        if not isinstance(function, ast.FunctionDef) or tree.function(source, function) is not None:
            continue  # its default is made anew with each call of what it stands in
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = [*zip(positional[::-1], arguments.defaults[::-1], strict=False),
                 *((arg, value) for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value)]  # fmt: skip
        for arg, default in pairs:
            at = _grown(source, function, arg) if _is_list(source, default) and not _MEANT.search(arg.arg) else None
            if at is not None and _is_said(source) and not _always_given(source, function, arg):
                told = f"`{arg.arg}` is made once for all calls, and line {at.lineno} puts more into it: write `{arg.arg}=None` and make it inside"
                yield source.hit(arg, told)


def _is_said(source: Source) -> bool:
    """Whether some list is a default as it stands, in a file about torch."""
    return "torch" in source.text and any(sign in source.text for sign in ("=[]", "= []", "=list()", "= list()"))


def _always_given(source: Source, function: ast.FunctionDef, arg: ast.arg) -> bool:
    """Whether the function is called, and each call brings a list of its own: the default is for nobody."""
    own = as_function(source, function)
    found = list(calls.callers(own)) if tree.method_class(source, function) is None else []
    return bool(found) and all(calls.given_argument(own, call, arg, skip) is not None for _, call, skip in found)


def _is_list(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return source.name(node.func) == "list" and not node.args
    return isinstance(node, ast.List)


def _grown(source: Source, function: ast.FunctionDef, arg: ast.arg) -> ast.expr | None:
    """Where the function puts something into the parameter itself, or a method into the attribute that keeps it."""
    for node in tree.body_nodes(function):
        if not isinstance(node, ast.Name) or node.id != arg.arg:
            continue
        up = source.parents[node]
        if (
            isinstance(up, ast.Assign)
            and up.value is node
            and [one.how for one in scopes.reaching(source, node)] == ["parameter"]
        ):
            kept = _grown_attribute(source, function, up.targets[0])
            if kept is not None:
                return kept
        call = source.parents[up] if isinstance(up, ast.Attribute) and up.attr in _GROWS else None
        put = isinstance(call, ast.Call) and call.func is up
        added = isinstance(up, ast.AugAssign) and up.target is node and isinstance(up.op, ast.Add)
        if not (put or added):
            continue
        bound = (
            [one for one in scopes.reaching(source, node) if one.statement is not up]
            if added
            else scopes.reaching(source, node)
        )
        if [one.how for one in bound] == ["parameter"] or (added and not bound):
            return node
    return None


def _grown_attribute(source: Source, function: ast.FunctionDef, target: ast.expr) -> ast.expr | None:
    """Where another method of the class puts something into `self.x`, which nobody gives another value."""
    owner = tree.method_class(source, function)
    if owner is None or not tree.dotted(target).startswith("self."):
        return None
    same = [one for one in tree.under(source, owner, ast.Attribute) if tree.dotted(one) == tree.dotted(target)]
    if sum(isinstance(one.ctx, ast.Store) for one in same) != 1:
        return None
    ups = ((one, source.parents[one]) for one in same)
    return next((one for one, up in ups if isinstance(up, ast.Attribute) and up.attr in _GROWS), None)

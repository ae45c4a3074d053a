"""Which object an expression names: `self.opt` in a method and `trainer.opt` outside are one, `model.cuda()` is `model`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple, cast

from torchlore.check import api
from torchlore.check.calls import callers, given_argument
from torchlore.check.classes import class_behind, own_attributes
from torchlore.check.pattern import regex
from torchlore.check.project import Class, Function, as_class, as_function
from torchlore.check.scopes import Binding, bound, reaching, scope_of
from torchlore.check.tree import FunctionNode, literal, parameters
from torchlore.check.values import values

if TYPE_CHECKING:
    from torchlore.check.source import Source


class Parameter(NamedTuple):
    """A parameter whose callers give different things: filled in when a call is looked through."""

    function: FunctionNode
    name: str


_UNWRAPS = regex(r"_?(unwrap|de_?parallel)")  # `accelerator.unwrap_model(model)`, `de_parallel(model)`
Identity = tuple[object, ...]  # a root (scope and name, class, parameter), then attribute names


def identity(source: Source, node: ast.expr, hops: int = 8) -> Identity | None:
    """The object an expression names, comparable with `==`; None where it names none."""
    memo: dict[ast.expr, Identity | None] = source.memo.setdefault("identity", {})
    if node in memo:
        return memo[node]
    if hops <= 0:
        return None
    memo[node] = None  # for whoever asks while we look
    memo[node] = _identity(source, node, hops)
    return memo[node]


def _identity(source: Source, node: ast.expr, hops: int) -> Identity | None:
    if isinstance(node, ast.Name):
        return _of_name(source, node, hops)
    if isinstance(node, ast.Attribute):
        return _of_attribute(source, node, hops)
    if isinstance(node, ast.Call):
        inner = unwrap(source, node)
        return identity(source, inner, hops - 1) if inner is not None else None
    if isinstance(node, ast.Subscript):
        base = identity(source, node.value, hops - 1)
        index = literal(node.slice)
        return (*base, f"[{index!r}]") if base and isinstance(index, int | str) else None
    return None


def unwrap(source: Source, call: ast.Call) -> ast.expr | None:
    """The object that `x.to(…)`, `x.eval()`, `nn.DataParallel(x)`, `torch.compile(x)` or `unwrap_model(x)` hand back."""
    full = source.name(call.func)
    word = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if (full in api.WRAPPERS or _UNWRAPS.match(word)) and call.args:
        return call.args[0]
    if isinstance(call.func, ast.Attribute) and call.func.attr in api.SELF_METHODS and not full.startswith("torch"):
        return call.func.value
    return None


def _of_name(source: Source, node: ast.Name, hops: int) -> Identity | None:
    if not isinstance(node.ctx, ast.Load):
        return _stored(source, node)
    found = reaching(source, node)
    if not found:
        return (source.path, node.id) if source.names.imported.get(node.id) is None else (source.name(node),)
    identities = {_of_binding(source, binding, node, hops) for binding in found}
    if len(identities) == 1:
        return identities.pop()
    return (_home(source, found[0]), node.id)


def _stored(source: Source, node: ast.Name) -> Identity:
    table, scope = bound(source, node.id), scope_of(source, node)
    while scope not in table and scope is not source.tree:
        scope = scope_of(source, scope)
    return (scope, node.id)


def _home(source: Source, binding: Binding) -> ast.AST:
    scope = scope_of(source, binding.statement)
    return scope if binding.how != "parameter" else binding.statement


def _of_binding(source: Source, binding: Binding, node: ast.Name, hops: int) -> Identity | None:
    own: Identity = (_home(source, binding), node.id)
    if binding.how == "parameter":
        return _of_parameter(source, cast("ast.arg", binding.node), hops)
    if binding.how == "import":
        return (source.name(node),)
    value = binding.value
    if binding.how != "assign" or value is None:
        return own
    if (
        binding.path
        and isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "prepare"
    ):
        index = binding.path[0]
        return identity(source, value.args[index], hops - 1) if 0 <= index < len(value.args) else own
    if binding.path and isinstance(value, ast.Tuple) and len(binding.path) == 1 and binding.path[0] < len(value.elts):
        return identity(source, value.elts[binding.path[0]], hops - 1) or own  # `model, data = self.model, self.data`
    if binding.path:
        return own
    if isinstance(value, ast.Name | ast.Attribute):
        return identity(source, value, hops - 1) or own
    inner: ast.expr | None = value
    while isinstance(inner, ast.Call):
        inner = unwrap(source, inner)  # `net.cuda().eval()`
    if isinstance(inner, ast.Name | ast.Attribute):
        same = identity(source, inner, hops - 1)
        return same or own
    return own


def _of_parameter(source: Source, arg: ast.arg, hops: int) -> Identity | None:
    node = source.parents[source.parents[arg]]
    if isinstance(node, ast.Lambda):
        return (node, arg.arg)
    function = as_function(source, cast("FunctionNode", node))
    if function.owner and parameters(function.node)[0] is arg:
        return (_root(as_class(source, function.owner)),)
    given: set[Identity | None] = set()
    for caller, call, skip in callers(function):
        expression = given_argument(function, call, arg, skip)
        given.add(identity(caller, expression, hops - 2) if expression is not None else None)
    if len(given) == 1 and (only := given.pop()) is not None:
        return only
    return (Parameter(function.node, arg.arg),)


def _root(cls: Class) -> str:
    """One name for a class and its bases in the project, so that inherited attributes are the same object."""
    return cls.source.project.bases(cls)[0][-1].qualified


def _of_attribute(source: Source, node: ast.Attribute, hops: int) -> Identity | None:
    if node.attr == "module":  # DataParallel's inside
        return identity(source, node.value, hops - 1)
    owner = next((cls for value in values(source, node.value) if (cls := class_behind(source, value))), None)
    if owner is None:
        base = identity(source, node.value, hops - 1)
        return (*base, node.attr) if base else None
    assigned = [one for base in source.project.bases(owner)[0] for one in own_attributes(base).get(node.attr, ())]
    real = [one for one in assigned if not (isinstance(one.value, ast.Constant) and one.value.value is None)]
    if len(real) == 1 and real[0].method == "__init__" and isinstance(real[0].value, ast.Name) and not real[0].path:
        inner = identity(real[0].source, real[0].value, hops - 1)
        if inner and not isinstance(inner[0], Parameter):
            return inner
    return (_root(owner), node.attr)


def substitute(
    found: Identity | None, source: Source, call: ast.Call, function: Function, skip: int
) -> Identity | None:
    """An object of a callee, in terms of its caller."""
    if (
        found
        and len(found) == 1
        and isinstance(found[0], str)
        and (own := _called_on(source, call, function, found[0]))
    ):
        return own
    if not found or not isinstance(found[0], Parameter) or found[0].function is not function.node:
        return found
    name = found[0].name
    arg = next((one for one in parameters(function.node) if one.arg == name), None)
    given = given_argument(function, call, arg, skip) if arg else None
    outer = identity(source, given) if given is not None else None
    return (*outer, *found[1:]) if outer else found


def _called_on(source: Source, call: ast.Call, function: Function, root: str) -> Identity | None:
    """`net` of `net.val_start()`, whose `self.eval()` happens to it: in the method it is known by its class alone."""
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    if receiver is None or not function.owner or function.node.name == "__init__":
        return None
    return identity(source, receiver) if root == _root(as_class(function.source, function.owner)) else None

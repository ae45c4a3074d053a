"""How many rows a tensor or a data set has, through the functions and classes of the project that make it."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING

from torchlore.check import averages, calls, classes, flow, follow, scopes, shapes, tree
from torchlore.check.project import Class, Function

if TYPE_CHECKING:
    from torchlore.check.source import Source

Given = dict[str, int]  # the numbers that the call gave to the parameters of the function it runs
_MAKERS = {
    f"{room}.{name}" for room in ("torch", "numpy") for name in ("zeros", "ones", "empty", "full", "rand", "randn")
}
_DRAWS = {"numpy.random.randn", "numpy.random.rand"} | _MAKERS
_LAST = {"torch.randint", "torch.linspace", "torch.randperm", "torch.arange", "numpy.arange", "numpy.linspace", "range"}
_EVEN = {"float", "long", "double", "int", "half", "bool", "clamp", "abs", "sin", "cos", "exp", "log", "tanh", "sigmoid",
         "relu", "pow", "to", "contiguous", "clone", "detach", "softmax", "add", "sub", "mul", "div", "round", "floor",
         "type", "cumsum", "sqrt", "square", "flatten", "astype", "list", "tuple", "tensor", "as_tensor", "from_numpy",
         "array", "zeros_like", "ones_like", "randn_like", "rand_like"}  # fmt: skip
_FOLDS = {"sum", "mean", "argmax", "prod", "std", "var", "any", "all", "unsqueeze", "squeeze", "norm"}
_SETS = {"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset", "zip"}
_ARITHMETIC = {ast.Mult: operator.mul, ast.Add: operator.add, ast.Sub: operator.sub, ast.FloorDiv: operator.floordiv}
_SPLIT = {"torch.utils.data.random_split", "torch.utils.data.dataset.random_split"}


def length(
    source: Source, node: ast.expr, given: Given | None = None, path: tuple[int, ...] = (), hops: int = 10
) -> int | None:
    """The rows of a tensor, a list or a data set; `given` are the parameters' numbers, `path` the part of a tuple."""
    known = given or {}
    if hops == 0:
        return None
    if isinstance(node, ast.Name):
        bound = scopes.reaching(source, node)
        one = bound[0] if len(bound) == 1 and bound[0].how == "assign" else None
        return length(source, one.value, known, (*one.path, *path), hops - 1) if one is not None and one.value else None
    if isinstance(node, ast.Tuple | ast.List):
        return _of_several(source, node, known, path, hops - 1)
    if isinstance(node, ast.Call):
        return _of_call(source, node, known, path, hops - 1)
    return _of_part(source, node, known, hops - 1) if not path else None


def _of_several(
    source: Source, node: ast.Tuple | ast.List, given: Given, path: tuple[int, ...], hops: int
) -> int | None:
    if path:
        inside = 0 <= path[0] < len(node.elts)  # -1 is a starred rest
        return length(source, node.elts[path[0]], given, path[1:], hops) if inside else None
    return None if any(isinstance(one, ast.Starred) for one in node.elts) else len(node.elts)


def _of_part(source: Source, node: ast.expr, given: Given, hops: int) -> int | None:
    """`x[:, 0]`, `x[800:]`, `x + noise`, `x > 0`, `[draw() for _ in range(n)]`."""
    if isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs:
        return length(source, node.generators[0].iter, given, (), hops)
    if isinstance(node, ast.Compare):
        return length(source, node.left, given, (), hops)
    if isinstance(node, ast.UnaryOp):
        return length(source, node.operand, given, (), hops)
    if isinstance(node, ast.BinOp):
        sides = {length(source, side, given, (), hops) for side in (node.left, node.right)} - {None, 1}
        return sides.pop() if len(sides) == 1 else None
    if not isinstance(node, ast.Subscript):
        return None
    first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    if _is_mask(follow.followed(source, first)):
        return None  # it keeps as many as there are
    if not isinstance(first, ast.Slice):
        return length(source, first, given, (), hops)  # table[index]
    whole = length(source, node.value, given, (), hops)
    ends = [count(source, one, given) if one is not None else None for one in (first.lower, first.upper)]
    told = all(end is not None or one is None for end, one in zip(ends, (first.lower, first.upper), strict=True))
    return shapes.taken(whole, ends[0], ends[1], None) if whole is not None and told and first.step is None else None


def _is_mask(node: ast.expr) -> bool:
    """`y > 0`, `~held`, `(y > 0) & (y < 3)`."""
    both = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr)
    return both or isinstance(node, ast.Compare | ast.UnaryOp)


def _of_call(source: Source, call: ast.Call, given: Given, path: tuple[int, ...], hops: int) -> int | None:
    full, name = source.name(call.func), follow.word(source, call)
    if full in _DRAWS or full in _LAST:
        return _drawn(source, call, full, given) if not path else None
    if full in _SETS and not path:
        found = (length(source, one, given, (), hops) for one in call.args if not isinstance(one, ast.Starred))
        return next((one for one in found if one is not None), None)
    if full in _SPLIT and len(path) == 1 and len(call.args) > 1:
        parts = follow.followed(source, call.args[1])
        inside = isinstance(parts, ast.List | ast.Tuple) and 0 <= path[0] < len(parts.elts)
        return count(source, parts.elts[path[0]], given) if inside and isinstance(parts, ast.List | ast.Tuple) else None
    if full == "torch.utils.data.Subset" and len(call.args) == 2:
        return length(source, call.args[1], given, path, hops)
    folds = name in _FOLDS and tree.literal(tree.argument(call, 1 if full else 0, "dim")) not in (None, 0, tree.UNKNOWN)
    if not path and (name in _EVEN or folds):
        of = (
            call.args[0]
            if full and call.args
            else tree.receiver(call)
            if isinstance(call.func, ast.Attribute)
            else None
        )
        return length(source, of, given, (), hops) if of is not None else None
    return _of_project(source, call, given, path, hops)


def _drawn(source: Source, call: ast.Call, full: str, given: Given) -> int | None:
    """`torch.randn(n, 4)`, `torch.randint(0, 3, (n,))`, `torch.linspace(0, 1, n)`, `range(n)`."""
    size = tree.keyword(call, "size")
    if size is None and (not call.args or (full.endswith(("arange", "range")) and len(call.args) > 1)):
        return None
    shape = size.value if size is not None else call.args[-1 if full in _LAST else 0]
    if isinstance(shape, ast.Tuple | ast.List):
        return count(source, shape.elts[0], given) if shape.elts else None
    return count(source, shape, given) if full != "torch.randint" else None


def _of_project(source: Source, call: ast.Call, given: Given, path: tuple[int, ...], hops: int) -> int | None:
    """What a function of the project gives back, or what `__len__` of a class of the project says."""
    target = source.project.resolve(source, call.func)
    function = source.project.method(target, "__init__") if isinstance(target, Class) else flow.called(source, call)
    if function is None:
        return None
    inner = _numbers(source, call, function, given, skip=isinstance(target, Class))
    if isinstance(target, Class):
        return _says(target, inner, hops) if not path else None
    backs = calls.returned(function)
    return length(function.source, backs[0], inner, path, hops) if len(backs) == 1 else None


def _numbers(source: Source, call: ast.Call, function: Function, given: Given, *, skip: bool) -> Given:
    """The whole numbers that a call gives to a function's parameters, or that they have by default."""
    found = Given()
    for arg in tree.parameters(function.node):
        value = calls.given_argument(function, call, arg, int(skip))
        default = calls.default_of(function, arg) if value is None else None
        number = count(source, value, given) if value is not None else None
        number = count(function.source, default, {}) if default is not None else number
        if number is not None:
            found[arg.arg] = number
    return found


def _says(cls: Class, given: Given, hops: int) -> int | None:
    """`return len(self.x)` or `return self.n`, with what `__init__` was given."""
    method = classes.methods(cls).get("__len__")
    last = method.body[-1] if method is not None else None
    said = last.value if isinstance(last, ast.Return) else None
    counted = isinstance(said, ast.Call) and cls.source.name(said.func) == "len" and len(said.args) == 1
    held = said.args[0] if counted and isinstance(said, ast.Call) else said
    name = held.attr if isinstance(held, ast.Attribute) and tree.dotted(held) == f"self.{held.attr}" else ""
    found = classes.own_attributes(cls).get(name, [])
    one = found[0] if len(found) == 1 and found[0].method == "__init__" else None
    if one is None or one.value is None:
        return None
    return length(cls.source, one.value, given, one.path, hops) if counted else count(cls.source, one.value, given)


def count(source: Source, node: ast.expr, given: Given, hops: int = 6) -> int | None:
    """A whole number: as it stands, of a parameter, of a name, or a product or a sum of such."""
    value = tree.literal(node)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(node, ast.Name) and hops:
        bound = follow.binding(source, node)
        if bound is not None:
            return count(source, bound, given, hops - 1)
        only = [one.how for one in scopes.reaching(source, node)] == ["parameter"]
        if only and node.id not in given:
            told = averages.number(source, node)  # what all callers give it, or its default
            return int(told) if told is not None and told == int(told) else None
        return given.get(node.id) if only else None
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = (count(source, side, given, hops) for side in (node.left, node.right))
        if left is None or right is None or (isinstance(node.op, ast.FloorDiv) and right == 0):
            return None
        return int(_ARITHMETIC[type(node.op)](left, right))
    return None

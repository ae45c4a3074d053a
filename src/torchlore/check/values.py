"""What an expression is: kind, maker, activation, graph and shape, as far as the text tells. Unknown is an answer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple, cast

from torchlore.check import api, scopes, shapes
from torchlore.check.project import Class, Function
from torchlore.check.question import DEEPEST, NO_CIRCLE, question
from torchlore.check.scopes import Binding, reaching
from torchlore.check.tree import dotted, function, literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlore.check.question import Question
    from torchlore.check.source import Source

Shape = tuple["int | str | None", ...]
_MOST = 8  # alternatives kept for one expression
_WORK = 4000  # evaluations for one question
_DTYPES = {f"torch.{name}" for name in ("float", "float32", "float16", "half", "bfloat16", "long", "int64", "double")}
_PROMISES = {"int": "number", "float": "number", "str": "string", "bool": "bool", "dict": "dict", "list": "list",
             "torch.Tensor": "tensor", "torch.nn.Module": "module", "torch.optim.Optimizer": "optimizer",
             "numpy.ndarray": "ndarray", "torch.device": "device"}  # fmt: skip


class Value(NamedTuple):
    """One thing an expression may be."""

    kind: str = ""  # "" is unknown
    name: str = (
        ""  # what made it: "torch.nn.Linear", "train.Net", "torch.softmax"; of a class or function: its own name
    )
    node: ast.AST | None = None  # the call that made it
    source: Source | None = None  # the file that call stands in
    state: str = ""  # tensors: logits, probs, logprobs, sigmoid, relu, ...
    attached: bool | None = None  # tensors: whether a graph hangs on it
    shape: Shape | None = None  # tensors: a leading None stands for any number of dimensions
    items: tuple[
        tuple[Value, ...], ...
    ] = ()  # of a tuple or list, of Sequential its layers, of a wrapper what it wraps
    weak: bool = False  # only a conventional name says so

    def __hash__(self) -> int:
        """Without what it holds: a dictionary of dictionaries of dictionaries is as long as its branches are many."""
        return hash((self.kind, self.name, self.node, self.state))


Values = tuple[Value, ...]
UNKNOWN = Value()


def values(source: Source, node: ast.expr) -> Values:
    """What the expression may be; an unknown value among them where one possibility cannot be seen."""
    memo: dict[ast.expr, Values] | None = source.memo.get("values")
    if memo is None:
        memo = source.memo["values"] = {}
    found = memo.get(node)
    if found is not None:
        return found
    work: Question = source.project.state.get("question") or question(source)
    if node in work.active:
        work.low = min(work.low, work.active[node])
        return ()
    if node in work.guesses:
        found, low = work.guesses[node]
        work.low = min(work.low, low)
        return found
    depth = len(work.active)
    if depth > DEEPEST or work.count > _WORK:
        work.low = -1
        return (UNKNOWN,)
    before, work.low = work.low, NO_CIRCLE
    work.active[node] = depth
    work.count += 1
    found = _EVALUATE.get(node.__class__, _unknown)(source, node)
    if len(found) > 1:
        found = merge(found)
    del work.active[node]
    if work.low >= depth or not depth:
        memo[node] = found
        if not depth or work.low != NO_CIRCLE:
            work.settle(depth)
        work.low = before
    else:
        work.guesses[node] = found, work.low
        work.low = min(before, work.low)
    return found


def merge(found: Values) -> Values:
    """Without repetitions; where there are too many, one tensor if all of them are tensors, else one unknown."""
    unique = tuple(dict.fromkeys(found))
    if len(unique) <= _MOST:
        return unique
    if {one.kind for one in unique} != {"tensor"}:
        return (UNKNOWN,)
    graphs, states = {one.attached for one in unique}, {one.state for one in unique}
    same = states.pop() if len(states) == 1 else ""
    graph = graphs.pop() if len(graphs) == 1 else None
    return (Value("tensor", state=same, attached=graph, weak=any(one.weak for one in unique)),)


def kind(source: Source, node: ast.expr, *, weak: bool = False) -> frozenset[str]:
    """The possible kinds, empty where unknown; `weak` also believes conventional names such as `optimizer`."""
    found = values(source, node)
    if found and all(value.kind and (weak or not value.weak) for value in found):
        return frozenset(value.kind for value in found)
    if weak and (guess := api.weak_kind(_last(node))):
        return frozenset({guess})
    return frozenset()


def sure(source: Source, node: ast.expr, *wanted: str, weak: bool = False) -> bool:
    """Whether the expression is surely of one of these kinds (a None beside them does not count)."""
    found = kind(source, node, weak=weak) - {"none"}
    return bool(found) and all(any(api.is_kind(one, want) for want in wanted) for one in found)


def maybe(source: Source, node: ast.expr, *wanted: str, weak: bool = True) -> bool:
    """Whether one of the possibilities is of one of these kinds."""
    found = {value.kind for value in values(source, node) if weak or not value.weak} - {""}
    if not found and weak:
        found = {api.weak_kind(_last(node))}
    return any(api.is_kind(one, want) for one in found for want in wanted)


def made_by(source: Source, node: ast.expr, *names: str) -> Value | None:
    """The value if every known possibility was made by one of these functions or classes."""
    found = [value for value in values(source, node) if value.kind != "none"]
    return found[0] if found and all(value.name in names for value in found) else None


def state(source: Source, node: ast.expr) -> Value | None:
    """The tensor whose last activation is known and the same in every possibility; its `node` is where it was applied."""
    found = values(source, node)
    same = bool(found) and all(value.state and value.state == found[0].state for value in found)
    return found[0] if same else None


def attached(source: Source, node: ast.expr) -> bool | None:
    """Whether a graph hangs on the value: True, False, or None where it cannot be seen."""
    found = {value.attached for value in values(source, node)}
    return found.pop() if len(found) == 1 else None


def shape(source: Source, node: ast.expr) -> Shape | None:
    """The shape, with sizes as numbers or as the user's own text; a leading None stands for unseen dimensions."""
    return shapes.common({value.shape for value in values(source, node)})


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return _last(node.value) if isinstance(node, ast.Subscript) else ""


def _unknown(source: Source, node: ast.expr) -> Values:  # noqa: ARG001  # the shape every evaluator has
    return (UNKNOWN,)


def _constant(source: Source, node: ast.Constant) -> Values:
    value = node.value
    if value is None or isinstance(value, bool):
        return (Value("none" if value is None else "bool", node=node, source=source),)
    if isinstance(value, int | float):
        return (Value("number", node=node, source=source),)
    return (Value("string", node=node, source=source),) if isinstance(value, str) else (UNKNOWN,)


def _name(source: Source, node: ast.Name) -> Values:
    full = source.name(node)
    if full and (found := named(source, node, full)):
        return found
    found = ()
    for binding in reaching(source, node):
        found += bound(source, binding)
    return found or ((UNKNOWN,) if not reaching(source, node) else ())


def named(source: Source, node: ast.expr, full: str) -> Values:
    """A name that is imported or defined in the project: a class, a function, a module-level value."""
    target = source.project.resolve(source, node)
    if isinstance(target, Class):
        return (Value("class", target.qualified, target.node, target.source),)
    if isinstance(target, Function):
        return (Value("function", target.qualified, target.node, target.source),)
    if full in _DTYPES:
        return (Value("dtype", full),)
    if full in ("numpy.nan", "numpy.pi", "numpy.inf", "math.pi", "math.inf", "math.nan"):
        return (Value("number", full),)
    last = full.rpartition(".")[2]
    if full.startswith(("torch.nn.", "torch.optim.", "torch.utils.data.")) and last[:1].isupper():
        return (Value("class", full),)
    if full.startswith("torch.") and api.kind_of_call(full) == "tensor" and last[:1].islower():
        return (Value("function", full),)  # `self.criterion = F.mse_loss`
    return _module_value(source, full)


def _module_value(source: Source, full: str) -> Values:
    """A variable at the top of another file of the project."""
    module, _, identifier = full.rpartition(".")
    other = source.project.module(module, source.path) if module and not module.startswith("torch") else None
    if other is None or other is source:
        return ()
    found: Values = ()
    for binding in scopes.bound(other, identifier).get(other.tree, ()):
        if binding.how == "assign":
            found += bound(other, binding)
    return found


def bound(source: Source, binding: Binding) -> Values:
    """What one binding gives its name."""
    if binding.how == "parameter":
        from torchlore.check.calls import parameter

        return parameter(source, cast("ast.arg", binding.node))
    if binding.how == "def":
        return (Value("function", f"{source.module}.{binding.name}", binding.node, source),)
    if binding.how == "class":
        return (Value("class", f"{source.module}.{binding.name}", binding.node, source),)
    if binding.value is None:
        return annotated(source, binding.annotation) if binding.annotation else (UNKNOWN,)
    if binding.how in ("for", "comprehension"):
        from torchlore.check.iteration import elements

        return _unpack(elements(source, binding.value), binding.path)
    if binding.how == "with":
        entered = values(source, binding.value)
        return entered if any(value.kind == "file" for value in entered) else (UNKNOWN,)
    if binding.how == "aug":
        return values(source, cast("ast.expr", binding.statement))  # twenty in a row would double twenty times
    found = _unpack(values(source, binding.value), binding.path)
    if binding.annotation and all(not value.kind for value in found):
        return annotated(source, binding.annotation)
    return found


def _augmented(source: Source, statement: ast.AugAssign) -> Values:
    before: Values = ()
    for earlier in reaching(source, cast("ast.Name", statement.target)):
        if earlier.statement is not statement:
            before += bound(source, earlier)
    before = merge(before)
    if len(before) == 1 and before[0].kind == "list" and _is_named(source, before[0], statement.target):
        return before  # the same list still: `calls` tells what comes into it
    return _arithmetic(before, values(source, statement.value), source, statement)


def _is_named(source: Source, box: Value, name: ast.expr) -> bool:
    """Whether a list was written down under this very name."""
    up = source.parents.get(box.node) if box.source is source and box.node is not None else None
    return isinstance(up, ast.Assign) and up.value is box.node and dotted(up.targets[0]) == dotted(name)


def _unpack(found: Values, path: tuple[int, ...]) -> Values:
    for index in path:
        unpacked: Values = ()
        for value in found:
            whole = api.is_kind(value.kind, "tensor")  # it may be another net that gives two things here
            unpacked += tuple(part._replace(state="") for part in item(value, index)) if whole else item(value, index)
        found = unpacked
    return found


def item(value: Value, index: int | None) -> Values:
    """What stands at an index of a value (None: somewhere in it)."""
    if value.items and value.kind in ("tuple", "list", "sequential", "modulelist", "iterator"):
        exact = index is not None and -len(value.items) <= index < len(value.items)
        sure = exact and (cast("int", index) >= 0 or value.kind != "list")
        inside = value.items[cast("int", index)] if sure else sum(value.items, ())
        layers = value.kind in ("sequential", "modulelist")
        return tuple(Value("module") if layers and not one.kind else one for one in inside)
    if api.is_kind(value.kind, "tensor"):
        return (value._replace(kind="tensor", shape=None),)
    if value.kind == "batch":
        known = value.items[index] if index is not None and 0 <= index < len(value.items) else ()
        return known or (Value("tensor", "loader", attached=False, weak=value.weak),)
    if value.kind == "none":
        return ()
    if value.kind in ("shape", "range"):
        return (Value("number"),)
    if value.kind in ("modules", "sequential", "modulelist", "moduledict") or value == Value("module"):
        return (Value("module", weak=value.weak),)
    if value.kind in ("parameters", "parameterlist"):
        return (Value("parameter", attached=True),)
    if value.kind == "tensors":
        return (Value("tensor", weak=value.weak),)
    if value.kind == "ndarray":
        return (Value("ndarray", weak=True),)
    return (UNKNOWN,)


def _attribute(source: Source, node: ast.Attribute) -> Values:
    full = source.name(node)
    if full and (known := named(source, node, full)):
        return known
    found: Values = ()
    for value in values(source, node.value):
        found += attribute(source, value, node.attr)
    return found


def attribute(source: Source, value: Value, name: str) -> Values:
    """What an attribute of a value is."""
    if api.is_kind(value.kind, "tensor"):
        return _tensor_attribute(value, name)
    if value.kind == "tuple" and name in ("values", "indices") and len(value.items) == 2 and value.name:
        return value.items[name == "indices"]  # `q.max(1).values`
    if value.kind == "optimizer" and name == "param_groups":
        return (Value("list", items=((Value("dict"),),)),)
    from torchlore.check.classes import attribute_values, class_behind

    owner = class_behind(source, value)
    if owner is not None:
        if found := attribute_values(owner, name, value):
            return found
        if method := source.project.method(owner, name):
            return (Value("function", method.qualified, method.node, method.source),)
    if name in ("weight", "bias") and value.kind == "module" and value.name.startswith("torch.nn."):
        return (Value("parameter", f"{value.name}.{name}", attached=True),)
    if name == "training" and api.is_kind(value.kind, "module"):
        return (Value("bool"),)
    if owner is None and value.kind == "module" and api.PARTS.fullmatch(name):
        return (Value("module"),)
    if name == "module" and value.name in api.WRAPPERS and value.items:
        return value.items[0]
    if name == "dataset" and value.kind == "loader":
        return value.items[0] if value.items else (Value("dataset"),)
    return (UNKNOWN,)


def _tensor_attribute(value: Value, name: str) -> Values:
    if name == "data":
        return (value._replace(kind="tensor", attached=False),)
    if name == "grad":
        return (Value("tensor", "grad", attached=False),)
    if name in ("T", "mT", "real", "imag"):
        return (value._replace(kind="tensor", shape=None),)
    known = {"shape": "shape", "device": "device", "dtype": "dtype", "ndim": "number", "requires_grad": "bool"}
    return (Value(known.get(name, "")),)


def _arithmetic(left: Values, right: Values, source: Source, node: ast.AST) -> Values:
    found: Values = ()
    for one in left:
        for other in right:
            found += (_combine(one, other, source, node),)
    return merge(found)


def _combine(one: Value, other: Value, source: Source, node: ast.AST) -> Value:
    first, second = api.is_kind(one.kind, "tensor"), api.is_kind(other.kind, "tensor")
    if first or second:
        graph = {value.attached for value in (one, other) if api.is_kind(value.kind, "tensor") or not value.kind}
        joined = True if True in graph else None if None in graph else False
        scaled = isinstance(getattr(node, "op", None), ast.Mult | ast.Div) and not (first and second)
        biased = isinstance(getattr(node, "op", None), ast.Add) and other.kind == "parameter"
        kept = one.state if first and (scaled or biased) and one.state == "logits" else ""
        weak = one.weak if first and not second else other.weak if second and not first else one.weak and other.weak
        matrix = isinstance(getattr(node, "op", None), ast.MatMult)
        size = shapes.product(one.shape, other.shape) if matrix else _broadcast(one, other)
        return Value("tensor", "arithmetic", node, source, kept, joined, size, weak=weak)
    if one.kind == other.kind and one.kind in ("number", "ndarray", "string", "list"):
        return Value(one.kind, node=node, source=source, items=one.items + other.items if one.kind == "list" else ())
    if {"ndarray"} <= {one.kind, other.kind} <= {"ndarray", "number"}:
        return Value("ndarray", node=node, source=source)
    return Value("number") if {one.kind, other.kind} <= {"number", "bool"} else UNKNOWN


def _broadcast(one: Value, other: Value) -> Shape | None:
    if one.shape == other.shape:
        return one.shape
    if one.kind == "number" or other.kind == "number":
        return other.shape if one.kind == "number" else one.shape
    return None


def _binary(source: Source, node: ast.BinOp) -> Values:
    left = values(source, node.left)
    if isinstance(node.op, ast.Mult) and any(value.kind == "list" for value in left):
        return left
    found = _arithmetic(left, values(source, node.right), source, node)
    if not isinstance(node.op, ast.Div):
        return found
    from torchlore.check.tensors import activation_by_hand

    state = activation_by_hand(source, node)
    return tuple(one._replace(state=state) if one.kind == "tensor" else one for one in found) if state else found


def _unary(source: Source, node: ast.UnaryOp) -> Values:
    if isinstance(node.op, ast.Not):
        return (Value("bool"),)
    found = values(source, node.operand)
    return tuple(value._replace(state="", node=node) if value.state else value for value in found)


def _compare(source: Source, node: ast.Compare) -> Values:
    if any(isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in node.ops):
        return (Value("bool"),)
    for side in (node.left, *node.comparators):
        found = values(source, side)
        if found and all(api.is_kind(value.kind, "tensor") for value in found):
            size = _compared(source, node, found[0])
            return (
                Value(
                    "tensor",
                    "compare",
                    node,
                    source,
                    attached=False,
                    shape=size,
                    weak=all(value.weak for value in found),
                ),
            )
    sides = [kind(source, side) for side in (node.left, *node.comparators)]
    return (Value("bool"),) if all(side and side <= {"number", "string", "bool"} for side in sides) else (UNKNOWN,)


def _compared(source: Source, node: ast.Compare, side: Value) -> Shape | None:
    """The shape of `x > 0`, and of a comparison of two tensors of one shape."""
    others = [one for other in (node.left, *node.comparators) for one in values(source, other)]
    same = all(one.kind == "number" or one.shape == side.shape for one in others)
    return side.shape if same and len(node.ops) == 1 else None


def _subscript(source: Source, node: ast.Subscript) -> Values:
    found: Values = ()
    index = literal(node.slice)
    for value in values(source, node.value):
        if value.shape and api.is_kind(value.kind, "tensor"):
            size = shapes.cut(value.shape, node.slice, _rank(source, node.slice))
            found += (value._replace(kind="tensor", shape=size),)
        elif isinstance(node.slice, ast.Slice):
            kept = shapes.parts(value.items, node.slice, grows=value.kind == "list")
            found += (value._replace(items=kept),) if value.kind in api.SLICED else item(value, None)
        elif value.kind == "dict" and isinstance(index, str):
            found += _key(value, index)
        elif value.kind == "batch" and isinstance(index, str) and isinstance(value.node, ast.Dict):
            found += tuple(_collate(part) for part in _key(value, index))
        elif value.kind == "dict" and isinstance(value.node, ast.Dict) and (name := _said(source, node.slice)):
            found += _key(value, name)  # `losses[cfg["loss"]]`
        elif value.kind == "dict" and value.items and isinstance(value.node, ast.Dict | ast.DictComp):
            found += sum(value.items, ()) if not _is_filled(source, node.value) else (UNKNOWN,)  # `loaders[phase]`
        else:
            found += item(value, index if isinstance(index, int) else None)
    return found


def _said(source: Source, key: ast.expr) -> str:
    """The one text that a key can be, "" where there are several or none."""
    found = values(source, key) if isinstance(key, ast.Name | ast.Attribute | ast.Subscript) else ()
    words = {one.node.value for one in found if one.kind == "string" and isinstance(one.node, ast.Constant)}
    return str(words.pop()) if len(words) == 1 and len(found) == 1 else ""


def _rank(source: Source, index: ast.expr) -> int | None:
    """The rank of a tensor that is used as an index, 0 for a number, None where it is unknown."""
    if isinstance(index, ast.Slice | ast.Tuple | ast.Constant):
        return None
    if isinstance(index, ast.Name) and any(one.how == "parameter" for one in reaching(source, index)):
        home = function(source, index)
        if home is not None and home.name == "__getitem__":
            return 0
    found = {0 if one.kind == "number" else len(one.shape) if one.shape else None for one in values(source, index)}
    return found.pop() if len(found) == 1 else None


def _collate(part: Value) -> Value:
    """One entry of a batch, of one entry of a sample."""
    size = () if part.kind in ("number", "bool") else part.shape if api.is_kind(part.kind, "tensor") else None
    return Value("tensor", "loader", attached=False, shape=shapes.batched(size), weak=True)


def _is_filled(source: Source, node: ast.expr) -> bool:
    """Whether more is put into a dictionary than it was made with."""
    stored: set[str] | None = source.memo.get("values.filled")
    if stored is None:
        nodes = [one for one in source.all(ast.Subscript) if isinstance(one.ctx, ast.Store)]
        stored = source.memo["values.filled"] = {source.code(one.value) for one in nodes}
    return source.code(node) in stored


def _key(value: Value, key: str) -> Values:
    if isinstance(value.node, ast.DictComp) and value.items:
        return value.items[0]
    if isinstance(value.node, ast.Dict) and value.source:
        for name, expression in zip(value.node.keys, value.node.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return values(value.source, expression)
    return (UNKNOWN,)


def _sequence(source: Source, node: ast.Tuple | ast.List | ast.Set) -> Values:
    names = {ast.Tuple: "tuple", ast.List: "list", ast.Set: "set"}
    items: tuple[Values, ...] = ()
    for element in node.elts[:64]:
        if isinstance(element, ast.Starred):
            items += tuple(part for value in values(source, element.value) for part in value.items) or ((UNKNOWN,),)
        else:
            items += (values(source, element),)
    return (Value(names[type(node)], node=node, source=source, items=items),)


def _dictionary(source: Source, node: ast.Dict) -> Values:
    items = tuple(values(source, value) for value in node.values[:32])
    return (Value("dict", node=node, source=source, items=items),)


def _comprehension(source: Source, node: ast.AST) -> Values:
    if isinstance(node, ast.DictComp):
        return (Value("dict", "comprehension", node, source, items=(values(source, node.value),)),)
    element = cast("ast.ListComp", node).elt
    name = "set" if isinstance(node, ast.SetComp) else "iterator" if isinstance(node, ast.GeneratorExp) else "list"
    return (Value(name, "comprehension", node, source, items=(values(source, element),)),)


def _choice(source: Source, node: ast.IfExp) -> Values:
    return values(source, node.body) + values(source, node.orelse)


def _boolean(source: Source, node: ast.BoolOp) -> Values:
    return sum((values(source, value) for value in node.values), ())


def _walrus(source: Source, node: ast.NamedExpr) -> Values:
    return values(source, node.value)


def _function(source: Source, node: ast.Lambda) -> Values:
    return (Value("function", "lambda", node, source),)


def _text(source: Source, node: ast.expr) -> Values:
    return (Value("string", node=node, source=source),)


def _call(source: Source, node: ast.Call) -> Values:
    from torchlore.check.calls import result

    return result(source, node)


def annotated(source: Source, annotation: ast.expr | None) -> Values:
    """What an annotation promises."""
    if annotation is None:
        return (UNKNOWN,)
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            parsed = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return (UNKNOWN,)
        spelled = ast.unparse(parsed)
        name = source.names.imported.get(spelled.split(".")[0], "")
        full = name + spelled[len(spelled.split(".")[0]) :] if name else source.names.defined.get(spelled, "")
        return _promised(source, full)
    if isinstance(annotation, ast.BinOp):
        sides = [side for side in (annotation.left, annotation.right) if not isinstance(side, ast.Constant)]
        return sum((annotated(source, side) for side in sides), ())
    if isinstance(annotation, ast.Subscript):
        outer = source.name(annotation.value).rpartition(".")[2]
        inner = annotation.slice
        if isinstance(inner, ast.Tuple) and inner.elts:  # `tuple[()]` has none
            inner = inner.elts[0]
        if outer in ("Optional", "Annotated", "Final"):
            return annotated(source, inner)
        if outer in ("List", "list", "Sequence", "Iterable", "Tuple", "tuple"):
            return (Value("list", "annotation", items=(annotated(source, inner),)),)
        return _promised(source, source.name(annotation.value))
    return _promised(source, source.name(annotation))


def _promised(source: Source, full: str) -> Values:
    if full in _PROMISES:
        return (Value(_PROMISES[full], full if full.startswith("torch") else ""),)
    target = source.project.find(full, source.path) if full and not full.startswith("torch.") else None
    if isinstance(target, Class):
        from torchlore.check.classes import instance

        return (instance(target),)
    found = api.kind_of_call(full) if full.startswith("torch") and full.rpartition(".")[2][:1].isupper() else None
    found = "module" if api.PRETRAINED.match(full) else found
    return (Value(found, full),) if found else (UNKNOWN,)


_EVALUATE: dict[type, Callable[[Source, ast.expr], Values]] = cast(
    "dict[type, Callable[[Source, ast.expr], Values]]",
    {ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.BinOp: _binary, ast.UnaryOp: _unary,
     ast.Compare: _compare, ast.Subscript: _subscript, ast.Tuple: _sequence, ast.List: _sequence, ast.Set: _sequence,
     ast.Dict: _dictionary, ast.ListComp: _comprehension, ast.SetComp: _comprehension, ast.DictComp: _comprehension,
     ast.GeneratorExp: _comprehension, ast.IfExp: _choice, ast.BoolOp: _boolean, ast.NamedExpr: _walrus,
     ast.Lambda: _function, ast.JoinedStr: _text, ast.Call: _call, ast.AugAssign: _augmented},
)  # fmt: skip

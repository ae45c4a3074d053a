"""What a call gives back: torch's own, the project's functions, classes and modules; and what parameters are given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeVar, cast

from torchlore.check import api
from torchlore.check.classes import class_behind, instance
from torchlore.check.follow import is_test
from torchlore.check.project import Class, Function, as_class, as_function, candidates
from torchlore.check.scopes import reaching, scope_of
from torchlore.check.tensors import function_result, layer_output, method_result, no_grad_around
from torchlore.check.tree import (
    FunctionNode,
    argument,
    class_of,
    conditions,
    dotted,
    function,
    literal,
    loops,
    parameters,
    spread,
    under,
)
from torchlore.check.uses import attributes, names, says
from torchlore.check.values import UNKNOWN, Value, Values, annotated, attribute, values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlore.check.source import Source

Ends = TypeVar("Ends", ast.Return, ast.Yield)
_GROWS = {"append", "extend", "insert", "add_module"}
_OF_MODULES = ("parameters", "named_parameters", "named_modules")
_SAME = {"copy.deepcopy", "copy.copy", "tqdm.tqdm", "list", "tuple", "reversed", "sorted", "iter"}


def result(source: Source, call: ast.Call) -> Values:
    """What a call may give back."""
    full = source.name(call.func)
    if full:
        found = _by_name(source, call, full)
        if found is not None:
            return found
    if isinstance(call.func, ast.Attribute):
        return _method_call(source, call, call.func)
    found = ()
    for value in values(source, call.func):
        found += apply(source, value, call)
    return found or (UNKNOWN,)


def _by_name(source: Source, call: ast.Call, full: str) -> Values | None:
    target = source.project.resolve(source, call.func)
    if isinstance(target, Class):
        return (instance(target, call, source),)
    if isinstance(target, Function):
        return _run_here(source, call, target)
    if full in _SAME and call.args:
        return values(source, call.args[0])
    if full == "functools.partial" and len(call.args) == 1 and source.name(call.args[0]) in api.LOSS_FUNCTIONS:
        return (Value("loss", source.name(call.args[0]), call, source),)
    if full == "functools.partial" and len(call.args) == 1:
        return tuple(one for one in values(source, call.args[0]) if one.kind == "function") or None
    if full in api.WRAPPERS and call.args:
        inner = values(source, call.args[0])
        kind = (
            "module"
            if any(api.is_kind(value.kind, "module") for value in inner) or full.startswith("torch.nn.")
            else ""
        )
        return (Value(kind, full, call, source, items=(inner,)),)
    if full in ("min", "max", "sum", "abs"):
        return _builtin_reduction(source, call)
    if full == "getattr" and len(call.args) >= 2 and isinstance(name := literal(call.args[1]), str):
        return sum((attribute(source, value, name) for value in values(source, call.args[0])), ())
    if full == "torch.utils.data.random_split":
        part = Value("dataset", "torch.utils.data.Subset", call, source)
        return (Value("list", full, call, source, items=((part,),)),)
    made = api.kind_of_call(full)
    if made is None:
        return None
    if made == "tensor":
        return function_result(source, call, full)
    return (Value(made, full, call, source, items=_contents(source, call, made)),)


def _contents(source: Source, call: ast.Call, kind: str) -> tuple[Values, ...]:
    if kind == "sequential":
        parts = tuple(part for arg in call.args for part in _parts(source, arg))
        return parts + _added(Value(kind, "", call, source)) if says(source, "add_module", "append") else parts
    if kind in ("modulelist", "moduledict") and call.args:
        inner = values(source, call.args[0])
        return inner[0].items + _added(inner[0]) if len(inner) == 1 and inner[0].items else ()
    if kind == "loader":
        dataset = argument(call, 0, "dataset")
        return (values(source, dataset),) if dataset is not None else ()
    return ()


def _parts(source: Source, arg: ast.expr) -> tuple[Values, ...]:
    """What one argument of a Sequential holds: a layer, a list behind a star, or layers with their names."""
    if isinstance(arg, ast.Starred):
        inner = values(source, arg.value)
        if len(inner) != 1 or not (inner[0].items or inner[0].kind == "list"):
            return ((UNKNOWN,),)
        return inner[0].items + _added(inner[0], arg) or ((UNKNOWN,),)
    if not isinstance(arg, ast.Call) or source.name(arg.func) != "collections.OrderedDict":
        return (values(source, arg),)
    given = arg.args[0] if len(arg.args) == 1 and not arg.keywords else None
    if isinstance(given, ast.Dict):
        return tuple(values(source, one) for one in given.values)
    pairs = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    named = [one.elts[1] for one in pairs if isinstance(one, ast.Tuple) and len(one.elts) == 2]
    return tuple(values(source, one) for one in named) if pairs and len(named) == len(pairs) else ((UNKNOWN,),)


def _added(box: Value, until: ast.expr | None = None) -> tuple[Values, ...]:
    """What comes into a list or a Sequential after it was made: each thing in turn, or unknown and the last where it surely is the last.

    Of a list that a name holds, what that very list gets before it is read at `until`.
    """
    if box.source is None or box.node is None:
        return ()
    home, held = box.source, box.source.parents.get(box.node)
    target = held.targets[0] if isinstance(held, ast.Assign) else None
    where = function(home, box.node)
    reads = [one for one in _again(home, target) if function(home, one) is where and one is not target]
    if until is not None and isinstance(target, ast.Name):
        before = [one for one in reads if isinstance(one, ast.Name) and one.lineno < until.lineno]
        reads = [one for one in before if _holds(home, one, target)]
    ups = [home.parents[one] for one in reads]
    grows = [up for up in ups if isinstance(up, ast.AugAssign) or (isinstance(up, ast.Attribute) and up.attr in _GROWS)]
    done = [_put(home, one) for one in sorted(grows, key=lambda one: (one.lineno, one.col_offset))]
    if not done or None not in done:
        return tuple(values(home, one) for put in done if put is not None for one in put)
    last = done[-1]
    return ((UNKNOWN,), values(home, last[-1])) if last else ((UNKNOWN,),)


def _holds(source: Source, name: ast.Name, target: ast.Name, hops: int = 8) -> bool:
    """Whether a name still means the list that was put under it at `target`: `+=` leaves it the same list."""
    found = reaching(source, name)
    grown = (one.statement.target for one in found if isinstance(one.statement, ast.AugAssign))
    return any(one.node is target for one in found) or any(
        _holds(source, one, target, hops - 1) for one in grown if hops and isinstance(one, ast.Name)
    )


def _again(source: Source, target: ast.expr | None) -> Sequence[ast.expr]:
    """Every place that speaks of a name or of an attribute of `self`."""
    if isinstance(target, ast.Name):
        return names(source, target.id)
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        return [one for one in attributes(source, target.attr) if dotted(one) == dotted(target)]
    return []


def _put(source: Source, grows: ast.Attribute | ast.AugAssign) -> list[ast.expr] | None:
    """What `.append(x)`, `.add_module("name", x)`, `.extend([x, y])` or `+= [x, y]` puts in where it surely runs, once."""
    call = grows if isinstance(grows, ast.AugAssign) else source.parents[grows]
    if conditions(source, call) or loops(source, call):
        return None
    if isinstance(call, ast.AugAssign):
        given = call.value if isinstance(call.op, ast.Add) else None
    elif not isinstance(call, ast.Call) or call.func is not grows or not isinstance(grows, ast.Attribute):
        return None
    elif grows.attr == "extend" and len(call.args) == 1:
        given = call.args[0]
    else:
        wanted = {"append": 1, "add_module": 2}.get(grows.attr)
        given = ast.List(call.args[-1:]) if len(call.args) == wanted else None
    parts = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    return parts if parts and not any(isinstance(one, ast.Starred) for one in parts) else None


def _builtin_reduction(source: Source, call: ast.Call) -> Values:
    parts = [value for arg in call.args if not isinstance(arg, ast.Starred) for value in values(source, arg)]
    inner = [one for value in parts for group in value.items for one in group] if len(call.args) == 1 else parts
    if any(api.is_kind(value.kind, "tensor") for value in inner):
        graph = True if any(value.attached for value in inner) else None
        return (Value("tensor", "arithmetic", call, source, attached=graph),)
    return (Value("number"),) if inner and all(value.kind == "number" for value in inner) else (UNKNOWN,)


def _method_call(source: Source, call: ast.Call, func: ast.Attribute) -> Values:
    if isinstance(func.value, ast.Call) and isinstance(func.value.func, ast.Name) and func.value.func.id == "super":
        return (UNKNOWN,)
    if func.attr in ("get", "pop") and len(call.args) == 2 and (asked := _asked_for(source, call, func.value)):
        return asked
    receivers = values(source, func.value)
    found: Values = ()
    for value in receivers:
        found += _method(source, value, call, func.attr)
    return found or (UNKNOWN,)


def _asked_for(source: Source, call: ast.Call, box: ast.expr) -> Values:
    """`kwargs.get("loss", nn.NLLLoss())`: what the callers give, and the default where one of them gives nothing."""
    key, home = literal(call.args[0]), function(source, call)
    last = home.args.kwarg if home is not None else None
    if home is None or last is None or dotted(box) != last.arg or not isinstance(key, str):
        return ()
    calling = callers(as_function(source, home))
    if any(spread(one) for _, one, _ in calling):
        return ()
    given = [(other, argument(one, None, key)) for other, one, _ in calling]
    found = sum((values(other, one) for other, one in given if one is not None), ())
    return found if given and all(one is not None for _, one in given) else found + values(source, call.args[1])


def _method(source: Source, value: Value, call: ast.Call, name: str) -> Values:
    if value.kind == "none":
        return ()  # `self.model = None` until there is one
    if api.is_kind(value.kind, "tensor"):
        return method_result(source, value, call, name)
    if owner := class_behind(source, value):
        if method := source.project.method(owner, name):
            return _run_here(source, call, method) if name not in api.SELF_METHODS else (value,)
        if found := attribute(source, value, name):
            applied = sum((apply(source, one, call) for one in found if one.kind), ())
            if applied:
                return applied
    if api.is_kind(value.kind, "module") and name in api.SELF_METHODS:
        return (value,)
    if name == "prepare" and value.kind == "accelerator":
        parts = tuple(values(source, arg) for arg in call.args if not isinstance(arg, ast.Starred))
        return parts[0] if len(parts) == 1 else (Value("tuple", items=parts),)
    if value.kind == "ndarray" or (value.kind == "nprng" and _draws_many(call, name)):
        return (Value(api.METHODS.get(("ndarray", name), "ndarray"), weak=value.weak),)
    kind = value.kind
    while kind:
        if (kind, name) in api.METHODS:
            return (Value(api.METHODS[kind, name], f"{kind}.{name}", call, source),)
        kind = api.PARENT_KIND.get(kind, "")
    if not value.kind and name in api.ONLY_TENSOR_METHODS:
        return method_result(source, Value("tensor"), call, name)
    return (UNKNOWN,)


def _draws_many(call: ast.Call, name: str) -> bool:
    """Whether a NumPy generator is asked for an array: `rng.uniform(0, 1, size=n)`, `rng.standard_normal(n)`."""
    sized = any(one.arg == "size" for one in call.keywords) or len(call.args) == 3
    return sized or (bool(call.args) and name in ("standard_normal", "random", "rand", "randn", "permutation"))


def apply(source: Source, value: Value, call: ast.Call) -> Values:
    """What calling a value gives; nothing for None, which cannot be called."""
    if value.kind == "none":
        return ()
    if value.kind == "class":
        if isinstance(value.node, ast.ClassDef) and value.source:
            return (instance(as_class(value.source, value.node), call, source),)
        kind = api.kind_of_call(value.name)
        return (Value(kind, value.name, call, source, items=_contents(source, call, kind)),) if kind else (UNKNOWN,)
    if value.kind == "function" and value.name.startswith("torch.") and value.node is None:
        return function_result(source, call, value.name)
    if value.kind == "function" and value.source:
        if isinstance(value.node, FunctionNode):
            return _run_here(source, call, as_function(value.source, value.node))
        return values(value.source, value.node.body) if isinstance(value.node, ast.Lambda) else (UNKNOWN,)
    if value.name in api.WRAPPERS and value.items:
        return sum((apply(source, inner, call) for inner in value.items[0]), ())
    if value.kind == "object":
        owner = class_behind(source, value)
        method = source.project.method(owner, "__call__") if owner is not None else None
        return _run_here(source, call, method) if method is not None else (UNKNOWN,)
    if not api.is_kind(value.kind, "module"):
        return (UNKNOWN,)
    owner = class_behind(source, value)
    if owner is None:
        return layer_output(source, value, call)
    forward = source.project.method(owner, "forward")
    return _run_here(source, call, forward) if forward is not None else (UNKNOWN,)


def _run_here(source: Source, call: ast.Call, function: Function) -> Values:
    """What a function of the project gives back to this call: without a graph where the call stands under `no_grad`."""
    found = returns(function)
    return tuple(_detached(one) for one in found) if no_grad_around(source, call) else found


def _detached(value: Value) -> Value:
    if api.is_kind(value.kind, "tensor"):
        return value._replace(attached=False)
    if value.kind == "tuple":
        return value._replace(items=tuple(tuple(_detached(one) for one in group) for group in value.items))
    return value


def returned(function: Function) -> list[ast.expr]:
    """The expressions a function returns, without those of functions defined in it."""
    memo: dict[ast.AST, list[ast.expr]] = function.source.memo.setdefault("returned", {})
    if function.node not in memo:
        nodes = _own(function, ast.Return)
        nodes.sort(key=lambda node: node.lineno)
        memo[function.node] = [node.value for node in nodes if node.value is not None]
    return memo[function.node]


def _own(function: Function, kind: type[Ends]) -> list[Ends]:
    """The `return` or `yield` expressions of a function, without those of functions defined in it."""
    source, home = function.source, function.node
    return [one for one in under(source, home, kind) if scope_of(source, one) is home]


def returns(function: Function) -> Values:
    """What a function of the project may give back."""
    decorators = {function.source.name(node) for node in function.node.decorator_list}
    if isinstance(function.node, ast.AsyncFunctionDef) or decorators & {"contextlib.contextmanager"}:
        return (UNKNOWN,)
    yields = _yields(function)
    if yields:
        items = sum((values(function.source, node) for node in yields), ())
        return (Value("iterator", function.qualified, items=(items,)),)
    found: Values = ()
    for node in returned(function):
        given = values(function.source, node)
        found += tuple(_detached(one) for one in given) if no_grad_around(function.source, node) else given
    if not returned(function):
        stub = any(isinstance(node, ast.Raise) for node in function.node.body)
        return (UNKNOWN,) if stub else (Value("none"),)
    return found


def _yields(function: Function) -> list[ast.expr]:
    memo: dict[ast.AST, list[ast.expr]] = function.source.memo.setdefault("yields", {})
    if function.node not in memo:
        memo[function.node] = [node.value for node in _own(function, ast.Yield) if node.value is not None]
    return memo[function.node]


def parameter(source: Source, arg: ast.arg) -> Values:
    """What a parameter is given: by its annotation, by its callers in the project, by its default."""
    node = source.parents[source.parents[arg]]
    if isinstance(node, ast.Lambda):
        return (UNKNOWN,)
    function = as_function(source, cast("FunctionNode", node))
    first = parameters(function.node)[0] is arg
    if function.owner and first and not _static(function):
        owner = as_class(source, function.owner)
        is_class = any(source.name(dec) == "classmethod" for dec in function.node.decorator_list)
        return (Value("class", owner.qualified, owner.node, source),) if is_class else (instance(owner),)
    promised = annotated(source, arg.annotation)
    if all(value.kind for value in promised):
        return _with_callers_node(promised, function, arg)
    args = function.node.args
    if arg is args.vararg or arg is args.kwarg:
        return (Value("tuple" if arg is args.vararg else "dict"),)
    found: Values = ()
    for caller, call, skip in callers(function):
        given = given_argument(function, call, arg, skip)
        if given is not None:
            found += values(caller, given)
    if found and (all(value.kind for value in found) or function.node.name != "forward"):
        return found
    default = default_of(function, arg)
    if default is not None and literal(default) is not None:
        return values(source, default)
    if function.owner and function.node.name == "forward" and default is None:
        return (Value("tensor", "input", weak=True),)
    return (Value("module"),) if _asked_for_parameters(source, function.node, arg) else (UNKNOWN,)


def _asked_for_parameters(source: Source, home: FunctionNode, arg: ast.arg) -> bool:
    """`net.parameters()` in the function that is given `net`, and gives the name to nothing else: only a module has them."""
    asked = (one for word in _OF_MODULES for one in attributes(source, word) if dotted(one) == f"{arg.arg}.{word}")
    here = [one for one in asked if function(source, one) is home]
    called = [one for one in here if isinstance(up := source.parents[one], ast.Call) and up.func is one]
    return bool(called) and not any(
        isinstance(one.ctx, ast.Store) for one in names(source, arg.arg) if function(source, one) is home
    )


def given(source: Source, arg: ast.arg) -> list[tuple[Source, ast.expr | None]]:
    """The expressions that the callers in the project give to a parameter, each with its file."""
    node = source.parents[source.parents[arg]]
    if isinstance(node, ast.Lambda):
        return []
    function = as_function(source, cast("FunctionNode", node))
    return [(caller, given_argument(function, call, arg, skip)) for caller, call, skip in callers(function)]


def _with_callers_node(promised: Values, function: Function, arg: ast.arg) -> Values:
    """An annotation says the kind; the callers say which one, where they are seen and agree."""
    if any(value.kind not in ("module", "loss", "dataset", "object") for value in promised):
        return promised
    found: Values = ()
    for caller, call, skip in callers(function):
        given = given_argument(function, call, arg, skip)
        if given is not None:
            found += values(caller, given)
    return found if found and all(value.kind for value in found) else promised


def _static(function: Function) -> bool:
    return any(function.source.name(dec) == "staticmethod" for dec in function.node.decorator_list)


def default_of(function: Function, arg: ast.arg) -> ast.expr | None:
    """The default of a parameter."""
    args = function.node.args
    positional = [*args.posonlyargs, *args.args]
    if arg in positional:
        index = positional.index(arg) - len(positional) + len(args.defaults)
        return args.defaults[index] if index >= 0 else None
    return args.kw_defaults[args.kwonlyargs.index(arg)] if arg in args.kwonlyargs else None


def given_argument(function: Function, call: ast.Call, arg: ast.arg, skip: int) -> ast.expr | None:
    """The expression a call gives to a parameter; `skip` is 1 where the receiver fills the first one."""
    args = function.node.args
    positional = [*args.posonlyargs, *args.args]
    index = positional.index(arg) - skip if arg in positional else None
    found = argument(call, index if index is None or index >= 0 else None, arg.arg)
    if found is None and not spread(call):
        default = default_of(function, arg)
        return default if default is not None and function.source is not None and literal(default) is None else None
    return found


Caller = tuple["Source", ast.Call, int]


def callers(function: Function) -> list[Caller]:
    """The calls of a function in the project, with 1 where the receiver fills its first parameter.

    What a test gives to the code it tests says nothing of how that is used.
    """
    memo: dict[ast.AST, list[Caller]] = function.source.memo.setdefault("callers", {})
    if function.node not in memo:
        memo[function.node] = []  # for whoever asks while we look
        found = _method_callers(function) if function.owner else _function_callers(function)
        memo[function.node] = [one for one in found if one[0] is function.source or not is_test(one[0])]
    return memo[function.node]


def _function_callers(function: Function) -> list[Caller]:
    project = function.source.project
    found: list[Caller] = []
    if function.source.names.defined.get(function.node.name) != function.qualified:
        return _nested_callers(function)
    for source in candidates(project, function, function.node.name):
        found += [(source, call, 0) for call in _calls_of(source, function)]
    return found


def _calls_of(source: Source, target: Function | Class) -> list[ast.Call]:
    """The calls of a function or class, also where its folder is no package: `from util import fid`, without an `__init__.py`."""
    found = list(source.calls(target.qualified))
    if found or source is target.source:
        return found
    word = target.node.name
    spelled = {*names(source, word), *(one for one in attributes(source, word) if dotted(one))}
    named = [one for one in source.all(ast.Call) if one.func in spelled] if spelled else []
    return [one for one in named if getattr(source.project.resolve(source, one.func), "node", None) is target.node]


def constructed(cls: Class) -> list[tuple[Source, ast.Call]]:
    """The calls in the project that make an instance of a class; what a test makes says nothing of how it is used."""
    homes = candidates(cls.source.project, cls, cls.node.name)
    seen = [one for one in homes if one is cls.source or not is_test(one)]
    return [(one, call) for one in seen for call in _calls_of(one, cls)]


def _nested_callers(function: Function) -> list[Caller]:
    source, name = function.source, function.node.name
    ups = ((one, source.parents[one]) for one in names(source, name))
    return [(source, up, 0) for one, up in ups if isinstance(up, ast.Call) and up.func is one]


def _method_callers(function: Function) -> list[Caller]:
    owner = as_class(function.source, cast("ast.ClassDef", function.owner))
    project, name = function.source.project, function.node.name
    if name == "__init__":
        return [(source, call, 1) for source, call in constructed(owner)]
    skip = 0 if _static(function) else 1
    found: list[Caller] = _instance_callers(owner) if name in ("forward", "__call__") else []
    for source in candidates(project, owner, name):
        for call in source.methods(name):
            receiver = cast("ast.Attribute", call.func).value
            if isinstance(receiver, ast.Name) and receiver.id == "self":
                here = class_of(source, call)
                if here is not None and any(
                    base.node is owner.node for base in project.bases(as_class(source, here))[0]
                ):
                    found.append((source, call, skip))
            elif any(value.name == owner.qualified for value in values(source, receiver)):
                found.append((source, call, skip))
    return found


def _beside(source: Source, made: ast.Call) -> ast.expr | None:
    """`loss` of `model, loss = Net(), Owner()`."""
    up = source.parents[made]
    held = source.parents[up] if isinstance(up, ast.Tuple) else None
    target = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
    if not isinstance(up, ast.Tuple) or not isinstance(target, ast.Tuple) or len(up.elts) != len(target.elts):
        return None
    return target.elts[up.elts.index(made)]


def _instance_callers(owner: Class) -> list[Caller]:
    """The calls `loss(x, y)` of what was made by `loss = Owner()` or `self.loss = Owner()`, in the same file."""
    found: list[Caller] = []
    for source in candidates(owner.source.project, owner, owner.node.name):
        for made in _calls_of(source, owner):
            up = source.parents[made]
            if isinstance(up, ast.Call) and up.func is made:
                found.append((source, up, 1))
            target = up.targets[0] if isinstance(up, ast.Assign) and up.value is made else _beside(source, made)
            if isinstance(target, ast.Name):
                uses: list[ast.expr] = [*names(source, target.id)]
            elif isinstance(target, ast.Attribute):
                uses = [*attributes(source, target.attr)]
            else:
                continue
            called = [one for use in uses if isinstance(one := source.parents[use], ast.Call) and one.func is use]
            found += [
                (source, one, 1)
                for one in called
                if any(value.name == owner.qualified for value in values(source, one.func))
            ]
    return found

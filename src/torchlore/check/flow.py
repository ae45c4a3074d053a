"""What happens in which order: the events of a function or loop, seen through calls into the same project."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from torchlore.check import api, events
from torchlore.check.calls import default_of, given_argument
from torchlore.check.events import Event
from torchlore.check.identity import identity, substitute
from torchlore.check.project import Class, Function, as_class, as_function, defined, imported_files
from torchlore.check.scopes import bound, reaching
from torchlore.check.tree import (
    UNKNOWN,
    FunctionNode,
    Loop,
    body_nodes,
    class_of,
    conditions,
    contexts,
    dotted,
    function,
    literal,
    parameters,
    spread,
)
from torchlore.check.tree import loops as loops_around
from torchlore.check.tree import target as target_of
from torchlore.check.values import values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlore.check.source import Source

_DEPTH = 4
_MOST = 1500  # events of one function


class LoopFlow(NamedTuple):
    """A loop and everything that happens in one turn of it, in order."""

    source: Source
    node: Loop
    function: FunctionNode | None
    events: tuple[Event, ...]

    def of(self, *what: str) -> list[Event]:
        """Events of these kinds."""
        return [event for event in self.events if event.what in what]

    def direct(self, *what: str) -> list[Event]:
        """Events of these kinds whose innermost loop is this one, calls looked through."""
        return [event for event in self.of(*what) if event.loops and event.loops[-1] is self.node]


def events_of(source: Source, node: FunctionNode | None, depth: int = _DEPTH) -> tuple[Event, ...]:
    """The events of a function (None: the top of the file) in order; calls into the project are looked through."""
    memo: dict[tuple[object, int], tuple[Event, ...]] = source.memo.setdefault("events", {})
    if (node, depth) not in memo:
        active: set[object] = source.project.state.setdefault("flow", set())
        key = node or source.tree
        if key in active:
            return ()  # a function that calls itself adds nothing
        active.add(key)
        memo[node, depth] = tuple(_events(source, node, depth))[:_MOST]
        active.discard(key)
    return memo[node, depth]


def _events(source: Source, node: FunctionNode | None, depth: int) -> list[Event]:
    found: list[Event] = []
    own: dict[ast.AST, tuple[Function | None, list[Event]]] = source.memo.setdefault("own_events", {})
    for one in _by_function(source).get(node, ()):
        known = own.get(one)
        if known is None:
            known = own[one] = _own(source, one)
        target, here = known
        if target is not None and depth:
            found += _inlined(source, cast("ast.Call", one), target, depth)
        found += here
        if len(found) > _MOST:
            break
    return found


def _own(source: Source, node: ast.AST) -> tuple[Function | None, list[Event]]:
    """The project's function that a call runs, and the events that a call or statement is itself."""
    if not isinstance(node, ast.Call):
        return None, [_placed(source, event) for event in events.of_statement(source, node)]
    target = called(source, node)
    event = events.of_call(source, node)
    placed = [_placed(source, one) for one in events.switches(source, event)] if event else []
    return target, [each for one in placed for each in _unrolled(source, one)]


def _unrolled(source: Source, event: Event) -> list[Event]:
    """`for one in (first, second): one.step()` as an event of each, where the tuple is written there."""
    bound = reaching(source, event.expr) if isinstance(event.expr, ast.Name) and event.loops else []
    loop = bound[0].statement if len(bound) == 1 and bound[0].how == "for" and not bound[0].path else None
    if event.what not in ("step", "zero_grad") or not isinstance(loop, ast.For) or loop not in event.loops:
        return [event]
    written: ast.expr = loop.iter
    if isinstance(written, ast.Name) and len(given := reaching(source, written)) == 1 and given[0].how == "assign":
        written = given[0].value if given[0].value is not None and not given[0].path else written
    parts = written.elts if isinstance(written, ast.Tuple | ast.List) else []
    if not parts or not all(isinstance(one, ast.Name | ast.Attribute) for one in parts):
        return [event]
    around = tuple(one for one in event.loops if one is not loop)
    return [event._replace(expr=one, owner=identity(source, one), loops=around) for one in parts]


def _by_function(source: Source) -> dict[FunctionNode | None, list[ast.AST]]:
    table: dict[FunctionNode | None, list[ast.AST]] | None = source.memo.get("by_function")
    if table is None:
        table = source.memo["by_function"] = {}
        for node in (*source.all(ast.Call), *source.all(ast.Assign), *source.all(ast.For)):
            if node.__class__ is ast.Call or events.may_be_event(node):
                table.setdefault(function(source, node), []).append(node)
        for group in table.values():
            group.sort(key=_evaluated)
    return table


def _evaluated(node: ast.AST) -> tuple[int, int]:
    """Where a node's evaluation ends: what is nested in a call comes before it."""
    place: Any = node.iter if isinstance(node, ast.For) else node
    return place.end_lineno or 0, place.end_col_offset or 0


def _placed(source: Source, event: Event) -> Event:
    loops, tests, around = place(source, event.node)
    return event._replace(loops=loops, conditions=tests, contexts=around)


def place(source: Source, node: ast.AST) -> tuple[tuple[Loop, ...], tuple[tuple[ast.expr, bool], ...], frozenset[str]]:
    """Loops (outermost first), conditions and contexts around a node inside its function; what `while` asks ends a loop, it chooses nothing."""
    names: set[str] = set()
    for context in contexts(source, node):
        func = context.func if isinstance(context, ast.Call) else context
        name = source.name(func) or dotted(func).rpartition(".")[2]
        off = "no_grad" in name.rpartition(".")[2] or name.endswith("_inference_mode")  # also `@no_grad_wrapper`
        names |= {name, "torch.no_grad"} if off else {name}
    tests = [one for one in conditions(source, node) if not isinstance(source.parents.get(one[0]), ast.While)]
    return tuple(reversed(loops_around(source, node))), tuple(tests), frozenset(names - {""})


def _inlined(source: Source, call: ast.Call, target: Function, depth: int) -> list[Event]:
    inner = events_of(target.source, target.node, depth - 1)
    if not inner:
        return []
    skip = 1 if target.owner and not isinstance(call.func, ast.Name) else 0
    if target.node.name in ("__init__", "__call__"):
        skip = 1
    loops, tests, around = place(source, call)
    told = _told(call, target, skip) if any(event.conditions for event in inner) else {}
    return [
        event._replace(
            at=call,
            loops=loops + event.loops,
            conditions=event.conditions + tests,
            contexts=event.contexts | around,
            owner=substitute(event.owner, source, call, target, skip),
            via=(target, *event.via),
        )
        for event in inner
        if not told or not _left_out(event, target, told)
    ]


def _told(call: ast.Call, target: Function, skip: int) -> dict[str, object]:
    """The parameters that this call gives a constant, or leaves at one: `train=False`, `phase="test"`."""
    found: dict[str, object] = {}
    for arg in parameters(target.node)[skip:] if not spread(call) else ():
        given = given_argument(target, call, arg, skip) or default_of(target, arg)
        value = literal(given) if given is not None else UNKNOWN
        alone = isinstance(value, bool | int | str) and len(bound(target.source, arg.arg).get(target.node, ())) == 1
        found |= {arg.arg: value} if alone else {}
    return found


def _left_out(event: Event, target: Function, told: dict[str, object]) -> bool:
    """Whether an event of a function stands in a branch that a call with these constants does not take.

    Modes stay: who hands one in by name means it.
    """
    source = target.source
    return event.what not in ("train", "eval") and any(
        test in source.parents and function(source, test) is target.node and _answer(test, told) is (not branch)
        for test, branch in event.conditions
    )


def _answer(test: ast.expr, told: dict[str, object]) -> bool | None:
    """What a test gives where some names are constants; None where it depends on more."""
    if isinstance(test, ast.Name):
        return bool(told[test.id]) if test.id in told else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _answer(test.operand, told)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts, ends = [_answer(one, told) for one in test.values], isinstance(test.op, ast.Or)
        return ends if ends in parts else None if None in parts else not ends
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.NotEq):
        name, value = dotted(test.left), literal(test.comparators[0])
        known = name in told and value is not UNKNOWN
        return (told[name] == value) is isinstance(test.ops[0], ast.Eq) if known else None
    return None


def called(source: Source, call: ast.Call) -> Function | None:
    """The project's function or method that a call runs; `__init__` of a class; the closure given to `step`."""
    memo: dict[ast.Call, Function | None] = source.memo.setdefault("called", {})
    if call not in memo:
        memo[call] = _called(source, call)
    return memo[call]


def _called(source: Source, call: ast.Call) -> Function | None:
    func = call.func
    full = source.name(func)
    if full.startswith("torch.") and isinstance(func, ast.Attribute):
        return None
    if isinstance(func, ast.Name):
        if full and "." not in full:
            return None  # a builtin
        target = source.project.resolve(source, func)
        if isinstance(target, Class):
            return source.project.method(target, "__init__")
        return target or _instance(source, func)
    if not isinstance(func, ast.Attribute):
        return None
    if full:
        target = source.project.resolve(source, func)
        if isinstance(target, Class):
            return source.project.method(target, "__init__")
        if target is not None:
            return target
    closure = call.args[0] if func.attr == "step" and call.args else None
    given = _local_function(source, closure) if isinstance(closure, ast.Name) else None
    return given or _method(source, func) or _instance(source, func)


def _instance(source: Source, func: ast.Name | ast.Attribute) -> Function | None:
    """`__call__` of what is called: `stopper(loss, model)`, where `stopper = EarlyStopping()`; a function that was handed in."""
    if isinstance(func, ast.Attribute) and events.is_plain(source, func):
        return None
    if _handed_in(source, func):
        given = values(source, func)
        node = given[0].node if len(given) == 1 and given[0].kind == "function" else None
        if isinstance(node, FunctionNode) and given[0].source is not None:
            return as_function(given[0].source, node)
    for value in values(source, func) if _some_method(source, "__call__") else ():
        if value.kind == "object" and value.name:
            from torchlore.check.classes import class_behind

            owner = class_behind(source, value)
            return source.project.method(owner, "__call__") if owner else None
    return None


def _handed_in(source: Source, func: ast.Name | ast.Attribute) -> bool:
    """`loss_of(net, x)` of a parameter, or `self.loss_of(net, x)` of what is no method."""
    if isinstance(func, ast.Name):
        return any(one.how == "parameter" or _makes_function(source, one.value) for one in reaching(source, func))
    return isinstance(func.value, ast.Name) and func.value.id == "self"


def _makes_function(source: Source, made: ast.expr | None) -> bool:
    """`make_step(net)`, a function of the project that gives back one that is defined in it."""
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Name):
        return False
    target = source.project.resolve(source, made.func)
    if not isinstance(target, Function):
        return False
    nodes = list(body_nodes(target.node))
    inner = {one.name for one in target.node.body if isinstance(one, FunctionNode)}
    backs = [one.value for one in nodes if isinstance(one, ast.Return)]
    return bool(inner) and bool(backs) and all(isinstance(one, ast.Name) and one.id in inner for one in backs)


def _local_function(source: Source, name: ast.Name) -> Function | None:
    for binding in reaching(source, name):
        if isinstance(binding.node, FunctionNode):
            return as_function(source, binding.node)
    return None


def _method(source: Source, func: ast.Attribute) -> Function | None:
    if isinstance(func.value, ast.Name) and func.value.id == "self":
        here = class_of(source, func)
        return source.project.method(as_class(source, here), func.attr) if here else None
    if func.attr not in ("train", "eval") and func.attr in _PLAIN:
        return None
    if not _some_method(source, func.attr):
        return None
    for value in values(source, func.value):
        if value.kind and value.name:
            from torchlore.check.classes import class_behind

            owner = class_behind(source, value)
            if owner and (method := source.project.method(owner, func.attr)):
                return method
    return None


def _some_method(source: Source, name: str) -> bool:
    """Whether this file, or a file of the project that it imports, defines this; asked before values and events."""
    known: frozenset[str] | None = source.memo.get("some_method")
    if known is None:
        others = (source.project.defines(path) for path in imported_files(source))
        known = source.memo["some_method"] = defined(source.text).union(*others)
    return name in known


_PLAIN = {"append", "items", "keys", "values", "format", "join", "split", "view", "reshape", "size", "mean", "sum",
          "item", "backward", "zero_grad", "parameters", "state_dict", "extend", "tolist", "numpy", "clone",
          *api.SELF_METHODS, *api.ONLY_TENSOR_METHODS}  # fmt: skip


def loops(source: Source) -> list[LoopFlow]:
    """Every loop of the file in which something happens, in the order of the text."""
    return [loop for node, home in _loops(source) if (loop := _loop(source, node, home)).events]


def _loops(source: Source) -> list[tuple[Loop, FunctionNode | None]]:
    """Every loop of the file with its function, in the order of the text."""
    found: list[tuple[Loop, FunctionNode | None]] | None = source.memo.get("loops")
    if found is None:
        every: list[Loop] = [*source.all(ast.For), *source.all(ast.While), *source.all(ast.AsyncFor)]
        every.sort(key=lambda node: node.lineno)
        found = source.memo["loops"] = [(node, function(source, node)) for node in every]
    return found


def _loop(source: Source, node: Loop, home: FunctionNode | None) -> LoopFlow:
    memo: dict[Loop, LoopFlow] = source.memo.setdefault("loop", {})
    if node not in memo:
        inside = tuple(event for event in events_of(source, home) if node in event.loops)
        memo[node] = LoopFlow(source, node, home, inside)
    return memo[node]


def may_train(source: Source) -> bool:
    """Whether this file, or a file of the project that it imports, has a backward pass; a cheap first question."""
    return ".backward(" in source.text or _some_method(source, "backward()")


def training_loops(source: Source) -> list[LoopFlow]:
    """The innermost loops that run a backward pass, calls looked through."""
    if not may_train(source):
        return []
    return [loop for loop in backward_loops(source) if loop.direct("backward")]


def backward_loops(source: Source) -> list[LoopFlow]:
    """Every loop that runs a backward pass, itself or in a loop within it, calls looked through."""
    found = [_loop(source, node, home) for node, home in _loops(source) if trains(source, home)]
    return [loop for loop in found if loop.of("backward")]


def trains(source: Source, node: FunctionNode | None, depth: int = _DEPTH) -> bool:
    """Whether a function (None: the top of the file) may run a backward pass, calls looked through; cheaper than its events."""
    memo: dict[tuple[object, int], bool] = source.memo.setdefault("trains", {})
    if (node, depth) not in memo:
        calls = [one for one in _by_function(source).get(node, ()) if isinstance(one, ast.Call)]
        inner = (called(source, call) for call in calls if depth)
        memo[node, depth] = any(_is_backward(source, call) for call in calls) or any(
            one is not None and trains(one.source, one.node, depth - 1) for one in inner
        )
    return memo[node, depth]


def _is_backward(source: Source, call: ast.Call) -> bool:
    named = isinstance(call.func, ast.Attribute) and call.func.attr in ("backward", "manual_backward")
    return named or (isinstance(call.func, ast.Name) and source.name(call.func) == "torch.autograd.backward")


def rounds(source: Source) -> list[list[Event]]:
    """What happens in one training step: in one turn of a training loop, or in a function that runs a backward pass."""
    if not may_train(source):
        return []
    found = [[event for event in loop.events if event.loops[-1] is loop.node] for loop in training_loops(source)]
    runs = (*source.methods("backward", "manual_backward"), *source.calls("torch.autograd.backward"))
    running = {function(source, call) for call in runs}
    for node in (one for one in (None, *functions(source)) if one in running):
        straight = [event for event in events_of(source, node) if not event.loops]
        if any(event.what == "backward" and not event.via for event in straight):
            found.append(straight)
    return found


def functions(source: Source) -> list[FunctionNode]:
    """Every function and method of the file, in the order of the text."""
    return sorted((*source.all(ast.FunctionDef), *source.all(ast.AsyncFunctionDef)), key=lambda node: node.lineno)


def entries(source: Source) -> list[tuple[FunctionNode | None, tuple[Event, ...]]]:
    """Where a program starts: the top of the file, and each function that nobody in the file calls."""
    return [(node, flow) for node in _uncalled(source) if (flow := events_of(source, node))]


def training_entries(source: Source) -> list[tuple[FunctionNode | None, tuple[Event, ...]]]:
    """Those entries that run a backward pass, calls looked through; a method comes after its object was made."""
    found = [
        (node, _born(source, node) + events_of(source, node)) for node in _uncalled(source) if trains(source, node)
    ]
    return [(node, flow) for node, flow in found if any(event.what == "backward" for event in flow)]


def _born(source: Source, node: FunctionNode | None) -> tuple[Event, ...]:
    """What the constructor of a method's class does."""
    owner = source.parents.get(node) if node is not None else None
    inits = (
        [one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
        if isinstance(owner, ast.ClassDef)
        else []
    )
    return events_of(source, inits[0]) if inits else ()


def _uncalled(source: Source) -> list[FunctionNode | None]:
    known: list[FunctionNode | None] | None = source.memo.get("uncalled")
    if known is None:
        known = source.memo["uncalled"] = _find_uncalled(source)
    return known


def _find_uncalled(source: Source) -> list[FunctionNode | None]:
    found: list[FunctionNode | None] = [None]
    names = {func.id for call in source.all(ast.Call) if isinstance(func := call.func, ast.Name)}
    methods = {func.attr for call in source.all(ast.Call) if isinstance(func := call.func, ast.Attribute)}
    for node in functions(source):
        used = (
            methods if isinstance(source.parents[node], ast.ClassDef) else names
        )  # `net.train()` calls no function `train`
        if node.name not in used and node.name != "__init__":
            found.append(node)
    return found


def same_object(one: Event, other: Event) -> bool:
    """Whether two events act on one object, as far as it can be told: unknown owners are not the same."""
    return one.owner is not None and one.owner == other.owner


def surely_other(one: Event, other: Event) -> bool:
    """Whether two events act on different objects of one kind: both are variables that hold their own constructor call."""
    known = one.owner is not None and other.owner is not None and one.owner != other.owner
    return known and _built_here(one) == _built_here(other) != ""


def _built_here(event: Event) -> str:
    """The kind of what a variable was built as, "" where it holds anything but its own constructor call."""
    found = event.source.values(event.expr) if event.expr is not None and not event.detail else ()
    home = found[0].source if len(found) == 1 else None
    if home is None or event.expr is None or not isinstance(found[0].node, ast.Call):
        return ""
    up = home.parents.get(found[0].node)
    if isinstance(up, ast.Dict) and isinstance(event.expr, ast.Subscript):
        keys = [
            literal(key)
            for key, one in zip(up.keys, up.values, strict=True)
            if key is not None and one is found[0].node
        ]
        return found[0].kind if keys and keys[0] == literal(event.expr.slice) else ""
    if up is not None and _one_for_each(home, up, found[0].node, event.expr):
        return found[0].kind
    held = target_of(home, found[0].node)
    name = dotted(held) if held is not None else ""
    handed = event.owner is not None and bool(name) and name.rpartition(".")[2] == event.owner[-1]
    return found[0].kind if name and (name == dotted(event.expr) or handed) else ""


def _one_for_each(source: Source, box: ast.AST, made: ast.Call, named: ast.expr) -> bool:
    """`opts["gen"]` and `opts[0]` of a comprehension or a list, and `a, b = (Adam(n.parameters()) for n in nets)`: each built by itself."""
    if isinstance(box, ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp) and isinstance(named, ast.Subscript):
        index = literal(named.slice)
        counted = isinstance(index, int) and index >= 0
        return counted and (not isinstance(box, ast.List | ast.Tuple) or box.elts[index : index + 1] == [made])
    if isinstance(box, ast.DictComp) and isinstance(named, ast.Subscript):
        return box.value is made and isinstance(literal(named.slice), str | int)
    given = target_of(source, box) if isinstance(box, ast.ListComp | ast.GeneratorExp) and box.elt is made else None
    return isinstance(given, ast.Tuple | ast.List) and dotted(named) in map(dotted, given.elts)


def kinds_in(flow: Iterable[Event]) -> list[str]:
    """The kinds of the events in order, for a rule that asks about order alone."""
    return [event.what for event in flow]


def exclusive(one: Event, other: Event) -> bool:
    """Whether the two stand in different branches of one `if`, or of two that ask the same."""
    branches = {ast.dump(test): branch for test, branch in one.conditions}
    return any(branches.get(ast.dump(test), branch) is not branch for test, branch in other.conditions)

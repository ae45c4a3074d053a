"""The rule of eval-without-no-grad."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlore.check import (
    api,
    calls,
    classes,
    flow,
    follow,
    frameworks,
    iteration,
    kept,
    modules,
    scopes,
    tensors,
    terms,
    tree,
    uses,
    values,
)
from torchlore.check.identity import Parameter, identity
from torchlore.check.project import as_function
from torchlore.check.source import lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.events import Event
    from torchlore.check.identity import Identity
    from torchlore.check.project import Function
    from torchlore.check.source import Hit, Source

_TESTS = re.compile(r"(?:^|[\\/])tests?[\\/]|(?:^|[\\/])test_\w+\.py$")
_GRADIENTS = re.compile(
    r"\.grad\b|(?<!requires)_grad\b|requires_grad\s*=(?!=)|hook|attack|autograd|backward|inference_mode"
)
_MEANT = re.compile(r"\b(?:keep|need|want|enable)\w* (?:the )?grad")  # "keep grads for the inner optimisation"
_CONTEXTS = re.compile(r"no_grad|inference_mode|grad_enabled")
_JOINS = {"numpy.concatenate", "numpy.vstack", "numpy.hstack"}
_OFF = {"torch.no_grad", "torch.inference_mode"}
_EVALUATION = re.compile(r"valid|(?:^|_)(?:eval|val|test|dev)(?:_|$|uate)", re.IGNORECASE)

WORDS = ("eval|*loader*|*dl*",)


def find(source: Source) -> Iterator[Hit]:
    if any(source.methods("eval")):
        yield from (*_state_of_its_own(source), *_backward_pass(source), *_helper(source))
    over = _over_evaluation(source)
    for home in _homes(source, over):
        events = tuple(_by_method(source, one) for one in flow.events_of(source, home))
        for place, event in enumerate(events):
            if not (_evaluates(events, place) or _tests(events, place, over)) or _is_quiet(source, home, events, event):
                continue
            told, once = _told(source, home, event)
            if told:
                yield source.hit(event.node, told)
            if once:
                break


def _homes(source: Source, over: set[ast.For]) -> list[tree.FunctionNode | None]:
    """Functions (None: the top of the file) that switch to evaluation or loop over its batches, and have a loop that may record graphs."""
    marks = [*uses.attributes(source, "eval"), *over]
    if not marks or "set_grad_enabled" in source.text or frameworks.frameworks(source) - {"accelerate"}:
        return []
    around = {None, *(up for one in marks for up in tree.ancestors(source, one))}
    switches = [one for one in source.methods("train") if one.args or one.keywords]  # train(False)
    found = around & {tree.function(source, one) for one in (*source.methods("eval"), *switches, *over)}
    loops = [one for one in source.all(ast.For, ast.While, ast.AsyncFor) if tree.function(source, one) in found]
    found &= {
        tree.function(source, one) for one in loops if not _few(source, one) and not _OFF & flow.place(source, one)[2]
    }
    return [one for one in (None, *flow.functions(source)) if one in found]


def _is_quiet(source: Source, home: tree.FunctionNode | None, events: tuple[Event, ...], event: Event) -> bool:
    """Whether no graph is recorded here after all, or somebody wants it."""
    if not isinstance(event.node, ast.Call) or _runs_it(source, event.node) or _quiet_callers(source, home):
        return True
    if (
        _graphless(source, event.node)
        or _few(source, event.loops[-1])
        or _MEANT.search(follow.comment(source, event.node))
    ):
        return True
    return (
        _asked_for(events, event) or _each_once(event) or _cares(source, event.node) or _frozen(source, events, event)
    )


def _told(source: Source, home: tree.FunctionNode | None, event: Event) -> tuple[str, bool]:
    """What is said of a forward pass, and whether it is said once in a function."""
    assert isinstance(event.node, ast.Call)
    name, loop = source.code(event.node.func), event.loops[-1]
    if _is_collected(source, event.node, loop) and not _quiet_inside(event):
        return f"every output of `{name}` is kept with its whole graph: evaluate under `torch.no_grad()`", False
    if event.detail == "method":
        return "", False  # a method may do anything; what is collected is sure
    if _made_in_turn(source, event.node, loop):
        return "", False
    if _is_carried(source, event.node, loop) and not _differentiated(source, home):
        kept_on = f"each call of `{name}` gets what the one before gave, so the graphs of all turns are kept"
        return f"{kept_on}: run it under `torch.no_grad()`", False
    if _asks_gradients(source, loop) or _unit_test(source, home) or _differentiates(event) or _tried(source, event):
        return "", False
    each = f"`{name}` records a graph for every batch of this evaluation, and nobody wants its gradients"
    return f"{each}: run it under `torch.no_grad()`", True


def _tried(source: Source, event: Event) -> bool:
    """`out = net(x)`, of which only the shape is printed: a try of the net, for which nobody needs memory."""
    call, held = event.node, source.parents[event.node]
    target = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
    names = [one for one in ast.walk(target) if isinstance(one, ast.Name)] if target is not None else []
    same = [use for one in names for use in uses.names(source, one.id) if isinstance(use.ctx, ast.Load)]
    ups = [source.parents[use] for use in same if any(made.node in names for made in scopes.reaching(source, use))]
    shapes = all(isinstance(one, ast.Attribute) and one.attr in ("shape", "size", "dtype") for one in ups)
    passed = any(source.name(one.func) == "print" for one in tree.under(source, event.loops[-1], ast.Call))
    return bool(names) and shapes and passed and not any(source.methods("register_forward_hook"))


def _made_in_turn(source: Source, call: ast.Call, loop: ast.AST) -> bool:
    """`block = Block(width)`, `x = block(x)`: a layer that is made here and called once, so all turns are one forward pass."""
    if _grows(source, call, loop):
        return True
    bound = scopes.reaching(source, call.func) if isinstance(call.func, ast.Name) else []
    return bool(bound) and all(
        tree.inside(source, one.statement, loop)
        and isinstance(one.value, ast.Call)
        and tree.dotted(one.value.func).rpartition(".")[2][:1].isupper()
        for one in bound
    )


def _grows(source: Source, call: ast.Call, loop: ast.AST) -> bool:
    """`net.add_module(name, layer)` in a loop that calls `net`: it is made here, layer by layer."""
    adds = (one for one in tree.under(source, loop, ast.Call) if follow.method(one) in ("add_module", "append"))
    return any(tree.dotted(call.func) == tree.dotted(tree.receiver(one)) != "" for one in adds)


def _by_method(source: Source, event: Event) -> Event:
    """`net.features(x)`, a method of the net that runs its layers, is a forward pass of the net."""
    call = event.at
    if event.what != "forward" or len(event.via) != 1 or not event.via[0].owner or not isinstance(call, ast.Call):
        return event
    if not isinstance(call.func, ast.Attribute) or not values.sure(source, call.func.value, "module"):
        return event
    around = flow.place(source, call)[0]
    return event._replace(node=call, owner=identity(source, call.func.value), loops=around, via=(), detail="method")


def _unit_test(source: Source, home: tree.FunctionNode | None) -> bool:
    """A test of a library's own: its graphs end with it."""
    tested = _TESTS.search(source.path) is not None
    return tested and home is not None and (home.name.startswith("test_") or "assert" in source.code(home))


def _asked_for(events: tuple[Event, ...], event: Event) -> bool:
    """The other branch runs the same net under `no_grad`: here the gradients are wanted."""
    twins = (one for one in events if one.what == "forward" and one.owner == event.owner and one.no_grad)
    return any(flow.exclusive(one, event) for one in twins)


def _cares(source: Source, call: ast.Call) -> bool:
    """A net whose `forward` switches the recording off itself: `if mode == "eval": with torch.no_grad():`."""
    owners = [classes.class_behind(source, one) for one in source.values(call.func)]
    made = [(one, classes.methods(one).get("forward")) for one in owners if one is not None]
    return any(node is not None and _CONTEXTS.search(one.source.code(node)) for one, node in made)


def _frozen(source: Source, events: tuple[Event, ...], event: Event) -> bool:
    """`net.eval().requires_grad_(False)` or Lightning's `net.freeze()` further up: nothing asks for a gradient, and nothing is recorded."""
    before = (one for one in events[: events.index(event)] if one.what == "freeze" and not one.conditions)
    if event.owner is not None and any(_held_still(one) == event.owner for one in before):
        return True
    home, name = tree.function(source, event.at), tree.dotted(event.expr) if event.expr is not None else ""
    sealed = (one for one in source.methods("freeze") if name and not one.args and tree.is_statement(source, one))
    return any(tree.dotted(tree.receiver(one)) == name and tree.function(source, one) is home for one in sealed)


def _held_still(freeze: Event) -> Identity | None:
    """`net`, also of `for p in net.parameters(): p.requires_grad = False`."""
    loop = freeze.loops[-1] if freeze.loops else None
    over = loop.iter if isinstance(loop, ast.For) else None
    if not isinstance(over, ast.Call) or follow.method(over) not in ("parameters", "named_parameters"):
        return freeze.owner if loop is None else None
    return identity(freeze.source, tree.receiver(over))


def _each_once(event: Event) -> bool:
    """`for net in nets: net(x)`: each of them is called once."""
    loop = event.loops[-1]
    names = {tree.dotted(one) for one in ast.walk(loop.target)} if isinstance(loop, ast.For) else set()
    return isinstance(event.expr, ast.Name) and event.expr.id in names - {""}


def _few(source: Source, loop: ast.AST) -> bool:
    """`for _ in range(10)`, `for text in ["a", "b"]`, a `break` at the end: the graphs of ten turns are no matter."""
    over = loop.iter if isinstance(loop, ast.For) else None
    if isinstance(loop, ast.For) and isinstance(loop.body[-1], ast.Break):
        return True  # the first batch alone
    written = follow.followed(source, over) if over is not None else None
    if isinstance(written, ast.List | ast.Tuple):
        return len(written.elts) <= 20
    given = over.args[0] if isinstance(over, ast.Call) and len(over.args) == 1 else None
    turns = tree.literal(follow.followed(source, given)) if given is not None else None
    return isinstance(over, ast.Call) and source.name(over.func) == "range" and isinstance(turns, int) and turns <= 20


def _state_of_its_own(source: Source) -> Iterator[Hit]:
    """`y, self.h = self.cell(x, self.h)` in an object that has put its net into evaluation mode: one graph over all calls."""
    for cls in classes.all_classes(source):
        code = source.code(cls.node)
        if ".eval()" not in code or ".backward(" in code or "detach" in code or classes.is_module(cls):
            continue
        for assign in tree.under(source, cls.node, ast.Assign):
            target, call = assign.targets[0], assign.value
            names = {tree.dotted(one) for one in (target.elts if isinstance(target, ast.Tuple) else [target])}
            own = {one for one in names if one.startswith("self.")}
            given = {tree.dotted(one) for one in call.args} if isinstance(call, ast.Call) else set()
            home = tree.function(source, assign)
            if not own & given or home is None or tensors.no_grad_around(source, assign):
                continue
            if not isinstance(call, ast.Call) or not values.sure(source, call.func, "module"):
                continue
            if not _quiet_callers(source, home) and not _runs_it(source, assign):
                name = min(own & given)
                told = f"`{name}` keeps the graph of every call so far: run it under `torch.no_grad()`"
                yield source.hit(call, told)


def _backward_pass(source: Source) -> Iterator[Hit]:
    """`loss.backward()` in an evaluation that nobody asks for gradients."""
    tested = _TESTS.search(source.path) is not None  # of a library: its functions are called test_something
    homes = {tree.function(source, call) for call in source.methods("backward")} if not tested else set()
    for home in (one for one in flow.functions(source) if one in homes and _EVALUATION.search(one.name)):
        events = flow.events_of(source, home)
        back = next((one for one in events if one.what == "backward" and not one.via and one.loops), None)
        steps = any(one.what in ("step", "zero_grad", "train") for one in events)
        code = source.code(home)
        asked = any(word in code for word in (".grad", "requires_grad", "hook", "attack", "autograd"))
        if back is not None and any(one.what == "eval" for one in events) and not steps and not asked:
            told = f"`{home.name}` takes no step: this backward pass costs time and memory and leaves gradients that the next step may add"
            yield source.hit(back.node, f"{told}; drop it and evaluate under `torch.no_grad()`")


def _differentiates(event: Event) -> bool:
    """Whether the net takes gradients in its own forward pass, which needs the graph."""
    return any("autograd.grad(" in code for one in _passes(event) for code in _with_helpers(one))


def _quiet_inside(event: Event) -> bool:
    """Whether the net turns gradients off in its own forward pass, where it is not training."""
    return any("no_grad" in one.source.code(one.node) for one in _passes(event))


def _passes(event: Event) -> list[Function]:
    """The forward passes of what is called."""
    made = event.source.values(event.expr) if event.expr is not None else ()
    owners = [one for value in made if (one := classes.class_behind(event.source, value)) is not None]
    found = (event.source.project.method(cls, "forward") for cls in owners)
    return [one for one in found if one is not None]


def _with_helpers(function: Function) -> Iterator[str]:
    """The code of a function, and of those of its file that it calls by name."""
    code = function.source.code(function.node)
    yield code
    yield from (function.source.code(one) for one in flow.functions(function.source) if f"{one.name}(" in code)


def _asks_gradients(source: Source, loop: ast.AST) -> bool:
    """Whether the loop has to do with gradients, or what stands right above it speaks of a context."""
    first, last = getattr(loop, "lineno", 1) - 1, getattr(loop, "end_lineno", 1)
    text = lines(source)
    within, above = "\n".join(text[first:last]), "\n".join(text[max(first - 6, 0) : first])
    return _GRADIENTS.search(within) is not None or _CONTEXTS.search(above) is not None


def _helper(source: Source) -> Iterator[Hit]:
    """`loss.backward()` above `if self.opt is not None:` with the step and zero_grad: the evaluation has no optimizer, and runs it too."""
    for call in source.methods("backward"):
        home = tree.function(source, call)
        if home is None or tree.conditions(source, call) or frameworks.owned(source, call):
            continue
        both = [one for one in source.methods("step", "zero_grad") if tree.function(source, one) is home]
        tests = [[test for test, branch in tree.conditions(source, one) if branch] for one in both]
        asked = tests[0][0] if len(both) > 1 and all(one and one[0] is tests[0][0] for one in tests) else None
        names = {follow.method(one) for one in both}
        if asked is not None and names == {"step", "zero_grad"} and _is_off(source, asked):
            told = f"this runs where `{source.code(asked)}` does not hold, in the evaluation, and leaves gradients that the next step adds"
            yield source.hit(call, f"{told}: put it under the `if` too", severity="warning")


def _is_off(source: Source, test: ast.expr) -> bool:
    """Whether an evaluation gives None or False for what is asked: `opt is not None`, `opt`, `train`."""
    absent = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)
    subject = test.left if isinstance(test, ast.Compare) and absent else test
    if not isinstance(subject, ast.Name | ast.Attribute):
        return False
    for one in values.values(source, subject):
        given = one.node if one.source is source and one.kind in ("none", "bool") else None
        if isinstance(given, ast.Constant) and not given.value and _evaluating(source, given):
            return True
    return False


def _evaluating(source: Source, node: ast.AST) -> bool:
    """Whether this stands in an evaluation, by its names or behind an `eval()` in the same block."""
    statement, home = tree.statement(source, node), tree.function(source, node)
    if _EVALUATION.search(source.code(statement)) or (home is not None and _EVALUATION.search(home.name)):
        return True
    for up in (statement, *tree.ancestors(source, statement)):
        block = getattr(source.parents.get(up), "body", []) if up is not home else []
        before = block[: block.index(up)] if isinstance(block, list) and up in block else []
        calls = [follow.method(one.value) for one in before if isinstance(one, ast.Expr)]
        modes = [one for one in calls if one in ("train", "eval")]
        if modes:
            return modes[-1] == "eval"
    return False


def _runs_it(source: Source, node: ast.AST) -> bool:
    """Whether a framework evaluates; Accelerate leaves that to the user."""
    return frameworks.switches(source, node)


def _evaluates(events: tuple[Event, ...], place: int) -> bool:
    """Whether this is a forward pass in a loop, in evaluation mode, with gradients on and no backward pass around."""
    event = events[place]
    if event.what != "forward" or event.no_grad or event.via or not event.loops or event.owner is None:
        return False
    modes = [
        one for one in events[:place] if one.what in ("train", "eval") and one.owner == event.owner and not one.via
    ]
    trains = any(one.what == "backward" and event.loops[-1] in one.loops for one in events)
    if not modes or modes[-1].what != "eval" or trains or "torch.enable_grad" in event.contexts:
        return False
    if _made_since(event, modes[-1]) or _learnt_from(events, place):
        return False
    switched = [one for one in modes if one.what == "train" and flow.exclusive(one, modes[-1])]  # if learning: train()
    return all(flow.exclusive(one, event) for one in switched)


def _learnt_from(events: tuple[Event, ...], place: int) -> bool:
    """`for net in nets: loss += net(made)` and `loss.backward()` below the loop, in the same turn: the graph is wanted."""
    event = events[place]
    for one in events[place + 1 :]:
        if one.owner == event.owner and event.loops[-1] not in one.loops and one.what in ("forward", "train"):
            return False
        if one.what == "backward" and one.loops and one.loops == event.loops[: len(one.loops)]:
            return True
    return False


def _made_since(event: Event, switch: Event) -> bool:
    """`net = Net().to(device)` below `net.eval()`: a new net by the old name is in training mode."""
    name = event.expr if isinstance(event.expr, ast.Name) and not switch.via else None
    bound = scopes.reaching(event.source, name) if name is not None and switch.source is event.source else []
    line = int(getattr(switch.node, "lineno", 0))
    return bool(bound) and all(
        one.how == "assign" and isinstance(one.value, ast.Call) and line < one.value.lineno for one in bound
    )


def _over_evaluation(source: Source) -> set[ast.For]:
    """Loops over `test_loader` and its like, or over a loader in `evaluate`, in a program that trains and knows no evaluation mode."""
    if any(source.methods("eval")) or not flow.may_train(source):
        return set()
    loops = list(source.all(ast.For))
    named = {one for one in loops if iteration.over_evaluation(source, one)}
    return named | {one for one in loops if _by_function(source, one)}


def _by_function(source: Source, loop: ast.For) -> bool:
    """`for x, y in loader` in a function that is called `evaluate`."""
    home = tree.function(source, loop)
    evaluates = home is not None and _EVALUATION.search(home.name)
    return bool(evaluates) and values.sure(source, iteration.unwrapped(source, loop.iter), "loader", weak=True)


def _tests(events: tuple[Event, ...], place: int, over: set[ast.For]) -> bool:
    """Whether this is a forward pass in one of these loops, with gradients on and no backward pass in it."""
    event = events[place]
    if event.what != "forward" or event.no_grad or event.via or not event.loops or event.owner is None:
        return False
    trains = any(one.what in ("backward", "step") and event.loops[-1] in one.loops for one in events)
    if event.loops[-1] not in over or trains or "torch.enable_grad" in event.contexts:
        return False
    home = tree.function(event.source, event.node)
    if home is None or not isinstance(event.owner[0], Parameter):
        return True
    return bool(calls.callers(as_function(event.source, home)))  # whom we do not see may call it under `no_grad`


def _quiet_callers(source: Source, home: tree.FunctionNode | None, depth: int = 4) -> bool:
    """Whether a caller, or a caller's caller, switches the recording off for this function."""
    found = calls.callers(as_function(source, home)) if home is not None else []
    if "set_grad_enabled" in source.text or any(tensors.no_grad_around(caller, call) for caller, call, _ in found):
        return True
    above = [(caller, tree.function(caller, call)) for caller, call, _ in found] if depth else []
    return any(up is not None and up is not home and _quiet_callers(caller, up, depth - 1) for caller, up in above)


def _graphless(source: Source, call: ast.Call) -> bool:
    """A distance without parameters, of inputs that no network made."""
    found = source.values(call.func)
    bare = [part for one in found for part in (one.items[0] if one.name in api.WRAPPERS and one.items else (one,))]
    if not bare or not all(modules.parameterless(one) for one in bare):
        return False
    made = (inner for given in call.args for inner in terms.reached(source, given))
    return not any(values.maybe(source, inner.func, "module") for inner in made)


def _is_carried(source: Source, call: ast.Call, loop: ast.AST) -> bool:
    """Whether an argument of the call is made of the call's own result in the turn before, with its graph."""
    for arg in (one for one in call.args if isinstance(one, ast.Name)):
        bound = [one for one in scopes.reaching(source, arg) if tree.inside(source, one.statement, loop)]
        again = [one.value for one in bound if one.value is not None and one.how == "assign"]
        inner = [part for one in again for part in tree.under(source, one, ast.Call)]
        if any(_hides(source, part, call) for part in inner) or _rebound(arg, loop, len(bound)):
            continue
        if any(part is call for one in again for part in terms.reached(source, one)):
            return True
    return False


def _rebound(arg: ast.Name, loop: ast.AST, known: int) -> bool:
    """Whether the loop gives the name a value in more lines than reach the call: one of them may cut the graph."""
    names = (one for one in tree.body_nodes(loop) if isinstance(one, ast.Name) and one.id == arg.id)
    return len([one for one in names if isinstance(one.ctx, ast.Store)]) != known


def _hides(source: Source, part: ast.Call, call: ast.Call) -> bool:
    """A function that may cut the graph: `repackage_hidden(hidden)`, `utils.repackage_hidden(hidden)`."""
    full = "" if isinstance(part.func, ast.Name) else source.name(part.func)
    foreign = isinstance(part.func, ast.Name) or (full != "" and not full.startswith("torch."))
    return part is not call and foreign


def _differentiated(source: Source, home: tree.FunctionNode | None) -> bool:
    """Whether somebody asks for gradients here."""
    code = source.code(home) if home is not None else source.text
    return "autograd" in code or "requires_grad" in code or ".backward(" in code or ".grad" in code


def _is_collected(source: Source, call: ast.Call, loop: ast.AST) -> bool:
    """Whether the result goes into something that outlives the turn, as it is, or as the loss that is made of it on the spot."""
    held = source.parents[call]
    while isinstance(held, ast.Call) and call in held.args and any(one.state == "loss" for one in source.values(held)):
        call, held = held, source.parents[held]  # criterion(net(x), y)
    name = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
    for _, target, value in kept.every(source, loop):
        if not kept.outlives(source, target, loop):
            continue
        leaves = [leaf for leaf in kept.leaves(_gathered(value)) if isinstance(leaf, ast.Name)]
        same = any(_comes_from(source, leaf, call, name) for leaf in leaves) or _loss_of(source, value, call, name)
        if value is call or same:
            return not _arrays(source, target)
    return False


def _arrays(source: Source, target: ast.expr | None) -> bool:
    """`np.concatenate(outputs)`: what was collected is arrays, so the net has taken the graph off itself."""
    named = uses.names(source, target.id) if isinstance(target, ast.Name) else ()
    given = (source.parents[one] for one in named)
    return any(isinstance(one, ast.Call) and source.name(one.func) in _JOINS for one in given)


def _loss_of(source: Source, value: ast.expr, call: ast.Call, name: ast.expr | None) -> bool:
    """`total += F.cross_entropy(out, y)` or `F.cross_entropy(model(x), y)`: the loss of the output, as it is."""
    if not isinstance(value, ast.Call) or not any(one.state == "loss" for one in source.values(value)):
        return False
    named = (arg for arg in value.args if isinstance(arg, ast.Name) and name is not None)
    return call in value.args or any([one.node for one in scopes.reaching(source, arg)] == [name] for arg in named)


def _gathered(value: ast.expr) -> ast.expr:
    """The loss in `accelerator.gather(loss.repeat(8))`."""
    while isinstance(value, ast.Call):
        if follow.method(value) in ("gather", "gather_for_metrics") and value.args:
            value = value.args[0]
        elif follow.method(value) in ("repeat", "unsqueeze", "expand"):
            value = tree.receiver(value)
        else:
            break
    return value


def _comes_from(source: Source, leaf: ast.Name, call: ast.Call, name: ast.expr | None) -> bool:
    """Whether it is the model's output itself, or the loss that was made of it on its way."""
    bound = scopes.reaching(source, leaf)
    if [one.node for one in bound] == [name]:
        return True
    made = bound[0].value if len(bound) == 1 and not bound[0].path else None
    return made is not None and _loss_of(source, made, call, name)

"""The rule of eval-mode-missing."""

import ast
import itertools
import re
from collections.abc import Iterator
from functools import partial

from torchlore.check import calls, classes, flow, follow, frameworks, iteration, modes, modules, project, tensors, tree
from torchlore.check.events import Event
from torchlore.check.identity import Parameter, identity
from torchlore.check.pattern import regex
from torchlore.check.project import Function
from torchlore.check.source import Hit, Source

_EVALUATES = re.compile(
    r"(?:^|_)(?:val|valid|validate|validation|test|eval|evaluate|predict|infer|inference)(?:_|$)", re.IGNORECASE
)
_ON_PURPOSE = re.compile(
    r"mc_?drop|monte|uncertain|bayes|pseudo|self_label|bn_?(?:update|stats)|update_?bn|calibrat|recal|"
    r"(?:^|_)(?:act|acts|action|actions|explore|rollout|collect|play)(?:_|$)",
    re.IGNORECASE,
)
_SHOWS = re.compile(r"^_?(?:draw|plot|show|visuali[sz]e)|(?:^|_)(?:gta|ground_truth_aligned)(?:_|$)", re.IGNORECASE)

_SWITCHES = regex(r"\.eval\(|\.train\([^)\s]")
_OTHER_SWITCH = re.compile(r"\.eval\b|\.train\([^)\s]|train_mode|eval_mode|set_mode|\.training\b|getattr\(")


def _file(event: Event) -> str:
    """The name of its file; what the folders above are called says nothing about it."""
    return event.source.path.replace("\\", "/").rpartition("/")[2]


def find(source: Source) -> Iterator[Hit]:
    told = [*_loaded(source)]
    if flow.may_train(source):
        told += [*_phases(source), *_by_flag(source), *_wrapped(source), *_without(source), *_left(source)]
    yield from told
    lines = {one.line for one in told}
    seen: set[object] = set()
    for event in _evaluations(source):
        there = event.source is not source and any(one.node is event.node for one in _evaluations(event.source))
        place = _place(source, event)
        held = range(place.lineno, (place.end_lineno or 0) + 1)  # type: ignore[attr-defined]  # a statement or a call
        if isinstance(place, ast.With) and not lines.isdisjoint(held):
            seen |= {place, event.node}  # the call in it is told of already
            continue
        if not {place, event.node} & seen and not there and not frameworks.switches(source, place):
            seen |= {place, event.node}
            name = event.source.code(event.expr) if event.expr is not None else "model"
            message = f"`{name}` is evaluated in training mode, its dropout or batch norm still trains: call `{name}.eval()` first"
            yield source.hit(
                place, _switched_so(source, place) or message, severity="warning"
            )  # the author may want the noise


def _switched_so(source: Source, place: ast.AST) -> str:
    """What to say of the `model.train()` that `def validate(model)` begins with; "" of other places."""
    home = tree.function(source, place)
    if not isinstance(place, ast.Call) or follow.method(place) != "train" or home is None:
        return ""
    if not _EVALUATES.search(home.name) or flow.trains(source, home):
        return ""
    name = source.code(tree.receiver(place))
    return f"this evaluation puts `{name}` into training mode, in which dropout drops and batch norm looks at the batch: write `{name}.eval()`"


def _is_switched(source: Source) -> bool:
    return ".train(" in source.text or ".eval(" in source.text


def _phases(source: Source) -> Iterator[Hit]:
    """`for phase in ["train", "val"]`, where nobody switches the mode with the phase."""
    over = {one for one in source.all(ast.For) if _both(one.iter)}
    if not over:
        return
    never = not _SWITCHES.search(source.text)  # `if phase == "train": net.train()`, and nothing else
    for loop in flow.backward_loops(source):
        switches = loop.of("train", "eval")
        asks = any(one.what == "eval" or one.detail or one.owner is None or one.conditions for one in switches)
        asks &= not (never and switches)
        if not loop.of("step"):
            continue  # a picture of what the network looks at, not training
        if (
            loop.node not in over
            or asks
            or "getattr" in source.code(loop.node)
            or frameworks.switches(source, loop.node)
        ):
            continue
        read = [one for one in loop.of("forward") if _has_modes(one)]
        again = [one for one in loop.of("forward") if not one.conditions]
        if read and read[0] in again:
            name = read[0].source.code(read[0].expr) if read[0].expr is not None else "model"
            target = source.code(loop.node.target) if isinstance(loop.node, ast.For) else "phase"
            told = f'`{name}` is in training mode in every phase, so its dropout and batch norm train in validation: write `{name}.train({target} == "train")`'
            place = switches[0].node if switches and switches[0].source is source else loop.node
            yield source.hit(place, told, severity="warning")


def _by_flag(source: Source) -> Iterator[Hit]:
    """`def run_epoch(loader, train)`: one function for both, which nowhere switches the mode with its flag."""
    if _OTHER_SWITCH.search(source.text):
        return
    for function in source.all(ast.FunctionDef):
        flags = {
            arg.arg
            for arg in tree.parameters(function)
            if re.match(r"^(is_|do_)?train(ing|_mode)?$|^phase$|^mode$|^split$", arg.arg)
        }
        passes = [one for one in source.methods("backward") if tree.function(source, one) is function] if flags else []
        asked = [part for one in passes for test, _ in tree.conditions(source, one) for part in ast.walk(test)]
        if not any(isinstance(part, ast.Name) and part.id in flags for part in asked):
            continue
        always = [one for one in source.methods("train") if tree.function(source, one) is function]
        if any(tree.conditions(source, one) for one in always) or (".train(" in source.text and not always):
            continue  # whoever calls it may switch
        for event in flow.events_of(source, function):
            read = event.what == "forward" and event.source is source and not event.via and not event.conditions
            if read and _has_modes(event) and not frameworks.switches(source, event.node):
                name, flag = source.code(event.expr) if event.expr is not None else "model", min(flags)
                told = f"`{name}` is in training mode whatever `{flag}` says, so its dropout and batch norm train in validation: call `{name}.train()` or `{name}.eval()` by it"
                yield source.hit(always[0] if always else event.node, told, severity="warning")
                break


def _without(source: Source) -> Iterator[Hit]:
    """`def run(net, loader, optimizer=None)`, called without an optimizer to validate, in a file that knows no evaluation mode."""
    if ".eval(" in source.text or re.search(r"\.train\([^)\s]|train_mode|self\.training", source.text):
        return
    for function in source.all(ast.FunctionDef):
        own = project.as_function(source, function)
        names = [one for one in tree.parameters(function) if re.match(r"opt(im\w*)?$", one.arg)]
        arg = next((one for one in names if _is_none(calls.default_of(own, one))), None)
        passes = [one for one in source.methods("backward") if tree.function(source, one) is function] if arg else []
        asked = [test for one in passes for test, _ in tree.conditions(source, one)]
        if arg is None or not any(arg.arg in source.code(test) for test in asked):
            continue
        runs = [one for one in flow.events_of(source, function) if one.what == "forward" and not one.conditions]
        read = next((one for one in runs if not one.via and _has_modes(one)), None)
        for where, call, skip in calls.callers(own) if read is not None and read.expr is not None else ():
            given = calls.given_argument(own, call, arg, skip)
            quiet = where is source and not tree.spread(call) and (given is None or _is_none(given))
            if quiet and read is not None and read.expr is not None and not frameworks.switches(source, call):
                name = source.code(read.expr)
                told = f"nobody takes `{name}` out of training mode, so its dropout and batch norm train in this evaluation: call `.eval()` before it"
                yield source.hit(call, told, severity="warning")
                break


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _wrapped(source: Source) -> Iterator[Hit]:
    """A class with `fit` and `predict` around its own net, in a file that never switches a mode."""
    if _is_switched(source) or ("no_grad" not in source.text and "inference_mode" not in source.text):
        return
    for cls in classes.all_classes(source):
        own = classes.methods(cls)
        if not any(_EVALUATES.search(name) for name in own):
            continue
        trained = {one.owner for method in own.values() for one in flow.events_of(source, method) if _with_graph(one)}
        for name, method in own.items() if trained and not classes.is_module(cls) else ():
            events = flow.events_of(source, method) if _EVALUATES.search(name) and not _ON_PURPOSE.search(name) else ()
            read = (one for one in events if one.what == "forward" and one.no_grad and one.owner in trained)
            event = next((one for one in read if one.source is source and not one.via and _has_modes(one)), None)
            if event is not None and event.expr is not None and not frameworks.switches(source, event.node):
                net = source.code(event.expr)
                told = f"nobody takes `{net}` out of training mode, so its dropout or batch norm trains in `{name}`: call `{net}.eval()` first"
                yield source.hit(event.node, told, severity="warning")


def _left(source: Source) -> Iterator[Hit]:
    """A net of another package that the author puts into training mode, and nobody in the file into evaluation mode."""
    if ".train()" not in source.text or _OTHER_SWITCH.search(source.text):
        return
    told: set[ast.AST] = set()
    yield from _handed_over(source)
    for _, events in flow.training_entries(source):
        switched = {one.owner for one in events if one.what == "train"} - {None}
        for event in events if switched else ():
            read = event.what == "forward" and event.no_grad and bool(event.loops) and event.source is source
            if not read or event.owner not in switched or event.node in told or not _only_measures(events, event):
                continue
            told.add(event.node)
            if _unknown_modes(event) and not frameworks.switches(source, event.node):
                name = source.code(event.expr) if event.expr is not None else "model"
                why = f"`{name}` was put into training mode and nobody takes it out, so any dropout or batch norm in it trains here"
                place = _place(source, event)
                said = _switched_so(source, place) or f"{why}: call `{name}.eval()` first"
                yield source.hit(place, said, severity="warning")
                break


def _handed_over(source: Source) -> Iterator[Hit]:
    """`train_epoch(model, ...)` with `model.train()` and `validate(model, ...)` without a switch, for others to call."""
    trained = {tree.dotted(tree.receiver(call)) for call in source.methods("train") if not call.args}
    for home in flow.functions(source):
        names = {arg.arg for arg in tree.parameters(home)} & trained if _EVALUATES.search(home.name) else set()
        if not names or flow.trains(source, home) or calls.callers(project.as_function(source, home)):
            continue
        events = flow.events_of(source, home)
        for event in events:
            read = event.what == "forward" and event.no_grad and bool(event.loops) and not event.via
            name = tree.dotted(event.expr) if read and event.expr is not None else ""
            if name in names and _only_measures(events, event) and _unknown_modes(event):
                why = f"`{name}` comes from training, which puts it into training mode, so any dropout or batch norm in it trains here"
                place = _place(source, event)
                said = _switched_so(source, place) or f"{why}: call `{name}.eval()` first"
                yield source.hit(place, said, severity="warning")
                break


def _only_measures(events: tuple[Event, ...], event: Event) -> bool:
    """Whether the loop of a pass without gradients has no backward pass, and neither its name nor its input says that noise is wanted."""
    names = [function.node.name for function in event.via]
    if any(_ON_PURPOSE.search(name) or _SHOWS.search(name) for name in [*names, _file(event)]) or _drawn(event):
        return False
    learns = any(one.what == "backward" and event.loops[-1] in one.loops for one in events)
    return not learns and not modes.from_noise(event) and not _drawn_again(event)


def _unknown_modes(event: Event) -> bool:
    """Whether it cannot be seen which layers the net has: those whose layers can are asked elsewhere."""
    found = event.source.values(event.expr) if event.expr is not None else ()
    return all(modules.mode_layers(event.source, value) is None for value in found)


def _with_graph(event: Event) -> bool:
    return event.what == "forward" and not event.no_grad and bool(event.loops)


def _both(over: ast.expr) -> bool:
    """Whether a list names a phase of training and one of evaluation."""
    names = [tree.literal(one) for one in over.elts] if isinstance(over, ast.List | ast.Tuple) else []
    words = [one for one in names if isinstance(one, str)]
    return any("train" in one for one in words) and any(_EVALUATES.search(one) for one in words)


def _loaded(source: Source) -> Iterator[Hit]:
    """Weights are loaded to be used, without gradients, in a program that neither trains nor switches the mode."""
    text = source.text
    if "load_state_dict" not in text or ("no_grad" not in text and "inference_mode" not in text):
        return
    for _, events in flow.entries(source):
        trains = any(event.what == "backward" for event in events)
        if any(event.what in ("train", "eval") and (not trains or event.owner is None) for event in events):
            continue
        loaded: set[object] = {event.owner for event in events if event.what == "load" and event.owner is not None}
        surely = {event.owner for event in events if event.what == "load" and not event.conditions} - {None}
        used = _followed(events) if trains else set()
        for event in events if loaded - used else ():
            owners = _owners(event) if event.what == "forward" and event.no_grad else set()
            known = owners and (event.owner in loaded or owners & surely)
            read = known and not owners & used and _has_modes(event)
            names = [function.node.name for function in event.via]
            meant = any(_ON_PURPOSE.search(one) for one in [*names, _file(event)]) or modes.from_noise(event)
            tested = re.search(r"(^|/)tests?/", event.source.path.replace("\\", "/"))  # two of them are compared
            if read and not meant and not tested and not _switched(source, event):
                name = event.source.code(event.expr) if event.expr is not None else "model"
                told = f"`{name}` was loaded and is still in training mode, its dropout drops and its batch norm looks at the batch: call `{name}.eval()` first"
                yield source.hit(_place(source, event), told, severity="warning")
                break


def _owners(event: Event) -> set[object]:
    """The net, also as the function that loads and returns it names it."""
    made = follow.binding(event.source, event.expr) if event.expr is not None else None
    made = made if made is not None else _made_outside(event)
    inner = flow.called(event.source, made) if isinstance(made, ast.Call) else None
    given = calls.returned(inner) if inner is not None else []
    names = [identity(inner.source, one) for one in given if inner is not None and isinstance(one, ast.Name)]
    return {one for one in (event.owner, *names) if one is not None}


def _made_outside(event: Event) -> ast.expr | None:
    """`load_model(path)` where `net = load_model(path)` stands in the scope that hands `net` to this function."""
    scope, *rest = event.owner or (None,)
    source = event.source
    if len(rest) != 1 or not isinstance(scope, ast.Module | ast.FunctionDef):
        return None
    same = [one for one in source.all(ast.Assign) if tree.dotted(one.targets[0]) == rest[0]]
    mine = [one.value for one in same if (tree.function(source, one) or source.tree) is scope]
    return mine[0] if len(mine) == 1 else None


def _followed(events: tuple[Event, ...]) -> set[object]:
    """In a program that trains: nets that are switched or run with a graph, and those that get another net's weights."""
    found: set[object] = {event.owner for event in events if event.what in ("train", "eval")}
    found |= {event.owner for event in events if event.what == "forward" and not event.no_grad}
    for event in events:
        if event.what == "load" and isinstance(event.node, ast.Call):
            given = [follow.followed(event.source, one) for one in event.node.args]
            read = any("load(" in event.source.code(one) or isinstance(one, ast.Subscript) for one in given)
            found |= set() if read else {event.owner}
    return found


def _switched(source: Source, event: Event) -> bool:
    """Whether a line that was not followed switches something of this name."""
    last = tree.dotted(event.expr).rpartition(".")[2] if event.expr is not None else ""
    for call in source.methods("eval", "train"):
        net = tree.receiver(call)
        name, found = tree.dotted(net).rpartition(".")[2], identity(source, net)
        other = found is not None and not isinstance(found[0], Parameter) and found != event.owner
        if not name or (name == last and not other):
            return True
    return not last


def _place(source: Source, event: Event) -> ast.AST:
    """Where the mode is wrong: at a `train()` right before the pass, else where `eval()` is missing."""
    around = tree.function(event.source, event.node)
    place: ast.Call | None = None
    both = event.source.methods("train", "backward") if event.source is source and around is not None else ()
    for call in sorted(both, key=lambda one: one.lineno):
        if tree.function(source, call) is not around or call.lineno >= getattr(event.node, "lineno", 0):
            continue
        if follow.method(call) == "backward":
            place = None  # that one was for the training
        elif not tree.conditions(source, call) and identity(source, tree.receiver(call)) == event.owner:
            place = call
    if place is not None:
        return place
    home, read = _evaluation(event)
    return _before(source, read, event) if home is source else _nearest(source, event)


def _nearest(source: Source, event: Event) -> ast.AST:
    """Of a pass in another file: the last call of this one on the way to it, `self.validator.validate(net)` and not `main()`."""
    for outer, inner in reversed([*itertools.pairwise(event.via)]):
        if outer.source is source:
            calls = tree.under(source, outer.node, ast.Call)
            return next((one for one in calls if flow.called(source, one) == inner), event.at)
    return event.at


def _evaluation(event: Event) -> tuple[Source, ast.AST]:
    """The call in the function that evaluates: the forward pass itself may stand in a helper that training uses too."""
    call, home = event.node, event.source
    for outer, inner in reversed([*itertools.pairwise(event.via)]):
        if _EVALUATES.search(inner.node.name) or _without_graph(inner) or not (outer.source is inner.source is home):
            break
        calls = tree.under(outer.source, outer.node, ast.Call)
        same = [one for one in calls if flow.called(outer.source, one) == inner]
        quiet = [one for one in same if event.no_grad and tensors.no_grad_around(outer.source, one)]
        call = next(iter(quiet or same), call)
    return home, call


def _without_graph(function: Function) -> bool:
    calls = function.source.calls("torch.no_grad", "torch.inference_mode")
    return any(tree.inside(function.source, call, function.node) for call in calls)


def _before(source: Source, call: ast.AST, event: Event) -> ast.AST:
    """Where `eval()` belongs: beside the one of another network, before the block without graph, at the function's start."""
    home = tree.function(source, call)
    others = [one for one in source.methods("eval") if tree.function(source, one) is home and home is not None]
    mine = [one for one in others if not one.args and one.lineno < getattr(call, "lineno", 0)]
    if mine and identity(source, tree.receiver(mine[-1])) != event.owner:
        return mine[-1]
    for up in tree.ancestors(source, call):
        if up is home:
            break
        if isinstance(up, ast.With) and any(
            "grad" in source.code(item.context_expr) or "inference_mode" in source.code(item.context_expr)
            for item in up.items
        ):
            return up
    if home is not None and (_EVALUATES.search(home.name) or home.decorator_list):
        return next(
            (one for one in home.body if not isinstance(one, ast.Expr) or isinstance(one.value, ast.Call)), call
        )
    return call


def _evaluations(source: Source) -> Iterator[Event]:
    """What a file evaluates in training mode, also through functions of other files."""
    if not flow.may_train(source):
        return
    entries = [events for _, events in flow.training_entries(source)]
    for events in entries:
        yield from modes.read_in_train_mode(events, partial(_only_reads, events))
    for loop in flow.backward_loops(source):
        events = (*loop.events, *loop.events)
        found = modes.read_in_train_mode(events, partial(_only_reads, events))
        yield from (one for one in found if not any(_came_so(loop.node, one, before) for before in entries))


def _came_so(loop: ast.AST, event: Event, events: tuple[Event, ...]) -> bool:
    """Whether the net came into the loop in evaluation mode: an earlier evaluation, or cell, left it so."""
    first = next((index for index, one in enumerate(events) if loop in one.loops), None)
    mine = [one for one in events[:first] if one.what in ("train", "eval") and one.owner == event.owner]
    return first is not None and bool(mine) and mine[-1].what == "eval"


def _only_reads(events: tuple[Event, ...], event: Event) -> bool:
    names = [function.node.name for function in event.via]
    if any(_ON_PURPOSE.search(name) for name in [*names, _file(event)]) or modes.from_noise(event):
        return False
    if _gives_losses(event) or _drawn_again(event) or (names and _SHOWS.search(names[-1])) or _drawn(event):
        return False
    named = bool(event.via) and bool(_EVALUATES.search(names[-1])) and not _trains(event)
    named |= bool(event.loops) and iteration.over_evaluation(event.source, event.loops[-1])
    named = named and not _learns(events, event)
    step = modes.prepares(events, event) and not _now_and_then(event)
    return (event.no_grad or named) and _has_modes(event) and not step and not _part_of_loss(events, event)


def _drawn_again(event: Event) -> bool:
    """`[net(x) for _ in range(k)]`: the same input several times, whose answers are to differ."""
    up = next(
        (one for one in tree.ancestors(event.source, event.node) if isinstance(one, ast.ListComp | ast.GeneratorExp)),
        None,
    )
    over = up.generators[0] if up is not None and len(up.generators) == 1 else None
    counted = over is not None and isinstance(over.iter, ast.Call) and event.source.name(over.iter.func) == "range"
    turn = (
        {one.id for one in ast.walk(over.target) if isinstance(one, ast.Name)}
        if over is not None and counted
        else set()
    )
    return bool(turn) and not any(isinstance(one, ast.Name) and one.id in turn for one in ast.walk(event.node))


def _drawn(event: Event) -> bool:
    """A block without gradients that ends in `save_image(...)`: pictures to look at, nothing is measured."""
    blocks = [up for up in tree.ancestors(event.source, event.node) if isinstance(up, ast.With)]
    calls = [follow.method(one) or tree.dotted(one.func) for one in tree.under(event.source, blocks[0], ast.Call)] if blocks else []  # fmt: skip
    measured = blocks and re.search(r"loss|acc|score|metric|correct|error", event.source.code(blocks[0]))
    return not measured and bool(
        {"save_image", "make_grid", "imshow", "imsave", "add_image", "add_images"} & set(calls)
    )


def _part_of_loss(events: tuple[Event, ...], event: Event) -> bool:
    """A function that computes a loss with the model, and a target for it without gradients: both in one mode."""
    same = (one for one in events if one.what == "forward" and one.owner == event.owner and one.via == event.via)
    with_graph = any(not one.no_grad and one.loops == event.loops for one in same)
    return bool(event.via) and event.no_grad and with_graph and not _trains(event)


def _gives_losses(event: Event) -> bool:
    """`loss_dict = model(images, targets)`: a detector gives its losses in training mode only."""
    held = event.source.parents.get(event.node)
    name = held.targets[0] if isinstance(held, ast.Assign) else None
    several = isinstance(name, ast.Name) and f"{name.id}.values()" in event.source.text
    return several and isinstance(event.node, ast.Call) and len(event.node.args) > 1


def _now_and_then(event: Event) -> bool:
    """`if step % 100 == 0: estimate_loss(model)`: no part of a step is left out of most of them."""
    parts = (part for test, _ in event.conditions for part in ast.walk(test))
    return bool(event.via) and any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in parts)


def _trains(event: Event) -> bool:
    own = flow.events_of(event.via[-1].source, event.via[-1].node)
    return any(one.what == "backward" for one in own)


def _learns(events: tuple[Event, ...], event: Event) -> bool:
    """`features = encoder_inference(net, x)` with its graph, in a turn that goes on to a backward pass."""
    after = events[events.index(event) :]
    passes = (one for one in after if one.what == "backward" and event.loops and event.loops[-1] in one.loops)
    return not event.no_grad and any(not flow.exclusive(one, event) for one in passes)


def _is_function(event: Event) -> bool:
    """In the other branch of `if isinstance(net, nn.Module)`: a net written by hand, without modes."""
    asked = [test for test, branch in event.conditions if not branch and isinstance(test, ast.Call)]
    name = event.source.name
    return any(name(one.func) == "isinstance" and name(one.args[-1]) == "torch.nn.Module" for one in asked if one.args)


def _has_modes(event: Event) -> bool:
    """Whether the model is surely one for which the mode matters, and not a part of a module that calls its own layers."""
    if event.expr is None or _is_function(event):
        return False
    owner = project.enclosing_class(event.source, event.node)
    itself = tree.dotted(event.expr) == "self" and bool(event.via) and bool(_EVALUATES.search(event.via[-1].node.name))
    if owner is not None and classes.is_module(owner) and not itself:
        return False
    name = re.escape(tree.dotted(event.expr))
    if name and re.search(rf"(?<![\w.]){name}\.\w*(?:mode|_eval|eval_)\w*\(", event.source.text):
        return False  # net.set_mode("test")
    found = event.source.values(event.expr)
    return bool(found) and all(modules.mode_layers(event.source, value) is True for value in found)

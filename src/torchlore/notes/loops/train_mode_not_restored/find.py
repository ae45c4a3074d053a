"""The rule of train-mode-not-restored."""

import ast
import re
from collections.abc import Iterator
from typing import Literal

from torchlore.check import calls, classes, edits, flow, follow, frameworks, modules, project, scopes, tree
from torchlore.check.events import Event
from torchlore.check.flow import LoopFlow
from torchlore.check.identity import identity
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_LAYERS = regex(r"[Dd]rop|[Nn]orm|pretrained|torchvision|timm|from (?!torch)\S+ import|Transformer")
_MEANT = regex(r"norm|\bbn\b|statist|fr[oe]+z|dropout|purpose|keep|stay")  # what a comment says of such a line

_FIXED = regex(r"pretrain|load_state_dict|requires_grad|freeze|frozen|torchvision|timm|transformers")
_TEACHER = regex(r"(?:^|[._])(?:old|teacher|prev|previous|frozen|ref|reference|target)(?:_|$)", re.IGNORECASE)
_TRAINS = regex(r"^_?train|_train$|^fit|^learn")

WORDS = ("eval|train",)


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("eval", "train")) or not flow.may_train(source):
        return
    seen: set[object] = set()
    for loop in flow.backward_loops(source):
        if not loop.of("step") or frameworks.switches(source, loop.node):
            continue
        for event in _left_on(source, loop):
            if _is_teacher(source, loop, event):
                continue
            above = _above(source, loop, event)
            moved = None if _within(source, loop, event) else above
            own = bool(event.via) and event.expr is not None and tree.dotted(event.expr) == "self"
            place = moved or (event.node if event.source is source and not own else event.at)
            if place not in seen:
                seen.add(place)
                yield _hit(source, loop, event, place, above)
        yield from _begun_so(source, loop)
    yield from (*_handed_over(source), *_never_in(source))


def _is_teacher(source: Source, loop: LoopFlow, event: Event) -> bool:
    """`old_model.eval()` above the loop, by a name that says it is not trained: so it shall stay."""
    before = [call for call in source.methods("eval") if call.lineno < loop.node.lineno]
    mine = [call for call in before if identity(source, tree.receiver(call)) == event.owner]
    return any(_TEACHER.search(tree.dotted(tree.receiver(call))) for call in mine)


def _never_in(source: Source) -> Iterator[Hit]:
    """`self.model.eval()` at the top of a function that trains a new net by name, and nobody ever calls `train()` on it."""
    back = {tree.dotted(tree.receiver(call)) for call in source.methods("train")}
    for call in source.methods("eval"):
        home, name = tree.function(source, call), tree.dotted(tree.receiver(call))
        top = home is not None and tree.statement(source, call) in home.body and _TRAINS.search(home.name) is not None
        if not top or home is None or not name or name in back or frameworks.switches(source, call):
            continue
        if any(tree.function(source, one) is home for one in source.methods("train")):
            continue  # the other net is the one that learns
        if _MEANT.search(follow.comment(source, call)) or _FIXED.search(source.text):
            continue
        events = flow.events_of(source, home)
        first = next((one for one in events if one.node is call), None)
        steps = [one for one in events if one.what == "step"]
        runs = [one for one in events if one.what == "forward" and first is not None and one.owner == first.owner]
        learns = bool(runs) and all(not one.no_grad for one in runs) and first is not None and first.owner is not None
        known = first is not None and first.expr is not None and bool(source.values(first.expr))
        if first is not None and steps and learns and known and _severity(first) == "warning":
            told = f"`{home.name}` trains `{name}` in evaluation mode, so its dropout is off and its batch norm fixed: write `{name}.train()`"
            yield source.hit(call, told, severity="warning")


def _begun_so(source: Source, loop: LoopFlow) -> Iterator[Hit]:
    """`model.eval()` at the top of every epoch that trains it, where an evaluation below asks for the same mode."""
    switches = [one for one in loop.of("eval") if one.owner is not None and one.source is source]
    back = {tree.dotted(tree.receiver(call)) for call in source.methods("train")} if switches else set()
    for first in (one for one in switches if not one.via and one.loops[-1] is loop.node and not one.no_grad):
        if first.expr is None or tree.dotted(first.expr) in back or _head_alone(source, tree.dotted(first.expr)):
            continue
        if _TEACHER.search(tree.dotted(first.expr)):
            continue
        again = [one for one in switches if one.owner == first.owner and one is not first]
        tests = any(one.owner == first.owner and not _differentiated(loop, one) for one in loop.of("forward"))
        if (
            again
            and tests
            and _trains_on_purpose(loop, first)
            and _severity(first)
            and not _MEANT.search(follow.comment(source, first.node))
        ):
            name = source.code(first.expr)
            yield source.hit(first.node, f"`{name}` trains in evaluation mode here, so its dropout is off and its batch norm fixed: write `{name}.train()`",
                             severity="warning")  # fmt: skip


def _head_alone(source: Source, name: str) -> bool:
    """A linear probe: `SGD(model.fc.parameters())` above a net that is frozen, whose statistics are to stay."""
    given = (tree.dotted(tree.receiver(one)).replace(".module", "") for one in source.methods("parameters"))
    return "requires_grad" in source.text or any(one.startswith(f"{name}.") for one in given)


def _handed_over(source: Source) -> Iterator[Hit]:
    """A function gives a net in evaluation mode to the loop that trains it, and nobody switches it back."""
    switched = [_maker(source, tree.receiver(call)) for call in source.methods("train")]
    if None in switched:
        return
    quiet = {}
    for call in source.methods("eval"):
        home = tree.function(source, call)
        made = _maker(source, tree.receiver(call))
        known = home is not None and made is not None and made not in switched
        if known and home is not None and _gives_back(home, tree.receiver(call), call):
            quiet[made] = home
    for loop in flow.training_loops(source) if quiet else ():
        for event in loop.direct("forward"):
            made = _maker(event.source, event.expr) if event.expr is not None and event.source is source else None
            other = made in quiet and quiet[made] is not tree.function(source, loop.node)
            other = other and not _runs_behind(source, quiet[made], loop.node)
            if (
                other
                and not event.no_grad
                and loop.of("step")
                and _differentiated(loop, event)
                and _severity(event) == "warning"
            ):
                name = source.code(event.expr) if event.expr is not None else "model"
                outer = tree.loops(source, loop.node)
                told = f"`{name}` comes here in evaluation mode, so its dropout is off and its batch norm fixed while it trains: call `{name}.train()` first"
                yield source.hit(outer[-1] if outer else loop.node, told, severity="warning")
                return


def _runs_behind(source: Source, home: tree.FunctionNode, loop: ast.AST) -> bool:
    """Whether the function is called below the loop alone: what it gives back has been trained."""
    sites = calls.callers(project.as_function(source, home))
    here = [
        call for at, call, _ in sites if at is source and tree.function(source, call) is tree.function(source, loop)
    ]
    return bool(sites) and len(here) == len(sites) and all(call.lineno > loop.lineno for call in here)  # type: ignore[attr-defined]  # a loop


def _maker(source: Source, net: ast.expr) -> ast.AST | None:
    """The call that made a net, where it is the only one it can come from."""
    found = source.values(net)
    return found[0].node if len(found) == 1 and found[0].source is source else None


def _gives_back(home: tree.FunctionNode, net: ast.expr, call: ast.Call) -> bool:
    """Whether a function ends with `model.eval(); return model`, or with `return model.eval()`."""
    backs = [one.value for one in tree.body_nodes(home) if isinstance(one, ast.Return)]
    return any(one is call or (isinstance(net, ast.Name) and tree.dotted(one) == net.id) for one in backs if one)


def _above(source: Source, loop: LoopFlow, event: Event) -> ast.Call | None:
    """`model.train()` right above the loop, meant for all its turns."""
    home, line = tree.function(source, loop.node), loop.node.lineno
    calls = [one for one in source.methods("train") if not one.args and not one.keywords and one.lineno < line]
    here = (one for one in reversed(calls) if tree.function(source, one) is home and not tree.loops(source, one))
    return next((one for one in here if identity(source, tree.receiver(one)) == event.owner), None)


def _within(source: Source, loop: LoopFlow, event: Event) -> bool:
    """Evaluated within an epoch: the way back belongs after it."""
    return bool(tree.loops(source, loop.node)) or follow.seldom(source, event.at, loop.node)


def _whose(source: Source, event: Event) -> Event:
    """`self.eval()` in a method that the loop calls as `net.generate()` happens to `net`."""
    own = event.owner is not None and len(event.owner) == 1 and bool(event.via)
    method = own and isinstance(event.at, ast.Call) and isinstance(event.at.func, ast.Attribute)
    outer = identity(source, tree.receiver(event.at)) if method and isinstance(event.at, ast.Call) else None
    return event._replace(owner=outer) if outer is not None else event


def _left_on(source: Source, loop: LoopFlow) -> Iterator[Event]:
    """Switches to evaluation of a model that this loop also trains, with no way back inside the loop."""
    loop = loop._replace(events=tuple(_whose(source, one) for one in loop.events))
    switches = loop.of("train")
    if any(event.owner is None or event.detail or _one_of_many(event) for event in switches):
        return
    made = [event.owner for event in loop.of("model")]  # anew in each turn, in training mode
    trained = {event.owner for event in loop.of("forward") if not event.no_grad and _differentiated(loop, event)}
    trained -= {event.owner for event in loop.of("eval") if _trains_on_purpose(loop, event) or _always(loop, event)}
    for event in loop.of("eval"):
        back = any(one.owner == event.owner or _closes_over(one, event) for one in switches)
        if event.owner is None or event.owner not in trained or back or _beside_another(event):
            continue
        anew = event.owner in made or _made_here(loop, event) or _begun_by(event)
        if not anew and not _stops(event) and _severity(event):
            yield event


def _beside_another(event: Event) -> bool:
    """`generator.eval()` right above or below `encoder.train()`: a mode for each was chosen."""
    here = tree.statement(event.source, event.node)
    block = next((one for one in tree.blocks(event.source.parents[here]) if here in one), [here])
    place = block.index(here)
    near = (
        one.value
        for one in (*block[max(place - 1, 0) : place], *block[place + 1 : place + 2])
        if isinstance(one, ast.Expr)
    )
    plain = (one for one in near if isinstance(one, ast.Call) and not one.args and not one.keywords)
    return any(follow.method(one) == "train" for one in plain)


def _one_of_many(event: Event) -> bool:
    """`m.train()` of each `m` that a loop over parts gives: which of them, nobody says."""
    bound = scopes.reaching(event.source, event.expr) if isinstance(event.expr, ast.Name) else []
    return any(one.how == "for" for one in bound)


def _closes_over(train: Event, event: Event) -> bool:
    """Whether a function inside another speaks of the other's name, whatever that is bound to at its end."""
    inner, outer = tree.function(event.source, event.node), tree.function(train.source, train.node)
    names = [one.expr.id if isinstance(one.expr, ast.Name) else "" for one in (train, event)]
    nested = inner is not None and outer is not None and tree.function(event.source, inner) is outer
    return nested and names[0] == names[1] != ""


def _made_here(loop: LoopFlow, event: Event) -> bool:
    """`net = build(...)` in the loop, perhaps in one of several branches, or `for net in nets`: each turn has one of its own."""
    root = event.expr.value if isinstance(event.expr, ast.Attribute) else event.expr
    bound_by = scopes.reaching(event.source, root) if isinstance(root, ast.Name) else []
    if any(one.how == "for" or (one.value is not None and _is_picked(one.value)) for one in bound_by):
        return True
    if event.via and bound_by and all(one.value is not None and _is_new(one.value) for one in bound_by):
        return True
    name = event.expr.id if isinstance(event.expr, ast.Name) and not event.via else ""
    made = (ast.Call, ast.Attribute, ast.Subscript)
    bound = (one for one in ast.walk(loop.node) if isinstance(one, ast.Assign) and isinstance(one.value, made))
    return any(
        tree.dotted(one.targets[0]) == name
        and name not in {part.id for part in ast.walk(one.value) if isinstance(part, ast.Name)}
        for one in bound
        if name
    )


def _begun_by(event: Event) -> bool:
    """`self.net = self.prepare()` in the method that the loop calls: each call of it has a net of its own."""
    for one in event.via[:-1]:
        for held in tree.under(one.source, one.node, ast.Assign):
            target, made = held.targets[0], held.value
            fresh = isinstance(made, ast.Call) and isinstance(target, ast.Attribute) and one.node.name != "__init__"
            inner = flow.called(one.source, made) if fresh and isinstance(made, ast.Call) else None
            if inner is not None and identity(one.source, target) == event.owner:
                return True
    return False


def _is_new(value: ast.expr) -> bool:
    """`kinds[name]().cuda()`: what a call without arguments gives is made there."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("cuda", "to"):
        value = value.func.value
    return isinstance(value, ast.Call) and not value.args and not value.keywords


def _is_picked(value: ast.expr) -> bool:
    """`self.clients[i].model`: one of many."""
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Constant)


def _differentiated(loop: LoopFlow, forward: Event) -> bool:
    """Whether a backward pass follows in the same innermost loop before the mode changes."""
    after = loop.events[loop.events.index(forward) + 1 :]
    for event in after:
        if event.what == "backward" and event.loops[-1] is forward.loops[-1]:
            return True
        if event.what == "eval":
            return False
    return False


def _trains_on_purpose(loop: LoopFlow, switch: Event) -> bool:
    """`model.eval()` right before the training of the same function: the author trains in evaluation mode."""
    after = loop.events[loop.events.index(switch) + 1 :]
    here = not switch.via  # at the top of the turn, whatever helper trains then
    mine = (
        one for one in after if one.owner == switch.owner and one.what == "forward" and (here or one.via == switch.via)
    )
    first = next(mine, None)
    return first is not None and not first.no_grad and _differentiated(loop, first)


def _always(loop: LoopFlow, switch: Event) -> bool:
    """A judge that is put into evaluation mode before the loop as well, and never out of it."""
    home, end = tree.function(switch.source, loop.node), loop.node.lineno
    before = [one for one in switch.source.methods("eval") if _starts(switch.source, one, home, end)]
    return any(identity(switch.source, tree.receiver(one)) == switch.owner for one in before)


def _starts(source: Source, call: ast.Call, home: tree.FunctionNode | None, line: int) -> bool:
    """In a constructor, or above the loop in its own function."""
    at = tree.function(source, call)
    return (at is not None and at.name == "__init__") or (at is home and call.lineno < line)


def _stops(event: Event) -> bool:
    """Whether the loop ends after this evaluation: `return` or `break` in the same block."""
    up = event.source.parents.get(tree.statement(event.source, event.node))
    return event.via == () and not isinstance(up, tree.Loop) and bool(tree.ends(getattr(up, "body", [])))


def _severity(event: Event) -> Literal["warning", "hint"] | None:
    """No error, for some train in evaluation mode on purpose; None where the mode cannot matter."""
    found = event.source.values(event.expr) if event.expr is not None else ()
    known = [modules.mode_layers(event.source, value) for value in found]
    if all(not one.kind or (one.kind == "module" and one.name in ("", "torch.nn.Module")) for one in found):
        return "warning"  # it comes from elsewhere, and whoever writes eval() thinks that the mode matters
    return "warning" if True in known else "hint" if None in known else None


def _may_switch(event: Event) -> bool:
    """Whether the file that makes the net speaks of a layer to which the mode matters, or takes one from elsewhere."""
    made = [one.source for one in event.source.values(event.expr)] if event.expr is not None else []
    owners = [classes.class_behind(event.source, one) for one in event.source.values(event.expr)] if event.expr is not None else []  # fmt: skip
    texts = [one.source.text for one in owners if one is not None]
    return not made or len(texts) < len(made) or any(_LAYERS.search(text) for text in texts)


def _hit(source: Source, loop: LoopFlow, event: Event, place: object, above: ast.Call | None) -> Hit:
    name = event.source.code(event.expr) if event.expr is not None else "model"
    if name == "self" and event.via and isinstance(event.at, ast.Call):
        given = [event.at.func.value] if isinstance(event.at.func, ast.Attribute) else []  # net.generate()
        same = [one for one in (*event.at.args, *given) if identity(source, one) == event.owner]
        name = source.code((same or given or [event.at.func])[0])
    elif above is not None and event.via and place is event.at:
        name = source.code(tree.receiver(above))  # as it is called here, not in the helper
    message = f"`{name}` stays in evaluation mode for the next turn of the loop on line {loop.node.lineno}: call `{name}.train()` at its top"
    if isinstance(place, ast.Call) and place is not event.node and place is not event.at:
        message = f"`{name}.eval()` on line {event.node.lineno} ends this for good, so later turns train in evaluation mode: move it into the loop"  # type: ignore[attr-defined]  # a call
    fix = [edits.insert_first(source, loop.node, f"{name}.train()")] if event.source is source and not event.via else []
    asked = above is not None and "LBFGS" not in source.text
    seen = _severity(event)
    meant = "warning" if asked and (seen == "warning" or _may_switch(event)) else seen
    if isinstance(event.expr, ast.Subscript) and meant:
        meant = "hint"  # `states["model"]`: which of them it is cannot be told
    return source.hit(place, message, *fix, severity=meant)  # type: ignore[arg-type]  # a node of this file

"""The rule of discriminator-step-reaches-generator."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, flow, follow, frameworks, identity, scopes, terms, tree, values
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source

WORDS = ("backward|manual_backward",)


def find(source: Source) -> Iterator[Hit]:
    seen: set[ast.AST] = set()
    twice = len([*source.methods("backward", "manual_backward")]) > 1
    for events in flow.rounds(source) if twice else ():
        backwards = [event for event in events if event.what == "backward" and event.source is source]
        if len(backwards) < 2 or frameworks.owned(source, backwards[0].node):
            continue
        for event in backwards[:-1]:
            judged = _attached_fake(source, event, events)
            left = _left_in_the_judge(source, event, events) if judged is None else None
            if judged is not None and judged not in seen:
                seen.add(judged)
                yield _hit(source, judged)
            if left is not None and left not in seen:
                seen.add(left)
                net = source.code(left.func)
                told = f"this loss leaves gradients in `{net}` too, which steps with them after its own loss"
                yield source.hit(
                    left, f"{told}: zero its optimizer right before that loss's backward pass", severity="warning"
                )


def _attached_fake(source: Source, backward: Event, events: list[Event]) -> ast.Call | None:
    """`D(fake)` in this loss, where the net that made the fake steps later with these gradients still in it."""
    events = [event for event in events if event is backward or not flow.exclusive(event, backward)]
    first = events.index(backward)
    stepped = next((event for event in events[first:] if event.what == "step"), None)
    later = [event for event in events[first + 1 :] if event.what == "backward"]
    for call in terms.reached(source, backward.expr) if backward.expr is not None and stepped is not None else ():
        maker = _maker(source, call)
        if maker is None or not _is_net(source, call) or not any(_trains(event, maker) for event in later):
            continue  # no later loss is the generator's own: this is it
        for step in events[first + 1 :]:
            cleared = step.what == "zero_grad" and (step.owner is None or _holds(step, maker) is not False)
            if cleared:
                break
            again = events.index(step) > events.index(later[0])
            if step.what == "step" and _holds(step, maker) is True and step is not stepped and again:
                return call
    return None


def _left_in_the_judge(source: Source, backward: Event, events: list[Event]) -> ast.Call | None:
    """`D(fake)` in the generator's loss, where D steps later, after a loss of `D(fake.detach())`, with these gradients still in it."""
    first = events.index(backward)
    later = [event for event in events[first + 1 :] if event.what == "backward"]
    if "requires_grad" in source.text or "toggle" in source.text or backward.expr is None or not later:
        return None
    for call in terms.reached(source, backward.expr):
        judge = identity.identity(source, call.func) if _is_net(source, call) and _maker(source, call) else None
        if judge is None or not _judges_apart(source, later[-1], judge):
            continue
        after = events[first + 1 :]
        steps = [event for event in after if event.what == "step" and _holds(event, judge) is True]
        ends = after.index(steps[0]) if steps else 0
        cleared = (one for one in after[:ends] if one.what == "zero_grad")
        kept = all(one.owner is not None and _holds(one, judge) is False for one in cleared)
        if ends > after.index(later[-1]) and kept and not steps[0].via:
            return call
    return None


def _judges_apart(source: Source, backward: Event, judge: object) -> bool:
    """Whether this loss judges something detached: the two are trained apart."""
    calls = terms.reached(source, backward.expr) if backward.expr is not None and backward.source is source else ()
    mine = [one for one in calls if identity.identity(source, one.func) == judge and one.args]
    return any(follow.method(follow.followed(source, one.args[0])) == "detach" for one in mine)


def _trains(backward: Event, net: object) -> bool:
    """Whether this loss is made of what the net gives, or nobody can see what it is made of."""
    if backward.expr is None:
        return True
    calls = [*terms.reached(backward.source, backward.expr)]
    return any(identity.identity(backward.source, one.func) == net for one in calls) or not calls


def _is_net(source: Source, call: ast.Call) -> bool:
    """Whether a module is called, or something whose parameters an optimizer was given."""
    if values.maybe(source, call.func, "loss"):
        return False
    owners = (identity.identity(source, tree.receiver(one)) for one in source.methods("parameters"))
    return values.sure(source, call.func, "module", weak=True) or identity.identity(source, call.func) in {*owners} - {
        None
    }


def _maker(source: Source, call: ast.Call) -> object:
    """The other net whose output this net is given, with its graph."""
    own = identity.identity(source, call.func)
    if any(_cut_elsewhere(source, arg) for arg in call.args[:1]):
        return None
    given = [one for arg in call.args[:1] for one in terms.reached(source, arg) if _is_net(source, one)]
    nets = {identity.identity(source, one.func) for one in given} - {own, None}
    return nets.pop() if len(nets) == 1 and own is not None else None


def _cut_elsewhere(source: Source, fake: ast.expr) -> bool:
    """`fake = G(z)` in one branch and `fake = G(z).detach()` in the other: which turn trains whom is asked there."""
    made = [one.value for one in scopes.reaching(source, fake)] if isinstance(fake, ast.Name) else []
    return len(made) > 1 and any(isinstance(one, ast.Call) and follow.method(one) == "detach" for one in made)


def _holds(event: Event, net: object) -> bool | None:
    """Whether the optimizer (or model) of an event holds this net's parameters; None where it cannot be seen."""
    if event.owner == net:
        return True
    made = [one for one in event.source.values(event.expr) if one.kind == "optimizer"] if event.expr is not None else []
    call = made[0].node if len(made) == 1 else None
    given = call.args[0] if isinstance(call, ast.Call) and call.args and made[0].source is event.source else None
    if not isinstance(given, ast.Call) or not isinstance(given.func, ast.Attribute) or given.func.attr != "parameters":
        return None
    return identity.identity(event.source, given.func.value) == net


def _hit(source: Source, judged: ast.Call) -> Hit:
    fake = judged.args[0]
    code = source.code(fake)
    fix = (
        [edits.replace(source, fake, f"{code}.detach()")] if isinstance(fake, ast.Name) and _plain(source, fake) else []
    )
    message = (
        f"this loss also leaves gradients in the net that made `{code}`, which steps with them: pass `{code}.detach()`"
    )
    return source.hit(judged, message, *fix, safe=False, severity="warning")  # what D said may be needed again


def _plain(source: Source, name: ast.Name) -> bool:
    return len(scopes.reaching(source, name)) == 1

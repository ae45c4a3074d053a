"""The rule of clip-outside-backward-step."""

import ast
import itertools
from collections.abc import Iterator

from torchlore.check import calls, edits, flow, follow, frameworks, scopes, tree, uses
from torchlore.check.events import Event
from torchlore.check.identity import Identity, identity
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

WORDS = ("grad|clip_grad_norm_|clip_grad_value_|clip_grad_norm|clip_grads_with_norm_",)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_by_hand(source), *_changed_late(source), *_of_weights(source))
    clips = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grad_value")
    if not any(name in source.text for name in clips):
        return
    yield from _first_group(source) if "param_groups" in source.text else ()
    yield from (*_of_gradients(source), *_had_none(source)) if ".grad" in source.text else ()
    told: set[ast.AST] = set()
    for hit, node in (*_in_loops(source), *_in_functions(source), *_in_lightning(source)):
        if node not in told:
            told.add(node)
            yield hit


def _changed_late(source: Source) -> Iterator[Hit]:
    """`p.grad.add_(p.data, alpha=wd)` behind the step, before the gradients are zeroed: nobody uses what it changes."""
    changed = ".grad" in source.text and any(_changes(source, one) for one in uses.attributes(source, "grad"))
    for loop in flow.training_loops(source) if changed else []:
        steps, zeros = loop.direct("step"), loop.direct("zero_grad")
        if (
            len(steps) != 1
            or not zeros
            or steps[0].via
            or steps[0].source is not source
            or frameworks.owned(source, loop.node)
        ):
            continue
        late = getattr(steps[0].node, "end_lineno", 0)
        uses_ = [
            one for one in uses.attributes(source, "grad") if one.lineno > late and tree.inside(source, one, loop.node)
        ]
        writes = [one for one in uses_ if _changes(source, one)]
        if (
            writes
            and len(writes) == len(uses_)
            and all(_line(one) < late or _line(one) > writes[-1].lineno for one in zeros)
        ):
            told = "the step is made before this, and the next `zero_grad()` throws it away: put it between backward() and step()"
            yield source.hit(writes[0], f"gradients are changed here when {told}")


def _of_weights(source: Source) -> Iterator[Hit]:
    """`if p.grad is not None: p.data.clamp_(-1, 1)`: the gradient is asked for, and the weight is cut."""
    for call in source.methods("clamp_") if ".grad" in source.text else ():
        node = tree.receiver(call)
        owner = node.value if isinstance(node, ast.Attribute) and node.attr == "data" else node
        loop = next(iter(tree.loops(source, call)), None)
        own = isinstance(owner, ast.Name) and isinstance(loop, ast.For) and tree.dotted(loop.target) == owner.id
        walks = follow.method(loop.iter) == "parameters" if isinstance(loop, ast.For) else False
        asked = [test for test, branch in tree.conditions(source, call) if branch and _has_gradient(test)]
        if own and walks and any(source.code(one).startswith(f"{source.code(owner)}.grad") for one in asked):
            code = source.code(owner)
            told = f"this cuts the weights, and the line above asks for gradients: write `{code}.grad.clamp_(...)`"
            yield source.hit(call, told, severity="warning")


def _has_gradient(test: ast.expr) -> bool:
    """`p.grad is not None`."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.IsNot)
        and tree.dotted(test.left).endswith(".grad")
    )


def _line(event: Event) -> int:
    return int(getattr(event.at, "lineno", 0))


def _changes(source: Source, grad: ast.Attribute) -> bool:
    """`p.grad.add_(x)`, `p.grad.data.clamp_(-1, 1)` and `p.grad += x`."""
    up = source.parents[grad]
    up = source.parents[up] if isinstance(up, ast.Attribute) and up.attr == "data" else up
    method = up.attr if isinstance(up, ast.Attribute) else ""
    return (method.endswith("_") and method not in ("zero_", "detach_", "requires_grad_")) or isinstance(
        up, ast.AugAssign
    )


def _of_gradients(source: Source) -> Iterator[Hit]:
    """`clip_grad_norm_([p.grad for p in net.parameters()], 1.0)`: a gradient has no gradient, so nothing is clipped."""
    for call in source.calls("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"):
        given = follow.followed(source, call.args[0]) if call.args else None
        one = given.elt if isinstance(given, ast.ListComp | ast.GeneratorExp) else given
        one = follow.peeled(one, ("clone", "detach", "float", "view", "flatten")) if one is not None else None
        one = one.value if isinstance(one, ast.Attribute) and one.attr == "data" else one
        if isinstance(one, ast.Attribute) and one.attr == "grad":
            told = "this gets gradients, which have no `.grad` of their own, and clips nothing: give it the parameters"
            yield source.hit(call, told)


def _had_none(source: Source) -> Iterator[Hit]:
    """`[p for p in net.parameters() if p.grad is not None]` before the loop whose first backward pass makes the gradients."""
    for call in source.calls("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"):
        name, loops = call.args[0] if call.args else None, tree.loops(source, call)
        bound = scopes.reaching(source, name) if isinstance(name, ast.Name) and loops else []
        made = bound[0].value if len(bound) == 1 and bound[0].how == "assign" else None
        tests = made.generators[0].ifs if isinstance(made, ast.ListComp) else []
        asked = [one for one in tests if isinstance(one, ast.Compare) and tree.dotted(one.left).endswith(".grad")]
        if not asked or made is None or tree.loops(source, made) or not isinstance(asked[0].ops[0], ast.IsNot):
            continue
        home = tree.function(source, made)
        passes = [one for one in source.methods("backward") if tree.function(source, one) is home]
        if passes and all(one.lineno > made.lineno and tree.inside(source, one, loops[-1]) for one in passes):
            told = "no parameter has a gradient yet, so this list is empty and nothing is clipped: make it after backward(), or take them all"
            yield source.hit(made, told)


def _first_group(source: Source) -> Iterator[Hit]:
    """`clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)` where the optimizer has several groups."""
    for call in source.calls("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"):
        given = follow.followed(source, call.args[0]) if call.args else None
        group = given.value if isinstance(given, ast.Subscript) and tree.literal(given.slice) == "params" else None
        one = group.value if isinstance(group, ast.Subscript) and tree.literal(group.slice) == 0 else None
        if not isinstance(one, ast.Attribute) or one.attr != "param_groups" or tree.loops(source, call)[1:]:
            continue
        made = [value.node for value in source.values(one.value) if isinstance(value.node, ast.Call)]
        held = [follow.followed(source, node.args[0]) for node in made if node.args]
        if held and all(
            isinstance(one, ast.List) and sum(isinstance(e, ast.Dict) for e in one.elts) > 1 for one in held
        ):
            told = f"`{source.code(one.value)}` has several groups, and this clips the first alone: clip the parameters of all of them"
            yield source.hit(call, told, severity="warning")


def _by_hand(source: Source) -> Iterator[Hit]:
    """`for p in net.parameters(): p.grad.clamp_(-1, 1)`, here or in a function, beside the backward pass and the step."""
    for call in source.methods("clamp_") if ".grad" in source.text else ():
        node = tree.receiver(call)
        node = node.value if isinstance(node, ast.Attribute) and node.attr == "data" else node
        around = tree.loops(source, call)
        if not isinstance(node, ast.Attribute) or node.attr != "grad" or not around:
            continue
        home = tree.function(source, call)
        sites: list[ast.AST] = [around[0]]
        if home is not None:
            sites += [
                tree.statement(source, one)
                for caller, one, _ in calls.callers(as_function(source, home))
                if caller is source
            ]
        for site in sites:
            block: list[ast.stmt] = getattr(source.parents[site], "body", [])
            place = next((index for index, one in enumerate(block) if one is site), -1)
            before, after = (_passes(source, part) for part in (block[: max(place, 0)], block[place + 1 :]))
            when = ""
            if place >= 0 and not before and after[:2] == ["backward", "step"]:
                when = "before the backward pass: there is nothing to clip yet"
            elif place >= 0 and before[-2:] == ["backward", "step"] and not after:
                when = "after the step has been made"
            if when:
                yield source.hit(site, f"gradients are clipped {when}; put this between backward() and step()")


def _passes(source: Source, block: list[ast.stmt]) -> list[str]:
    """The backward passes and steps of a block, as statements of their own, in their order."""
    calls_ = (one.value for one in block if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call))
    named = ((follow.method(one), source.code(one.func).lower()) for one in calls_)
    return [name for name, code in named if name in ("backward", "step") and "sched" not in code]


def _in_loops(source: Source) -> Iterator[tuple[Hit, ast.AST]]:
    for loop in flow.training_loops(source):
        if frameworks.owned(source, loop.node):
            continue
        order = [event for event in loop.direct("backward", "clip", "step", "zero_grad") if _counts(event)]
        kinds = flow.kinds_in(order)
        if (
            "clip" not in kinds
            or "step" not in kinds
            or "zero_grad" not in kinds
            or kinds.index("step") < kinds.index("backward")
        ):
            continue
        for clip in order:
            if clip.what == "clip" and clip.source is source:
                own = [event for event in order if not flow.exclusive(event, clip)]
                index, kinds = own.index(clip), flow.kinds_in(own)
                if "step" in kinds[:index] and "step" not in kinds[index:]:
                    if _read_behind(source, loop.node, clip.node):
                        continue
                    yield (
                        _hit(source, clip, own, "after the step: it scales gradients that nobody uses any more"),
                        clip.node,
                    )
                elif "backward" in kinds[index:] and "step" in kinds and "backward" not in kinds[:index]:
                    yield _hit(source, clip, own, "before the backward pass: there is nothing to clip yet"), clip.node
                elif _every_part(own, index):
                    message = (
                        "every part of a batch is clipped here before the next is added: clip once, beside `step()`"
                    )
                    yield source.hit(clip.node, message, severity="warning"), clip.node


def _counts(event: Event) -> bool:
    """Whether it takes part in the order: a `clip_grad_norm_(..., float("inf"))` only measures, for a curve."""
    limit = (
        tree.argument(event.node, 1, "max_norm") if event.what == "clip" and isinstance(event.node, ast.Call) else None
    )
    made = isinstance(limit, ast.Call) and event.source.name(limit.func) == "float" and len(limit.args) == 1
    endless = made and isinstance(limit, ast.Call) and str(tree.literal(limit.args[0])).lower().startswith("inf")
    named = limit is not None and event.source.name(limit) in ("math.inf", "numpy.inf", "torch.inf")
    return event.detail != "closure" and not endless and not named


def _read_behind(source: Source, loop: ast.AST, clip: ast.AST) -> bool:
    """`p.data.add_(p.grad, alpha=-0.001)` below: the clipped gradients are used by hand."""
    grads = (one for one in uses.attributes(source, "grad") if isinstance(one.ctx, ast.Load))
    return any(one.lineno > getattr(clip, "lineno", 0) and tree.inside(source, one, loop) for one in grads)


def _every_part(order: list[Event], index: int) -> bool:
    """Clipped after each backward pass, while the step waits for `(i + 1) % k == 0`."""
    clip, after = order[index], [event for event in order[index:] if event.what == "step"]
    before = [event for event in order[:index] if event.what == "backward"]
    waits = [_has_modulo(event) for event in order if event.what == "step"]
    return (
        bool(after and before)
        and all(waits)
        and not clip.conditions
        and not any(_has_modulo(event) or event.conditions for event in before)
    )


def _has_modulo(event: Event) -> bool:
    parts = (part for test, _ in event.conditions for part in ast.walk(test))
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in parts)


def _in_functions(source: Source) -> Iterator[tuple[Hit, ast.AST]]:
    """A function that clips, then runs the backward pass; or that clips a network which is not the one it steps."""
    held = _optimizers(source)
    for events in flow.rounds(source):
        order = [event for event in events if event.what in ("backward", "clip", "step") and _counts(event)]
        clips = [event for event in order if event.what == "clip" and event.source is source and not event.via]
        for clip in clips:
            own = [event for event in order if not flow.exclusive(event, clip)]
            index, kinds = own.index(clip), flow.kinds_in(own)
            if frameworks.owned(source, clip.node):
                continue
            if kinds[:index].count("backward") == 0 and kinds[index + 1 : index + 2] == ["backward"] and not clip.loops:
                message = "gradients are clipped before the backward pass: there is nothing to clip yet; clip after backward()"
                yield source.hit(clip.node, message), clip.node
            elif _behind_all(events, own, clip):
                message = (
                    "the step is made already when the gradients are clipped here: clip between backward() and step()"
                )
                yield source.hit(clip.node, message), clip.node
            elif kinds[index - 1 : index + 2] == ["backward", "clip", "step"] and _another(clip, own, held):
                message = f"`{source.code(clip.node)}` clips another network than the one `{_name(own[index + 1])}` steps: clip that one"
                yield source.hit(clip.node, message), clip.node
        twice = _twice(order, held)
        if twice is not None and twice in clips:
            code = source.code(twice.node)
            message = (
                f"`{code}` was done already, and the network of another optimizer is stepped unclipped: clip that one"
            )
            yield source.hit(twice.node, message, severity="warning"), twice.node


def _behind_all(events: list[Event], own: list[Event], clip: Event) -> bool:
    """Zero, backward, step, clip in a method that is one step of training: nobody uses what is clipped."""
    kinds = ["zero_grad", *flow.kinds_in(own)] if any(one.what == "zero_grad" for one in events) else []
    plain = not any(one.loops or one.conditions for one in own)
    return plain and kinds == ["zero_grad", "backward", "step", "clip"] and own[-1] is clip


def _twice(order: list[Event], held: dict[Identity, set[Identity]]) -> Event | None:
    """The second clip of one network where two are stepped, each by an optimizer of its own, and the other is never clipped."""
    clips = [event for event in order if event.what == "clip"]
    nets = [held.get(event.owner, set()) for event in order if event.what == "step" and event.owner is not None]
    stepped = [next(iter(one)) for one in nets if len(one) == 1]
    done = {event.owner for event in clips}
    if None in done or len(stepped) < 2 or len(stepped) != len(nets) or ("unknown",) in stepped:
        return None
    missed = [net for net in stepped if net not in done]
    for one, other in itertools.pairwise(clips):
        same = one.owner == other.owner and not any(part.conditions or part.loops != one.loops for part in (one, other))
        between = order[order.index(one) + 1 : order.index(other)]
        if same and not between and len(missed) == 1 and done <= set(stepped):
            return other
    return None


def _name(step: Event) -> str:
    return step.source.code(step.expr) if step.expr is not None else "optimizer"


def _optimizers(source: Source) -> dict[Identity, set[Identity]]:
    """Which models the optimizers of the file hold, where that is plain `x.parameters()`."""
    found: dict[Identity, set[Identity]] = {}
    for node in (None, *flow.functions(source)):
        built = (event for event in flow.events_of(source, node, 0) if event.what == "optimizer")
        for event in built:
            given = event.node.args[0] if isinstance(event.node, ast.Call) and event.node.args else None
            plain = isinstance(given, ast.Call) and follow.method(given) == "parameters"
            model = identity(source, tree.receiver(given)) if plain and isinstance(given, ast.Call) else None
            if event.owner is not None:
                found.setdefault(event.owner, set()).update({model} if model else {("unknown",)})
    return found


def _another(clip: Event, order: list[Event], held: dict[Identity, set[Identity]]) -> bool:
    """Whether the clipped model belongs to another optimizer alone, which makes no step before the next backward pass."""
    behind = itertools.takewhile(lambda event: event.what != "backward", order[order.index(clip) + 1 :])
    steps = [event for event in behind if event.what == "step"]
    if any(clip.owner in held.get(event.owner, set()) for event in steps if event.owner is not None):
        return False
    step = steps[0]
    own = held.get(step.owner, set()) if step.owner is not None else set()
    if clip.owner is None or len(own) != 1 or ("unknown",) in own:
        return False
    model = next(iter(own))
    short = min(len(model), len(clip.owner))
    elsewhere = any(models == {clip.owner} for owner, models in held.items() if owner != step.owner)
    return elsewhere and model[:short] != clip.owner[:short]


def _in_lightning(source: Source) -> Iterator[tuple[Hit, ast.AST]]:
    """In `training_step`, before Lightning runs the backward pass."""
    for call in source.calls("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"):
        home = tree.function(source, call)
        cls = tree.method_class(source, home) if home is not None and home.name == "training_step" else None
        if cls is None or "lightning" not in frameworks.frameworks(source):
            continue
        text = source.code(cls)
        if "automatic_optimization" not in text and "manual_backward" not in text and ".backward(" not in text:
            message = "Lightning runs the backward pass after `training_step`, so this clips nothing: give the Trainer `gradient_clip_val`"
            yield source.hit(call, message), call


def _hit(source: Source, clip: Event, order: list[Event], where: str) -> Hit:
    step = next(event for event in order if event.what == "step")
    statement = tree.statement(source, clip.node)
    simple = isinstance(statement, ast.Expr | ast.Assign) and statement.lineno == statement.end_lineno
    same = step.source is source and not step.via and not clip.via and step.conditions == clip.conditions
    fix = (
        edits.move_before(source, clip.node, step.node) if simple and same and not _between(source, clip, step) else ()
    )
    message = f"gradients are clipped {where}; put this line between backward() and step()"
    return source.hit(_asked_by(source, clip, order) or clip.node, message, *fix)


def _asked_by(source: Source, clip: Event, order: list[Event]) -> ast.Call | None:
    """`self.clip()` beside the backward pass, where the clipping stands in a function of its own."""
    passed = next((event for event in order if event.what == "backward" and event.source is source), None)
    deep = len(passed.via) if passed is not None else 0
    if passed is None or len(clip.via) <= deep or clip.via[:deep] != passed.via:
        return None
    home = tree.function(source, passed.node) or source.tree
    found = [one for one in tree.under(source, home, ast.Call) if flow.called(source, one) == clip.via[deep]]
    return found[0] if len(found) == 1 else None


def _between(source: Source, clip: Event, step: Event) -> bool:
    """Whether the two lines stand next to each other, so that moving one moves no reader of its result."""
    return (
        abs(getattr(clip.node, "lineno", 0) - getattr(step.node, "lineno", 0)) > 6
        or "=" in source.code(tree.statement(source, clip.node)).split("(")[0]
    )

"""The rule of missing-zero-grad."""

import ast
import itertools
import re
from collections.abc import Iterator
from math import inf

from torchlore.check import calls, edits, flow, follow, frameworks, identity, project, scopes, terms, tree, values
from torchlore.check.events import Event
from torchlore.check.flow import LoopFlow
from torchlore.check.pattern import regex
from torchlore.check.project import Function
from torchlore.check.source import Hit, Source

_BROKEN = re.compile(r"nan|finite|isinf|norm|loss", re.IGNORECASE)  # what a batch is left out for
_SOUND = re.compile(r"nan|finite|isinf", re.IGNORECASE)
_COUNTS = regex(  # `env.reset()`, `loss_meter.reset()`, `pbar.clear()`; what accumulates may hold gradients
    r"^(?!.*(?:grad|accum|accel|opt)).*(?:env|meter|metric|loss|acc|score|timer?$|time_|avg|conf|matrix|iou|stat|state|hidden|buffer|memory|noise|bar$|hist|log|plt|ax$|fig|cache|"
    r"list|preds?$|outputs?$|rewards?$|probs?$)",
    re.IGNORECASE,
)
_ZEROES = regex(r"def forward\([^\n]*\n(?:(?!\s*(?:def|class) )[^\n]*\n)*?\s*self\.zero_grad\(")
_OTHERS = ("zero", "reset", "clear")  # a helper we cannot look into may do it

WORDS = ("backward",)


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    for loop in flow.training_loops(source):
        if frameworks.owned(source, loop.node) or "distributed.autograd" in source.text:
            continue
        seldom = _seldom_zeroed(loop)
        if seldom is not None:
            told = "every turn steps, and only some zero the gradients, so those of all turns between add up: zero before each backward pass"
            yield source.hit(seldom.node if seldom.source is source else seldom.at, told)
        step = _first_unzeroed(source, loop)
        if step is None or follow.in_test(source, loop.node) or _new_leaf(loop, step) or _left_to_heirs(source, loop):
            continue
        backward = loop.direct("backward")[0]
        name = source.code(step.expr) if step.expr is not None and step.source is source else "optimizer"
        fix = (
            [edits.insert_before(source, backward.node, f"{name}.zero_grad()")] if _plain(loop, step, backward) else []
        )
        message = f"the gradients of every batch add up in `{name}`: call `{name}.zero_grad()` before the backward pass"
        outside = _outside(source, loop, step) if not step.conditions else None
        if outside is not None:
            message = f"this stands outside the loop that steps, so the gradients of its turns add up in `{name}`: move it before the backward pass"
        mistaken = _twice(loop) or _for_another(loop, step) or _beside(loop)
        place = outside or mistaken or (step.node if step.source is source else step.at)
        yield source.hit(place, message, *fix)
    yield from (*_between_steps(source), *_left_by_another(source), *_after_attack(source), *_by_hand(source))
    yield from (*_of_several(source), *_in_closure(source), *_part_zeroed(source), *_skipped(source))


def _new_leaf(loop: LoopFlow, step: Event) -> bool:
    """`x = x.detach().clone()` and `SGD([x])` in every turn: what it steps has no gradient from before."""
    made = step.source.values(step.expr) if step.expr is not None else ()
    call = made[0].node if len(made) == 1 and made[0].source is step.source else None
    given = call.args[0] if isinstance(call, ast.Call) and call.args else None
    leaves = given.elts if isinstance(given, ast.List) else []
    bound = [one for leaf in leaves if isinstance(leaf, ast.Name) for one in scopes.reaching(step.source, leaf)]
    new = [
        one for one in bound if isinstance(one.value, ast.Call) and tree.inside(step.source, one.statement, loop.node)
    ]
    return bool(leaves) and len(bound) == len(leaves) == len(new)


def _left_to_heirs(source: Source, loop: LoopFlow) -> bool:
    """`self.before()` in the loop of a base class, which another class of the file overrides with something that zeroes."""
    home = tree.class_of(source, loop.node)
    if home is None:
        return False
    own = (call for call in tree.under(source, loop.node, ast.Call) if tree.dotted(call.func) == f"self.{follow.method(call)}")  # fmt: skip
    asked = {follow.method(call) for call in own}
    heirs = (cls for cls in source.all(ast.ClassDef) if cls is not home and cls.bases)
    made = (one for cls in heirs for one in cls.body if isinstance(one, ast.FunctionDef) and one.name in asked)
    return any(re.search(r"zero_grad\(|grad\s*=\s*None|grad\.zero_\(", source.code(one)) for one in made)


def _skipped(source: Source) -> Iterator[Hit]:
    """`if norm > 10: continue` between backward and step, where the turn zeroes at its end alone: the batch that was to be left out stays."""
    for leave in source.all(ast.Continue):
        choice = source.parents[leave]
        loop = source.parents.get(choice)
        test = source.code(choice.test) if isinstance(choice, ast.If) else ""
        if not _BROKEN.search(test) or not isinstance(loop, ast.For | ast.While) or choice not in loop.body:
            continue
        place = loop.body.index(choice)  # type: ignore[arg-type]  # a statement
        before, after = ({follow.method(call) for one in part for call in tree.under(source, one, ast.Call)}
                         for part in (loop.body[:place], loop.body[place + 1 :]))  # fmt: skip
        own = {follow.method(call) for call in tree.under(source, choice, ast.Call)}
        late = "backward" in before and {"step", "zero_grad"} <= after and not {"step", "zero_grad"} & (before | own)
        if late and not frameworks.owned(source, loop) and not _helper(loop):
            told = "the batch that is left out here keeps its gradients, and the next backward pass adds to them: zero before `continue`"
            yield source.hit(leave, told)
    yield from _zeroed_if_sound(source)


def _zeroed_if_sound(source: Source) -> Iterator[Hit]:
    """`if torch.isfinite(norm): optimizer.step(); optimizer.zero_grad()`: gradients that are not finite stay for good."""
    for call in source.methods("zero_grad"):
        choice = source.parents[tree.statement(source, call)]
        loop = source.parents.get(choice)
        if not isinstance(choice, ast.If) or not isinstance(loop, ast.For | ast.While) or choice.orelse:
            continue
        done = [follow.method(one) for one in tree.under(source, loop, ast.Call)]
        own = {follow.method(one) for one in tree.under(source, choice, ast.Call)}
        late = done.count("zero_grad") == 1 and "step" in own and "backward" in done and "backward" not in own
        if (
            late
            and _SOUND.search(source.code(choice.test))
            and not frameworks.owned(source, loop)
            and not _helper(loop)
        ):
            told = (
                "a batch that is left out keeps its gradients, and all later ones are added to them: zero in every turn"
            )
            yield source.hit(call, told)


def _in_closure(source: Source) -> Iterator[Hit]:
    """`optimizer.step(closure)` whose closure runs backward and zeroes nothing; LBFGS calls it several times a step."""
    for call in source.methods("step"):
        made = [one for one in source.values(tree.receiver(call)) if one.kind == "optimizer"] if call.args else []
        built = made[0].node if len(made) == 1 and made[0].name.startswith("torch.optim.") else None
        closure = _closure(source, call) if isinstance(built, ast.Call) else None
        if closure is None or closure.source is not source or _helper(closure.node):
            continue
        turn = flow.events_of(source, closure.node)
        passes = [one for one in turn if one.what == "backward" and one.source is source and not one.via]
        often = made[0].name.endswith("LBFGS") and tree.literal(tree.argument(built, 2, "max_iter")) != 1  # type: ignore[arg-type]  # a call
        if passes and not any(one.what == "zero_grad" for one in turn) and (often or _never_zeroed(source, call)):
            name = source.code(tree.receiver(call))
            told = f"`{name}.step` runs this again and again, and the gradients of all passes add up: begin the closure with `{name}.zero_grad()`"
            yield source.hit(passes[0].node, told)


def _closure(source: Source, step: ast.Call) -> Function | None:
    """The closure that a step is given, also by `make_closure(x, y)`, which returns a function of its own."""
    given = follow.followed(source, step.args[0])
    maker = flow.called(source, given) if isinstance(given, ast.Call) else None
    if maker is None:
        return flow.called(source, step)
    backs = calls.returned(maker)
    name = backs[0].id if len(backs) == 1 and isinstance(backs[0], ast.Name) else ""
    own = [one for one in maker.node.body if isinstance(one, ast.FunctionDef) and one.name == name]
    return project.as_function(maker.source, own[0]) if len(own) == 1 else None


def _part_zeroed(source: Source) -> Iterator[Hit]:
    """`net.zero_grad()` where the optimizer has the parameters of another module too, and nobody zeroes those."""
    for loop in flow.training_loops(source):
        zeros, steps = loop.of("zero_grad"), [one for one in loop.direct("step") if one.detail != "closure"]
        plain = [
            one
            for one in zeros
            if one.expr is not None and tree.dotted(one.expr) and not one.via and one.source is source
        ]
        if len(plain) != 1 or len(zeros) != 1 or len(steps) != 1 or steps[0].expr is None or _helper(loop.node):
            continue
        made = [
            one.node
            for one in steps[0].source.values(steps[0].expr)
            if one.kind == "optimizer" and one.source is source
        ]
        given = tree.under(source, made[0].args[0], ast.Call) if len(made) == 1 and isinstance(made[0], ast.Call) and made[0].args else []  # fmt: skip
        nets = {_bare(tree.receiver(one)) for one in given if follow.method(one) == "parameters"}
        name = _bare(plain[0].expr) if plain[0].expr is not None else ""
        others = sorted(one for one in nets if one and one != name and not one.startswith(f"{name}."))
        if name in nets and others and not frameworks.owned(source, loop.node):
            own = source.code(steps[0].expr)
            told = f"this leaves the gradients of `{others[0]}`, which `{own}` has too, and they add up: write `{own}.zero_grad()`"
            yield source.hit(plain[0].node, told)


def _bare(node: ast.expr) -> str:
    """`net` of `net` and of `self.net`, which holds it."""
    return tree.dotted(node).removeprefix("self.")


def _never_zeroed(source: Source, step: ast.Call) -> bool:
    """Whether a step stands in a loop, and nothing in the loops around it zeroes."""
    around = [one for one in flow.loops(source) if tree.inside(source, step, one.node)]
    return bool(around) and not any(one.of("zero_grad") or _helper(one.node) for one in around)


def _of_several(source: Source) -> Iterator[Hit]:
    """`for opt in self.opts.values(): opt.step()` after a backward pass, in a file that zeroes nothing, or some by name."""
    zeroed = {source.code(tree.receiver(one)) for one in source.methods("zero_grad")}
    steps = {one: tree.dotted(tree.receiver(one)) for one in source.methods("step")}
    turning = [one for one in source.all(ast.For) if tree.dotted(one.target) in steps.values()]
    if not turning or re.search(r"grad\s*=\s*None|grad\.zero_|zero_(?!grad)|\.zero_grad(?!\()", source.text):
        return
    for loop in turning:
        turn = tree.dotted(loop.target)
        mine = [one for one in tree.under(source, loop, ast.Call) if steps.get(one) == turn]
        over = loop.iter if mine else None
        held = tree.receiver(over) if isinstance(over, ast.Call) and follow.method(over) == "values" else over
        home = tree.function(source, loop)
        passes = [
            one for one in source.methods("backward") if tree.function(source, one) is home and one.lineno < loop.lineno
        ]
        named = held is not None and "opt" in tree.dotted(held).lower() and _more_than(source, held, zeroed)
        if named and passes and not frameworks.owned(source, loop) and not follow.in_test(source, loop):
            name = source.code(loop.target)
            yield source.hit(
                mine[0],
                f"the gradients of every batch add up in `{name}`: call `{name}.zero_grad()` before the backward pass",
            )
            return


def _more_than(source: Source, held: ast.expr, zeroed: set[str]) -> bool:
    """Whether a dictionary or list has more optimizers than `held["a"].zero_grad()` speaks of; nothing else is zeroed."""
    made = source.values(held)
    size = len(made[0].items) if len(made) == 1 and made[0].kind in ("dict", "list", "tuple") else 0
    parts = {one for one in zeroed if one.startswith(f"{source.code(held)}[")}
    return parts == zeroed and (not zeroed or len(zeroed) < size)


def _left_by_another(source: Source) -> Iterator[Hit]:
    """An optimizer is zeroed behind its own step, and then another one's backward pass goes through its network."""
    if "requires_grad" in source.text or "retain_graph" in source.text or not flow.may_train(source):
        return
    for loop in flow.backward_loops(source):
        turn = [one for one in loop.events if one.what in ("backward", "step", "zero_grad")]
        if frameworks.owned(source, loop.node) or len({one.owner for one in turn if one.what == "step"}) < 2:
            continue
        for number, step in enumerate(turn):
            zero, since = _since_zeroed(turn, number) if step.what == "step" and not _wrapped(step) else (None, [])
            if zero is None or zero.conditions or step.conditions or not flow.same_object(zero, step):
                continue
            late = (one for one in _of_others(step, since) if not _zeroed_after(step, one, since))
            if any(_goes_through(step, one) for one in late):
                own = source.code(step.expr) if step.expr is not None and step.source is source else "optimizer"
                told = f"the backward pass of another loss leaves its gradients in `{own}` after this, and the next step applies them: zero `{own}` right before its own backward pass"
                yield source.hit(zero.node if zero.source is source else zero.at, told)


def _since_zeroed(turn: list[Event], number: int) -> tuple[Event | None, list[Event]]:
    """The event that zeroes an optimizer before its step, in this turn or the one before, and what comes between."""
    since: list[Event] = []
    for one in reversed([*turn, *turn[:number]]):
        if one.what == "zero_grad" and not flow.surely_other(turn[number], one):
            return one, since[::-1]
        since.append(one)
    return None, []


def _of_others(step: Event, since: list[Event]) -> Iterator[Event]:
    """Backward passes that a step of another optimizer follows, before the last one, which is this step's own."""
    last = max((number for number, one in enumerate(since) if one.what == "backward"), default=0)
    for number, one in enumerate(since[:last]):
        later = [other for other in since[number:last] if other.what == "step"]
        if one.what == "backward" and later and all(flow.surely_other(step, other) for other in later):
            yield one


def _zeroed_after(step: Event, backward: Event, since: list[Event]) -> bool:
    """Whether another optimizer of the same network, or the network itself, is zeroed behind this backward pass."""
    later = [one for one in since[since.index(backward) :] if one.what == "zero_grad" and not one.conditions]
    net = _whole_net(step) if later else None
    return net is not None and any(net in (_whole_net(one), one.owner) for one in later)


def _whole_net(event: Event) -> identity.Identity | None:
    """The network of which an optimizer is given all parameters."""
    made = values.values(event.source, event.expr)[:1] if event.expr is not None else ()
    built = made[0].node if made else None
    given = built.args[0] if isinstance(built, ast.Call) and built.args else None
    if not isinstance(given, ast.Call) or follow.method(given) != "parameters" or made[0].source is None:
        return None
    return identity.identity(made[0].source, tree.receiver(given))


def _goes_through(step: Event, backward: Event) -> bool:
    """Whether the loss comes out of the network whose parameters this optimizer has."""
    net = _whole_net(step)
    reached = terms.reached(backward.source, backward.expr) if backward.expr is not None and net is not None else ()
    return any(identity.identity(backward.source, call.func) == net for call in reached)


def _by_hand(source: Source) -> Iterator[Hit]:
    """`w -= lr * w.grad` in a loop that runs backward, where nobody clears `w.grad`."""
    for loop in flow.training_loops(source) if ".grad" in source.text else []:
        if loop.of("step", "zero_grad") or frameworks.owned(source, loop.node) or _helper(loop.node):
            continue
        for node, target, value in _updates(source, loop.node):
            name = tree.dotted(target).removesuffix(".data")
            grads = (one for one in ast.walk(value) if isinstance(one, ast.Attribute) and one.attr == "grad")
            moved = bool(name) and any(tree.dotted(one.value) == name for one in grads)
            if moved and _in_turn(source, node, loop.node, name) and _kept_leaf(source, target, loop):
                told = (
                    f"the gradients of all turns add up in `{name}.grad`: write `{name}.grad = None` after the update"
                )
                yield source.hit(node, told)
                break


def _updates(source: Source, loop: ast.AST) -> Iterator[tuple[ast.AST, ast.expr, ast.expr]]:
    """`w -= x`, `w.sub_(x)`, `w.data.add_(x)`, `w.data = w.data - x`: the node, what is changed and by what."""
    for one in tree.under(source, loop, ast.AugAssign):
        yield one, one.target, one.value
    for call in tree.under(source, loop, ast.Call):
        if follow.method(call) in ("sub_", "add_") and call.args:
            yield call, tree.receiver(call), call.args[0]
    for assign in tree.under(source, loop, ast.Assign):
        target, value = assign.targets[0], assign.value
        while isinstance(value, ast.Call) and follow.word(source, value) in ("clamp", "clip", "detach"):
            value = value.args[0] if source.name(value.func) and value.args else tree.receiver(value)
        if isinstance(target, ast.Attribute) and target.attr == "data" and isinstance(value, ast.BinOp):
            yield assign, target, value


def _in_turn(source: Source, node: ast.AST, loop: tree.Loop, name: str) -> bool:
    """In the loop itself, or in one over the parameters."""
    around = tree.loops(source, node)
    inner = around[0] if around and isinstance(around[0], ast.For) else None
    each = inner is not None and around[1:2] == [loop] and tree.dotted(inner.target) == name
    return around[:1] == [loop] or each


def _kept_leaf(source: Source, target: ast.expr, loop: LoopFlow) -> bool:
    """Whether the tensor is made before the loop and not anew within it."""
    base = target.value if isinstance(target, ast.Attribute) and target.attr == "data" else target
    name = tree.dotted(base)
    assigns = tree.under(source, loop.node, ast.Assign)
    made = [one for one in assigns if name in map(tree.dotted, one.targets) and isinstance(base, ast.Name)]
    code = source.code(loop.node)
    return not made and "grad = None" not in code and "zero" not in code and "detach_" not in code


def _after_attack(source: Source) -> Iterator[Hit]:
    """An attack runs backward for the gradient of its input; what it leaves in the weights is not zeroed before the next one."""
    for loop in flow.training_loops(source) if ".grad" in source.text else []:
        told = "the backward passes of the attack leave their gradients in the weights, and the step applies them too: zero after the attack, before the backward pass of the loss"
        turn = [
            one
            for one in loop.events
            if one.what in ("backward", "step") or (one.what == "zero_grad" and not _input_zeroed(one))
        ]
        for number, (one, other) in enumerate(itertools.pairwise(turn)):
            both = one.what == other.what == "backward" and other.loops[-1] is loop.node and other.node is not one.node
            steps = both and any(late.what == "step" for late in turn[number + 2 :])
            if not steps or not _of_input(one, other.node) or _of_input(other) or frameworks.owned(source, loop.node):
                continue
            zeroed = [early for early in turn[:number] if early.what == "zero_grad" and not early.via]
            place = zeroed[-1] if zeroed else other
            yield source.hit(place.node if place.source is source else place.at, told)


def _input_zeroed(zero: Event) -> bool:
    """`delta.grad.zero_()` of one thing: the weights' gradients stay."""
    name = zero.expr if zero.detail == "manual" else None
    return isinstance(name, ast.Name) and all(one.how == "assign" for one in scopes.reaching(zero.source, name))


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _of_input(backward: Event, until: ast.AST | None = None) -> bool:
    """Whether the code around a backward pass reads the gradient of a thing that it made require one, and no other."""
    source, home = backward.source, tree.function(backward.source, backward.node)
    block = home if backward.via else next(iter(tree.loops(source, backward.node)), None)
    first, last = (0, inf) if backward.via else (_line(backward.node), _line(until) if until is not None else inf)
    grads = tree.under(source, block, ast.Attribute) if block is not None else []
    read = {tree.dotted(one.value) for one in grads if one.attr == "grad" and first <= one.lineno < last}
    calls = tree.under(source, home or source.tree, ast.Call)
    asked = {
        tree.dotted(tree.receiver(one)) for one in calls if follow.method(one) in ("requires_grad_", "retain_grad")
    }
    for one in tree.under(source, home or source.tree, ast.Assign):
        target, name = one.targets[0], tree.dotted(one.targets[0])
        if isinstance(target, ast.Attribute) and target.attr == "requires_grad" and tree.literal(one.value) is True:
            asked.add(tree.dotted(target.value))
        asked |= {name} if name in read and "requires_grad" in source.code(one.value) else set()
    return bool(read) and "" not in read and read <= asked


def _outside(source: Source, loop: LoopFlow, step: Event) -> ast.AST | None:
    """The line that zeroes this optimizer before the loop: it was meant to stand in it."""
    found = [one for one in flow.events_of(source, loop.function) if one.what == "zero_grad" and not one.via]
    same = [one.node for one in found if flow.same_object(one, step) and _line(one.node) < loop.node.lineno]
    return same[-1] if same else None


def _between_steps(source: Source) -> Iterator[Hit]:
    """A second backward and step of one optimizer in one turn, where only another optimizer is zeroed in between."""
    for turn in flow.rounds(source):
        last: dict[object, int] = {}
        for number, event in enumerate(turn):
            if event.what != "step" or event.owner is None or event.detail == "closure" or _wrapped(event):
                continue
            since = turn[last[event.owner] + 1 : number] if event.owner in last else []
            last[event.owner] = number
            zeros = [one for one in since if one.what == "zero_grad"]
            again = any(one.what == "backward" for one in since) and not frameworks.owned(source, event.at)
            if again and all(flow.surely_other(event, one) for one in zeros) and not _apart(turn, event):
                own = source.code(event.expr) if event.expr is not None and event.source is source else "optimizer"
                told = f"the second step of `{own}` applies the gradients of its first one again: zero `{own}` before the backward pass"
                at = zeros[-1] if zeros else event
                yield source.hit(
                    at.node if at.source is source else at.at, told, severity="warning"
                )  # or the sum is meant


def _apart(turn: list[Event], step: Event) -> bool:
    """Whether the steps of this optimizer stand in different branches, or one of them ends the turn."""
    steps = [one for one in turn if one.what == "step" and one.owner == step.owner]
    return any(flow.exclusive(one, step) or (one is not step and _leaves(one)) for one in steps)


def _leaves(step: Event) -> bool:
    """`if warming_up: ... optimizer.step(); continue`: what follows is another turn."""
    ups = [one for one in tree.ancestors(step.source, step.node) if isinstance(one, ast.If)]
    return any(tree.ends(block) is not None for one in ups for block in (one.body, one.orelse))


def _first_unzeroed(source: Source, loop: LoopFlow) -> Event | None:
    steps = [event for event in loop.of("step") if event.detail != "closure"]
    foreign = any(event.detail in ("accelerate", "lightning") for event in loop.of("backward"))
    if not steps or foreign:
        return None
    around = [one for one in flow.events_of(source, loop.function) if one.what == "zero_grad"]
    near = loop.of("zero_grad")
    for step in steps:
        if step.loops[-1] is not loop.node or _wrapped(step) or any(_helper(one.node, "grad") for one in step.via):
            continue
        if step.conditions and any(one.loops and one.loops[0] in step.loops for one in around):
            continue  # accumulation: zeroed at the edge of an outer loop
        if not near or all(flow.surely_other(step, one) or _of_another_net(step, one) for one in near):
            return None if _helper(loop.node) or _zeroes_itself(source) or _net_zeroes(source) else step
    return None


def _net_zeroes(source: Source) -> bool:
    """`self.zero_grad()` in the `forward` of a net of this file, or of one that it imports something from."""
    stars = [one.module for one in source.all(ast.ImportFrom) if one.module and one.names[0].name == "*"]
    paths = project.imported_files(source) | {source.project.path(one, source.path) for one in stars}
    texts = [source.text, *(source.project.text(path) or "" for path in paths if path)]
    return any("self.zero_grad(" in text and _ZEROES.search(text) is not None for text in texts)


def _zeroes_itself(source: Source) -> bool:
    """An optimizer of the file's own that zeroes the gradients behind its step."""
    made = (one for cls in source.all(ast.ClassDef) for one in cls.body if isinstance(one, ast.FunctionDef))
    steps = [source.code(one) for one in made if one.name == "step"] if "torch.optim" not in source.text else []
    return any(".zero_()" in code or "grad = None" in code for code in steps)


def _of_another_net(step: Event, zero: Event) -> bool:
    """`teacher.zero_grad()` before the step of `Adam(student.parameters())`: both nets are made here, one by one."""
    made = step.source.values(step.expr) if step.expr is not None else ()
    built = made[0].node if len(made) == 1 else None
    given = built.args[0] if isinstance(built, ast.Call) and built.args else None
    whole = isinstance(given, ast.Call) and follow.method(given) == "parameters" and made[0].source is not None
    net = tree.receiver(given) if whole and isinstance(given, ast.Call) else None
    if not isinstance(net, ast.Name) or not isinstance(zero.expr, ast.Name) or made[0].source is not zero.source:
        return False
    if _copied(zero.source, net.id, zero.expr.id, step.loops[-1] if step.loops else None):
        return True
    both = [zero.source.values(one) for one in (net, zero.expr)]
    nodes = [one[0].node for one in both if len(one) == 1 and one[0].kind in ("module", "sequential")]
    plain = len(nodes) == 2 and nodes[0] is not nodes[1] and all(isinstance(one, ast.Call) for one in nodes)
    return plain and identity.identity(zero.source, net) != zero.owner and not _takes(zero.source, net.id, zero.expr.id)


def _copied(source: Source, one: str, other: str, loop: ast.AST | None) -> bool:
    """`teacher = copy.deepcopy(student)`, the one place where either is made of the other, and not anew in each turn."""
    copies = [call for call in source.calls("copy.deepcopy") if isinstance(source.parents[call], ast.Assign)]
    copies = [call for call in copies if loop not in tree.loops(source, call)]
    pairs = [{tree.dotted(source.parents[call].targets[0]), *map(tree.dotted, call.args)} for call in copies]  # type: ignore[attr-defined]  # an assignment
    return one != other and {one, other} in pairs


def _takes(source: Source, one: str, other: str) -> bool:
    """Whether one net is handed to what makes the other."""
    texts = [source.code(made) for made in source.all(ast.Assign) if tree.dotted(made.targets[0]) in (one, other)]
    return any(name in re.findall(r"\w+", text.partition("=")[2]) for text in texts for name in (one, other))


def _twice(loop: LoopFlow) -> ast.AST | None:
    """The second of two lines that zero one optimizer, one after the other: it was meant for this one."""
    cleared = [event for event in loop.events if event.what != "item"]
    for one, other in itertools.pairwise(cleared):
        same = one.what == other.what == "zero_grad" and flow.same_object(one, other) and one.node is not other.node
        if same and other.source is loop.source:
            return other.node
    return None


def _for_another(loop: LoopFlow, step: Event) -> ast.AST | None:
    """The line before this step's backward pass that zeroes an optimizer which is zeroed again for its own."""
    turn = [one for one in loop.events if one.what in ("zero_grad", "backward", "step")]
    before = turn[: turn.index(step)] if step in turn else []
    since = before[max((n for n, one in enumerate(before) if one.what == "step"), default=-1) + 1 :]
    kinds = [one.what for one in since]
    zero = since[0] if kinds[:2] == ["zero_grad", "backward"] else None
    again = [one for one in turn if zero is not None and one is not zero and one.what == "zero_grad"]
    other = zero is not None and any(flow.same_object(one, zero) for one in again)
    return zero.node if zero is not None and other and zero.source is loop.source else None


def _beside(loop: LoopFlow) -> ast.AST | None:
    """The line that zeroes the other optimizers of the one backward pass."""
    zeros = [one.node for one in loop.of("zero_grad") if one.source is loop.source and not one.via]
    return zeros[-1] if zeros and len(loop.of("backward")) == 1 else None


def _seldom_zeroed(loop: LoopFlow) -> Event | None:
    """`if i % 100 == 0: optimizer.zero_grad()` beside a step that each turn makes."""
    for zero in loop.direct("zero_grad"):
        rare = [test for test, branch in zero.conditions if branch and _every(test)]
        same = [one for one in loop.direct("step") if flow.same_object(one, zero) and one.detail != "closure"]
        others = [one for one in loop.of("zero_grad") if one is not zero]
        if rare and same and not others and not any(set(one.conditions) & set(zero.conditions) for one in same):
            return zero if all(not one.conditions for one in same) else None
    return None


def _every(test: ast.expr) -> bool:
    return any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) for one in ast.walk(test))


def _wrapped(step: Event) -> bool:
    """An optimizer of the project's own may zero in its `step`."""
    if step.expr is None:
        return True
    return any(value.kind == "object" or value.name.count(".") == 1 for value in values.values(step.source, step.expr))


def _helper(loop: ast.AST, also: str = "") -> bool:
    """Whether a call there may zero, by its name: `reset_grad(nets)`."""
    known = {"zero_grad", "zeros", "zeros_like", "new_zeros", "clear_output"}
    for call in (node for node in tree.body_nodes(loop) if isinstance(node, ast.Call)):
        whose, _, name = tree.dotted(call.func).rpartition(".")
        counter = name in ("reset", "clear") and _COUNTS.search(whose.rpartition(".")[2]) is not None
        if not counter and name not in known and any(word in name and also in name for word in _OTHERS):
            return True
    return False


def _plain(loop: LoopFlow, step: Event, backward: Event) -> bool:
    here = not step.via and not backward.via and not backward.conditions
    return here and len({event.owner for event in loop.of("step")}) == 1

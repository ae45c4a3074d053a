"""The rule of frozen-network-in-train-mode."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, flow, follow, frameworks, modules, tensors, trained, tree, uses
from torchlore.check.events import Event
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source

_MOVES = re.compile(
    r"\bema\b|_ema|ema_|momentum_|\.lerp_?\(|\.copy_\(|\.mul_\(|\.data\b|\.update_\w+\(|AveragedModel", re.IGNORECASE
)

_DISTILS = re.compile(r"kl_div|KLDivLoss|distil", re.IGNORECASE)
WORDS = ("train|*requires_grad*|*teacher*", "eval|*freeze*|*BatchNorm*|*requires_grad*|*teacher*")


def find(source: Source) -> Iterator[Hit]:
    yield from _woken(source)
    undone = list(_undone(source))
    yield from undone or _thawed_again(source)
    if not _names_one(source) or not flow.may_train(source):
        return
    yield from _part(source)
    seen: set[ast.AST] = set()
    for events in (*flow.rounds(source), *_handed_losses(source)):
        read = [one for one in events if one.what == "forward" and one.no_grad and one.source is source]
        for event in read if any(one.what in ("backward", "loss") for one in events) else ():
            name = tree.dotted(event.expr).rpartition(".")[2] if event.expr is not None else ""
            if not name or event.node in seen or frameworks.owned(source, event.node):
                continue
            if (
                (_frozen(source, name) or _teaches(source, event, name))
                and not _switched(source, name)
                and not _follows(source, name)
                and _modes(event)
            ):
                seen.add(event.node)
                code = source.code(event.expr) if event.expr is not None else name
                what = "is frozen and still" if _frozen(source, name) else "teaches"
                told = f"`{code}` {what} in train mode, so its dropout and batch norm change what it says: call `{code}.eval()`"
                yield source.hit(event.node, told)


def _names_one(source: Source) -> bool:
    """Whether something is frozen or called a teacher here; a glance, while the order of events costs time."""
    if not any(word in source.text for word in ("requires_grad", "teacher")):
        return False
    off = any(one.args and tree.literal(one.args[0]) is False for one in source.methods("requires_grad_"))
    return off or uses.says(source, "teacher") or any(_is_off(text) for _, text in _walks(source))


def _handed_losses(source: Source) -> Iterator[tuple[Event, ...]]:
    """What a function does that computes a loss and is handed to whoever trains: `fit(student, batches, distil)`."""
    given = [arg for call in source.all(ast.Call) for arg in (*call.args, *(one.value for one in call.keywords))]
    names = {one.id for one in given if isinstance(one, ast.Name)}
    for function in flow.functions(source) if "requires_grad" in source.text else ():
        if function.name in names and not flow.trains(source, function):
            yield flow.events_of(source, function)


def _part(source: Source) -> Iterator[Hit]:
    """`self.teacher`, frozen and read without gradients by the module that holds it, whose `train()` reaches it."""
    for cls in classes.all_classes(source) if "no_grad" in source.text else ():
        if not classes.is_module(cls) or cls.source is not source or source.project.method(cls, "train") is not None:
            continue
        for name in classes.own_attributes(cls):
            calls = trained.calls_of(source, cls, name)
            read = calls and all(tensors.no_grad_around(source, one) for one in calls)
            if not read or not _frozen(source, name) or _switched(source, name) or _follows(source, name):
                continue
            settled = frameworks.owned(source, calls[0]) or _sees_to_it(source, calls[0].func)
            if _modes_of(source, calls[0].func) and not settled:
                told = f"`self.{name}` is frozen and still in train mode, so its dropout and batch norm change what it says: call `self.{name}.eval()` before"
                yield source.hit(calls[0], told)


def _sees_to_it(source: Source, part: ast.expr) -> bool:
    """Whether its class switches what it holds to evaluation when it is made."""
    made = (classes.class_behind(source, one) for one in source.values(part))
    starts = (source.project.method(one, "__init__") for one in made if one is not None)
    return any(".eval()" in one.source.code(one.node) for one in starts if one is not None)


def _woken(source: Source) -> Iterator[Hit]:
    """`self.teacher.eval()` in `__init__`, in a module that is sent to train mode as a whole later."""
    trains = list(source.methods("train"))
    for call in source.methods("eval") if trains else ():
        part, home = _held(source, call), tree.function(source, call)
        cls = enclosing_class(source, call) if home is not None and home.name == "__init__" else None
        if part is None or cls is None or not classes.is_module(cls):
            continue
        name = part.attr
        evals = (one for one in uses.attributes(source, name) if one is not part and _is_call(source, one, "eval"))
        again = [one for one in evals if tree.dotted(one.value) != "self" or tree.inside(source, one, cls.node)]
        if again or source.project.method(cls, "train") is not None or frameworks.owned(source, call):
            continue
        if any(_whole(source, one, cls.qualified) for one in trains) and _modes_of(source, tree.receiver(call)):
            told = f"train() of the whole module switches `self.{name}` back to train mode: override `train` and call `self.{name}.eval()` in it"
            yield source.hit(call, told)


def _undone(source: Source) -> Iterator[Hit]:
    """`model.freeze_bn()` before the epochs, and `model.train()` at the top of each."""
    if "freeze" not in source.text or not any(source.methods("train")):
        return
    for call in (one.value for one in source.all(ast.Expr)):
        name = tree.dotted(call.func).rpartition(".")[2].lower() if isinstance(call, ast.Call) else ""
        if not isinstance(call, ast.Call) or "freeze" not in name or "un" in name or tree.loops(source, call):
            continue
        made = flow.called(source, call)
        code = made.source.code(made.node) if made is not None else ""
        if made is None or ".eval()" not in code or ".modules()" not in code:
            continue
        owner = tree.receiver(call) if made.owner is not None else call.args[0] if call.args else None
        train = _trained_again(source, call, tree.dotted(owner)) if owner is not None else None
        if train is not None:
            told = f"this switches back to train mode what `{source.code(call)}` on line {call.lineno} has switched off: call it again after this"
            yield source.hit(train, told)


def _thawed_again(source: Source) -> Iterator[Hit]:
    """Batch norm layers set to eval() one by one before the epochs, and `net.train()` somewhere in each."""
    if (
        "BatchNorm" not in source.text
        or not any(source.methods("train"))
        or not flow.may_train(source)
        or re.search(r"def train\(self,? *(mode|flag|is_train|$)", source.text)
    ):
        return
    for _, events in flow.training_entries(source):
        aside = list[Event]()
        for place, event in enumerate(events):
            asked = event.conditions if event.what == "eval" else ()
            if any(branch and "BatchNorm" in event.source.code(test) for test, branch in asked):
                aside.append(event)
            if event.what != "train" or event.detail or not event.loops or event.source is not source:
                continue
            rest = [one for one in events[place + 1 :] if one.what in ("eval", "backward", "train")]
            same = [one for one in aside if _named(one) & _named(event) and not flow.exclusive(one, event)]
            if same and rest and rest[0].what == "backward" and event.loops[0] in rest[0].loops:
                told = "this puts the batch norm layers that were set to eval() before back into train mode, and their statistics move"
                yield source.hit(event.node, f"{told}: set them to eval() again behind this line")
                return


def _named(event: Event) -> set[str]:
    """The names that stand where it happens: of the net, or of what it is a part of."""
    places = [event.at]
    if not event.via:
        places += [
            one.iter for one in event.loops if isinstance(one, ast.For) and "modules" in event.source.code(one.iter)
        ]
    return {name.id for one in places for name in ast.walk(one) if isinstance(name, ast.Name)}


def _trained_again(source: Source, call: ast.Call, model: str) -> ast.Call | None:
    """`model.train()` in a loop below, which does not freeze anew and whose class keeps to the usual `train`."""
    home, way = tree.function(source, call), tree.dotted(call.func)
    again = [one for one in source.all(ast.Call) if tree.dotted(one.func) == way and one is not call]
    for train in source.methods("train") if model else ():
        on = not train.args or tree.literal(train.args[0]) is True
        same = tree.dotted(tree.receiver(train)) == model and tree.function(source, train) is home
        around = tree.loops(source, train)
        if not on or not same or not around or train.lineno < call.lineno:
            continue
        owners = [classes.class_behind(source, one) for one in source.values(tree.receiver(train))]
        own = any(one is not None and source.project.method(one, "train") is not None for one in owners)
        if not own and not any(tree.inside(source, one, around[-1]) for one in again):
            return train
    return None


def _held(source: Source, call: ast.Call) -> ast.Attribute | None:
    """`self.teacher` of `self.teacher.eval()`, of `self.teacher = build().eval()` and of `self.teacher = teacher.eval()`."""
    part: ast.AST = tree.receiver(call)
    up = source.parents[call]
    while isinstance(up, ast.Attribute | ast.Call) and not isinstance(part, ast.Attribute):
        up = source.parents[up]
    if isinstance(up, ast.Assign) and follow.method(call) == "eval" and not isinstance(part, ast.Attribute):
        part = up.targets[0]
    return part if isinstance(part, ast.Attribute) and tree.dotted(part.value) == "self" else None


def _is_call(source: Source, use: ast.expr, method: str) -> bool:
    up = source.parents[use]
    return isinstance(up, ast.Attribute) and up.attr == method


def _whole(source: Source, call: ast.Call, name: str) -> bool:
    """`model.train()` of an instance of the class."""
    off = bool(call.args) and tree.literal(call.args[0]) is not True
    return not off and any(value.name == name for value in source.values(tree.receiver(call)))


def _modes_of(source: Source, part: ast.expr) -> bool:
    found = source.values(part)
    return bool(found) and all(modules.mode_layers(source, value) is True for value in found)


def _modes(event: Event) -> bool:
    found = event.source.values(event.expr) if event.expr is not None else ()
    found = tuple(one for one in found if one.kind != "none")  # teacher=None, where there is none
    return bool(found) and all(modules.mode_layers(event.source, value) is True for value in found)


def _teaches(source: Source, event: Event, name: str) -> bool:
    """`teacher = resnet50(weights="DEFAULT")`, which nobody trains, or a teacher whose soft answers a student learns."""
    if "teacher" in name.lower() and _DISTILS.search(source.text) and _softened(source, event):
        return True
    asked = (tree.receiver(one) for one in source.methods("parameters"))
    given = any(tree.dotted(one).rpartition(".")[2] == name for one in asked)
    found = event.source.values(event.expr) if event.expr is not None else ()
    loaded = all(isinstance(one.node, ast.Call) and not tree.lacks(one.node, None, "weights") for one in found)
    return "teacher" in name.lower() and not given and bool(found) and loaded


def _softened(source: Source, event: Event) -> bool:
    """Whether a divergence from what it says is a loss in the same function, or in one that this calls."""
    home = tree.function(source, event.node)
    made = (*source.calls("torch.nn.functional.kl_div"), *source.calls("torch.nn.functional.mse_loss"))
    homes = {tree.function(source, one) for one in made}
    calls = tree.under(source, home, ast.Call) if home is not None and homes else ()
    inner = (flow.called(source, one) for one in calls)
    return home in homes or any(one.node in homes for one in inner if one is not None) or "KLDivLoss" in source.text


def _frozen(source: Source, name: str) -> bool:
    """`teacher.requires_grad_(False)`, or a loop over its parameters that does so."""
    for call in source.methods("requires_grad_"):
        off = bool(call.args) and tree.literal(call.args[0]) is False
        if off and tree.dotted(tree.receiver(call)).rpartition(".")[2] == name:
            return True
    return any(tree.dotted(tree.receiver(one)).endswith(name) and _is_off(text) for one, text in _walks(source))


def _walks(source: Source) -> Iterator[tuple[ast.Call, str]]:
    """`net.parameters()` of each loop over it, and the text of the loop."""
    for call in source.methods("parameters"):
        loop = source.parents[call]
        if isinstance(loop, ast.For) and loop.iter is call:
            yield call, source.code(loop)


def _is_off(text: str) -> bool:
    return "False" in text and "requires_grad" in text


def _switched(source: Source, name: str) -> bool:
    """Whether somebody switches it, or something that cannot be named, to evaluation."""
    for use in uses.attributes(source, "eval"):
        held = tree.statement(source, use)
        made = not tree.dotted(use.value) and isinstance(held, ast.Assign)
        given = tree.dotted(held.targets[0] if made and isinstance(held, ast.Assign) else use.value)
        if not given or given == "self" or given.rpartition(".")[2] == name:
            return True
        bound = [one for one in uses.names(source, given) if isinstance(one.ctx, ast.Store)]
        if any(isinstance(source.parents[one], ast.For) for one in bound):
            return True
    asked = re.search(rf"\b{re.escape(name)}\.\w*(?:mode|_eval|eval_)\w*\(", source.text)  # net.set_mode("test")
    return f"{name}.train(" in source.text or ".train(False" in source.text or asked is not None


def _follows(source: Source, name: str) -> bool:
    """Whether it is an average or a copy of the trained one: those are often left in train mode."""
    zipped = any(name in source.code(call) and "parameters()" in source.code(call) for call in source.calls("zip"))
    loads = (call for call in source.methods("load_state_dict") if call.args)
    copied = any(
        tree.dotted(tree.receiver(call)).rpartition(".")[2] == name and "state_dict()" in source.code(call.args[0])
        for call in loads
    )
    moved = "deepcopy" in source.text and _MOVES.search(source.text) is not None
    follows = _MOVES.search(source.text) is not None or not _only_in_init(source, name)
    return zipped or (copied and follows) or moved


def _only_in_init(source: Source, name: str) -> bool:
    """Whether the weights come from the trained one once, where both are made."""
    loads = [
        one for one in source.methods("load_state_dict") if tree.dotted(tree.receiver(one)).rpartition(".")[2] == name
    ]
    homes = [tree.function(source, one) for one in loads]
    return len(loads) == 1 and homes[0] is not None and homes[0].name == "__init__"

"""What of a model is made with new weights, and whether an optimizer gets all of it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlore.check import api, calls, classes, follow, modules, project, scopes, tree, uses, values
from torchlore.check.pattern import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.project import Class
    from torchlore.check.source import Source

_FIXED = regex(r"target|teacher|momentum|ema|frozen|fixed|rand|key_|_k$|_t$", re.IGNORECASE)
_LIBRARIES = ("torchvision.", "timm.", "transformers.")  # come with their weights


def given_whole(source: Source, cls: Class) -> bool:
    """Whether an optimizer gets all parameters of a model of this class."""
    for call, full in uses.calls_under(source, "torch.optim."):
        given = call.args[0] if call.args and api.kind_of_call(full) == "optimizer" else None
        whole = follow.followed(source, given) if given is not None else None
        inner = [one for one in ast.walk(whole) if follow.method(one) == "parameters"] if whole is not None else []
        nets = [tree.receiver(one) for one in inner if isinstance(one, ast.Call)]
        if any(classes.class_behind(source, one) == cls for net in nets for one in values.values(source, net)):
            return True
    return False


def reaches_optimizer(source: Source, call: ast.Call) -> bool:
    """Whether `net.parameters()` goes into an optimizer: in its call, or in a list of groups that one is given by name."""
    above = [up for up in tree.ancestors(source, call) if isinstance(up, ast.Call)]
    if any(source.name(up.func).startswith("torch.optim.") for up in above):
        return True
    held = tree.statement(source, call)
    if isinstance(held, ast.Return):  # `def param_groups(net): return [...]`
        home = tree.function(source, call)
        sites = calls.callers(project.as_function(source, home)) if home is not None else []
        return any(reaches_optimizer(other, site) for other, site, _ in sites if other is source and site is not call)
    name = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
    made = uses.calls_under(source, "torch.optim.") if isinstance(name, ast.Name) else ()
    given = (one.args[0] for one, full in made if one.args and api.kind_of_call(full) == "optimizer")
    held_names = (part for one in given for part in ast.walk(one) if isinstance(part, ast.Name))
    return any(bound.node is name for one in held_names for bound in scopes.reaching(source, one))


def fresh(source: Source, cls: Class, name: str) -> bool:
    """Whether `self.name` is a layer made in `__init__` with new weights, and nobody loads anything here or freezes it."""
    found = classes.own_attributes(cls)[name]
    made = found[0].value if len(found) == 1 and found[0].method == "__init__" else None
    for index in found[0].path:  # self.enc, self.dec = nn.Linear(8, 4), nn.Linear(2, 8)
        made = made.elts[index] if isinstance(made, ast.Tuple) and 0 <= index < len(made.elts) else None
    if not isinstance(made, ast.Call) or _FIXED.search(name):
        return False
    if re.search(rf"\.{name}\.(requires_grad|eval|load)", source.text):
        return False
    if re.search(r"pretrain|load_state_dict|freeze|frozen", source.code(cls.node)):
        return False
    if "requires_grad" in source.code(cls.node) and ((still := frozen(source)) is None or name in still):
        return False
    known = [one for one in values.values(source, made) if not one.name.startswith(_LIBRARIES)]
    return any(modules.has_parameters(one) for one in known)


def calls_of(source: Source, cls: Class, name: str) -> list[ast.Call]:
    """The calls of `self.name(...)` in the class."""
    used = (one for one in uses.attributes(source, name) if tree.dotted(one) == f"self.{name}")
    runs = (up for one in used if isinstance(up := source.parents[one], ast.Call) and up.func is one)
    return [one for one in runs if tree.inside(source, one, cls.node)]


def frozen(source: Source, *, surely: bool = False) -> set[str] | None:
    """The parts that are frozen by name, `words` of `model.words.requires_grad_(False)`; None where more may be frozen.

    Surely: only what is frozen without a condition.
    """
    found = set[str]()
    for call in source.methods("requires_grad_"):
        flag = call.args[0] if call.args else next((one.value for one in call.keywords), None)
        if flag is None or tree.literal(flag) is True:
            continue
        name = _frozen_part(source, tree.receiver(call))
        if not name:
            return None
        if not surely or not tree.conditions(source, call):
            found.add(name)
    for target in uses.attributes(source, "requires_grad"):
        assign = source.parents[target]
        if not isinstance(assign, ast.Assign) or assign.targets[0] is not target or tree.literal(assign.value) is True:
            continue
        name = _frozen_part(source, target.value)
        if not name:
            return None
        if not surely or not tree.conditions(source, assign):
            found.add(name)
    return found


def _frozen_part(source: Source, node: ast.expr) -> str:
    """`words` of `model.words`, or of `p` in `for p in model.words.parameters()`; "" for a whole net and where it is not known."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    walked = bound[0].value if len(bound) == 1 and bound[0].how == "for" else None
    if isinstance(walked, ast.Call) and follow.method(walked) == "parameters":
        node = tree.receiver(walked)
    parts = tree.dotted(node).split(".")
    return parts[1] if len(parts) > 1 else ""


def untrained(source: Source, home: ast.AST, name: str) -> Iterator[str]:
    """Networks made in the same function or class that no `.parameters()` is asked of, and that are called."""
    for target, value in made_nets(source):
        code = source.code(target)
        made = isinstance(value, ast.Call) and source.name(value.func) != "copy.deepcopy"
        where = (tree.function(source, value) or source.tree, tree.home(source, value))
        if home not in where or code == name or not made or f"{code}.parameters" in source.text:
            continue
        holders = (one for one in source.all(ast.Assign) if source.code(one.targets[0]) == name)
        if any(source.code(arg) == code for one in holders for arg in _given(one.value)):
            continue  # a part of the net that is trained
        module = values.sure(source, value, "module") and not values.sure(source, value, "loss")
        kinds = [one for one in source.values(value) if modules.has_parameters(one)]
        turns = [one.iter for one in source.all(ast.For) if isinstance(one.iter, ast.Tuple | ast.List)]
        called = any(source.code(one.func) == code for one in source.all(ast.Call))
        called = called or any(source.code(one) == code for turn in turns for one in turn.elts)  # `for net in (a, b):`
        if module and kinds and called and not settled(source, code):
            yield code


def settled(source: Source, name: str) -> bool:
    """Whether a network is frozen, loaded, or made to be asked only."""
    return any(f"{name}{one}" in source.text for one in (".requires_grad", ".load_state_dict(", ".eval("))


def made_nets(source: Source) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target with its value, also of `self.a, self.b = A(), B()`."""
    for assign in source.all(ast.Assign):
        target, value = assign.targets[0], assign.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            yield from zip(target.elts, value.elts, strict=True)
        else:
            yield target, value


def _given(call: ast.expr) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, ast.Call) else []

"""The rule of optimizer-holds-copies."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import api, follow, scopes, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_COPIES = ("detach", "clone", "cpu", "cuda", "to", "float", "half", "double")
_SLOW = regex(r"target|teacher|(^|_)ema|slow|shadow|momentum|frozen", re.IGNORECASE)

WORDS = (api.OPTIMIZERS,)


def find(source: Source) -> Iterator[Hit]:
    yield from _slow(source) if "copy" in source.text or "load_state_dict" in source.text else ()
    for call, name in uses.calls_under(source, "torch.optim."):
        if not (name.count(".") == 2 and name[12:13].isupper()):
            continue
        given = tree.argument(call, 0, "params")
        copied = _copied(source, follow.followed(source, given)) if given is not None else ""
        if copied and given is not None:
            yield source.hit(
                given,
                f"`{copied}` are other tensors than the model's parameters, which never train: pass `model.parameters()`",
            )


def _copied(source: Source, given: ast.expr) -> str:
    """The expression that makes the copies, "" if none does."""
    if isinstance(given, ast.ListComp | ast.GeneratorExp):
        element = given.elt
        if isinstance(element, ast.Attribute) and element.attr == "data" and _is_parameter(source, element.value):
            return source.code(element)
        moved = (
            isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute) and element.func.attr in _COPIES
        )
        return source.code(element) if moved and _is_parameter(source, tree.receiver(element)) else ""  # type: ignore[arg-type]  # a call
    if isinstance(given, ast.Call) and source.name(given.func) in ("list", "iter") and given.args:
        return _copied(source, given.args[0])
    if not (isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute)):
        return ""
    owner = given.func.value
    if given.func.attr == "values" and values.sure(source, owner, "state_dict"):
        return source.code(given)
    anonymous = isinstance(owner, ast.Call) and source.name(owner.func) in ("copy.deepcopy", "copy.copy")
    return source.code(given) if given.func.attr == "parameters" and anonymous else ""


def _is_parameter(source: Source, node: ast.expr) -> bool:
    if values.sure(source, node, "parameter"):
        return True
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    calls = [one.value.func for one in bound if isinstance(one.value, ast.Call) and one.how == "comprehension"]
    return bool(calls) and all(isinstance(one, ast.Attribute) and one.attr == "parameters" for one in calls)


def _slow(source: Source) -> Iterator[Hit]:
    """`Adam([*critic.parameters(), *critic_target.parameters()])`, of a net and its own slow copy."""
    for call, name in uses.calls_under(source, "torch.optim."):
        given = tree.argument(call, 0, "params")
        if not (name.count(".") == 2 and name[12:13].isupper()) or given is None:
            continue
        whole = follow.followed(source, given)
        if "requires_grad" in source.code(whole):
            continue
        nets = [
            tree.receiver(one)
            for one in ast.walk(whole)
            if isinstance(one, ast.Call) and follow.method(one) == "parameters"
        ]
        codes = [tree.dotted(one) for one in nets]
        for net, code in zip(nets, codes, strict=True):
            others = [one for one in codes if one and one != code]
            if code and _SLOW.search(code.rpartition(".")[2]) and others and _copy_of(source, code, others):
                told = (
                    f"`{code}` is the slow copy of a net that this optimizer trains: leave it out, it follows by itself"
                )
                yield source.hit(net, told, severity="warning")


def _copy_of(source: Source, code: str, others: list[str]) -> bool:
    """Whether it is made or filled as a copy of one of the others, and is not frozen."""
    if f"{code}.requires_grad_(False)" in source.text:
        return False
    for call in source.methods("load_state_dict"):
        if tree.dotted(tree.receiver(call)) == code and any(f"{one}.state_dict" in source.code(call) for one in others):
            return True
    for assign in source.all(ast.Assign):
        target, value = assign.targets[0], assign.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = list(zip(target.elts, value.elts, strict=True))
        for left, right in pairs:
            copied = isinstance(right, ast.Call) and source.name(right.func) == "copy.deepcopy" and right.args
            if copied and tree.dotted(left) == code and tree.dotted(right.args[0]) in others:  # type: ignore[attr-defined]  # a call
                return True
    return False

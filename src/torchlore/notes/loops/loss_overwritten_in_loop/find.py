"""The rule of loss-overwritten-in-loop."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import scopes, tree
from torchlore.check.source import Hit, Source

_LOOKS = {"item", "detach", "tolist", "cpu", "data", "shape"}


def find(source: Source) -> Iterator[Hit]:
    seen: set[ast.AST] = set()
    for call in source.methods("backward"):
        loss = _differentiated(call)
        for one in scopes.reaching(source, loss) if loss is not None else ():
            loop = _loop(source, one.statement, call)
            if loss is None or loop is None or one.statement in seen or one.how != "assign" or one.path:
                continue
            if (
                isinstance(one.value, ast.Call)
                and _own_target(source, one.value, loop)
                and not _kept(source, loop, loss.id)
            ):
                seen.add(one.statement)
                message = (
                    f"every turn of this loop replaces `{loss.id}`, and only the last one is differentiated: add them up, "
                    f"`{loss.id} = {loss.id} + ...`"
                )
                yield source.hit(one.statement, message)


def _differentiated(call: ast.Call) -> ast.Name | None:
    """`loss` of `loss.backward()` and of `scaler.scale(loss).backward()`."""
    whole = tree.receiver(call)
    if isinstance(whole, ast.Call) and len(whole.args) == 1 and isinstance(whole.func, ast.Attribute):
        whole = whole.args[0] if whole.func.attr == "scale" else whole.func.value
    return whole if isinstance(whole, ast.Name) else None


def _loop(source: Source, statement: ast.AST, call: ast.Call) -> ast.For | None:
    """The innermost loop around the assignment, where the backward pass comes after its end, in the same function."""
    loops = tree.loops(source, statement)
    loop = loops[0] if loops else None
    if not isinstance(loop, ast.For) or tree.inside(source, call, loop) or call.lineno < loop.lineno:
        return None
    if any(isinstance(node, ast.Break) for node in tree.body_nodes(loop)):
        return None  # it looks for something, and stops there
    return loop if tree.function(source, loop) is tree.function(source, call) else None


def _own_target(source: Source, call: ast.Call, loop: ast.For) -> bool:
    """Whether it is a loss whose target comes from the loop's variable: each turn has one of its own."""
    if len(call.args) < 2 or not _is_loss(source, call):
        return False
    turning = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    for node in loop.body:
        if (
            isinstance(node, ast.Assign)
            and _names(node.value) & turning
            and not _names(node.value) & _names(node.targets[0])
        ):
            turning |= _names(node.targets[0])
    return bool(_names(call.args[1]) & turning)


def _is_loss(source: Source, call: ast.Call) -> bool:
    found = source.values(call)
    known = [one for one in found if one.kind]
    named = re.search(r"crit|loss", source.code(call.func), re.IGNORECASE) is not None
    return all(one.state == "loss" for one in found) if known else named


def _kept(source: Source, loop: ast.For, name: str) -> bool:
    """Whether the loop does anything with the loss but look at its number."""
    for node in tree.body_nodes(loop):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            up = source.parents[node]
            if not (isinstance(up, ast.Attribute) and up.attr in _LOOKS) and not isinstance(up, ast.FormattedValue):
                return True
    return False


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}

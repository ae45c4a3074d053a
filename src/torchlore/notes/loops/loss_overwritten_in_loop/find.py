"""The rule of loss-overwritten-in-loop."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, scopes, tensors, tree, uses
from torchlore.check.source import Hit, Source

_LOOKS = {"item", "detach", "tolist", "cpu", "data", "shape"}

WORDS = ("for", "return|backward|parameters|named_parameters")


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
                and not _adds_otherwise(source, one.statement, loss.id)
            ):
                seen.add(one.statement)
                yield _hit(source, one.statement, loss.id)
    for assign in _penalties(source):
        name = tree.dotted(assign.targets[0])
        told = f"every turn of this loop replaces `{name}`, and the last parameter alone is penalised: write `{name} = {name} + ...`"
        yield source.hit(assign, told)
    for assign in _from_zero(source):
        if assign not in seen:
            yield _hit(source, assign, tree.dotted(assign.targets[0]))


def _adds_otherwise(source: Source, statement: ast.AST, name: str) -> bool:
    """`if first: loss = ...` and `else: loss += ...`: this is where the sum begins."""
    grown = (one for one in source.all(ast.AugAssign) if tree.dotted(one.target) == name)
    return any(follow.exclusive(source, one, statement) for one in grown)


def _hit(source: Source, statement: ast.AST, name: str) -> Hit:
    message = f"every turn of this loop replaces `{name}`, and only the last one is differentiated: add them up, `{name} = {name} + ...`"
    return source.hit(statement, message)


def _from_zero(source: Source) -> Iterator[ast.Assign]:
    """`loss = 0`, a loop that sets it to a loss of each turn, and then `return loss` or `loss.backward()`."""
    loops = [*source.all(ast.For)]
    ends = _given_back(source) if loops else set()
    for loop in loops:
        for assign in loop.body:
            name = assign.targets[0] if isinstance(assign, ast.Assign) else None
            if not isinstance(assign, ast.Assign) or not isinstance(name, ast.Name) or name.id not in ends:
                continue
            if not _zero_before(source, loop, name.id) or _breaks(loop) or _kept(source, loop, name.id):
                continue
            if tensors.no_grad_around(source, assign):
                continue  # nobody differentiates it
            turn = _of_this_turn(source, loop, assign.value)
            lost = any(_each_turn(source, call, loop) for call in tree.under(source, turn, ast.Call))
            later = (use for use in uses.names(source, name.id) if _behind(source, use, loop))
            if lost and any(_used(source, use) for use in later):
                yield assign


def _of_this_turn(source: Source, loop: ast.For, value: ast.expr) -> ast.expr:
    """What stands behind `total = loss`, where this turn's loss has a name that nothing else needs."""
    found = scopes.reaching(source, value) if isinstance(value, ast.Name) else []
    if len(found) != 1 or found[0].how != "assign" or found[0].path or found[0].statement not in loop.body:
        return value
    alone = found[0].value is not None and not _kept(source, loop, found[0].name, besides=value)
    return found[0].value if alone and found[0].value is not None else value


def _given_back(source: Source) -> set[str]:
    """The names that are returned or differentiated somewhere in the file: `_used` asks where."""
    back = [one.value for one in source.all(ast.Return)]
    back += [one.value for one in uses.attributes(source, "backward")]
    parts = (part for one in back for part in (one.elts if isinstance(one, ast.Tuple) else [one]))
    return {one.id for one in parts if isinstance(one, ast.Name)}


def _penalties(source: Source) -> Iterator[ast.Assign]:
    """`l2 = 0`, a loop over the parameters that sets it to the size of each, and somebody who reads it behind."""
    for loop in source.all(ast.For) if "parameters(" in source.text else ():
        if not isinstance(loop.iter, ast.Call) or follow.method(loop.iter) not in ("parameters", "named_parameters"):
            continue
        turning = _names(loop.target)
        for assign in tree.under(source, loop, ast.Assign):
            name = assign.targets[0]
            sized = any(follow.method(one) in ("norm", "sum") or source.name(one.func) in ("torch.norm", "torch.sum")
                        for one in tree.under(source, assign.value, ast.Call))  # fmt: skip
            if not isinstance(name, ast.Name) or not sized or not _names(assign.value) & turning:
                continue
            later = any(
                _behind(source, use, loop) for use in uses.names(source, name.id) if isinstance(use.ctx, ast.Load)
            )
            if later and _zero_before(source, loop, name.id) and not _kept(source, loop, name.id) and not _breaks(loop):
                yield assign


def _breaks(loop: ast.For) -> bool:
    return any(isinstance(node, ast.Break) for node in tree.body_nodes(loop))


def _each_turn(source: Source, call: ast.Call, loop: ast.For) -> bool:
    if len(call.args) < 2 or not _is_loss(source, call):
        return False
    turning = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    return any(_names(arg) & turning for arg in call.args)


def _zero_before(source: Source, loop: ast.For, name: str) -> bool:
    """Whether the name starts at zero, above the loop: it was to add something up."""
    home = tree.function(source, loop)
    here = tree.among(source, uses.names(source, name), home)
    bound = [(source.parents[use], use) for use in here if use.lineno < loop.lineno]
    assigns = [one for one, use in bound if isinstance(one, ast.Assign) and one.targets[0] is use]
    zeros = [_is_zero(source, one.value) for one in assigns if tree.function(source, one) is home]
    return bool(zeros) and zeros[-1]


def _is_zero(source: Source, value: ast.expr) -> bool:
    made = source.name(value.func) in ("torch.zeros", "torch.tensor") if isinstance(value, ast.Call) else False
    number = tree.literal(value.args[0]) if isinstance(value, ast.Call) and made and value.args else tree.literal(value)
    return number in (0, 0.0, ()) or (made and isinstance(value, ast.Call) and source.name(value.func) == "torch.zeros")


def _behind(source: Source, use: ast.Name, loop: ast.For) -> bool:
    return use.lineno > (loop.end_lineno or 0) and tree.function(source, use) is tree.function(source, loop)


def _used(source: Source, use: ast.Name) -> bool:
    """`return loss`, `return loss, parts` and `loss.backward()`."""
    up = source.parents[use]
    up = source.parents[up] if isinstance(up, ast.Tuple) else up
    return isinstance(up, ast.Return) or (isinstance(up, ast.Attribute) and up.attr == "backward")


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
    if _breaks(loop):
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


def _kept(source: Source, loop: ast.For, name: str, besides: ast.expr | None = None) -> bool:
    """Whether the loop does anything with the loss but look at its number."""
    for node in tree.body_nodes(loop):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and node is not besides:
            up = source.parents[node]
            if not (isinstance(up, ast.Attribute) and up.attr in _LOOKS) and not isinstance(up, ast.FormattedValue):
                return True
    return False


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}

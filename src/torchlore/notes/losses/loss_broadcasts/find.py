"""The rule of loss-broadcasts."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, dims, edits, losses, scopes, tree, values
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_LOSSES = ("MSELoss", "mse_loss", "L1Loss", "l1_loss", "SmoothL1Loss", "smooth_l1_loss", "HuberLoss", "huber_loss")


def find(source: Source) -> Iterator[Hit]:
    if "Linear" not in source.text and "squeeze" not in source.text and "view" not in source.text:
        return
    seen = set[int]()
    for loss in losses.loss_calls(source, *_LOSSES):
        if loss.input is not None and loss.target is not None:
            which = next((a for a, b in _both(loss.input, loss.target) if _meet(source, a, b)), None)
            if which is not None:
                code = source.code(which)
                fix = edits.method(source, which, "squeeze(-1)")
                told = f"`{code}` has shape (N, 1) and meets (N): the loss compares each with every other; write `{code}.squeeze(-1)`"
                seen.add(loss.call.lineno)
                yield source.hit(loss.call, told, *fix)
    yield from _in_own_loss(source)
    for one in source.all(ast.BinOp) if "Linear" in source.text else ():
        if isinstance(one.op, ast.Sub | ast.Add) and one.lineno not in seen and tree.literal(one.right) != 0:
            wide = next((a for a, b in _both(one.left, one.right) if _given(source, a) and _meet(source, a, b)), None)
            if wide is not None:
                seen.add(one.lineno)
                passed = _passed(source, wide)
                code = source.code(passed or wide)
                told = (
                    f"`{code}` has shape (N, 1) and meets (N), which gives a table of N x N; write `{code}.squeeze(-1)`"
                )
                if passed is not None:
                    yield source.hit(passed, told)
                else:
                    yield source.hit(one, told, *edits.method(source, wide, "squeeze(-1)"), safe=False)


def _passed(source: Source, wide: ast.expr) -> ast.expr | None:
    """The argument of the only call that hands a parameter its column: the helper itself may serve both shapes."""
    bound = scopes.reaching(source, wide) if isinstance(wide, ast.Name) else []
    arg, home = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None, tree.function(source, wide)
    if not isinstance(arg, ast.arg) or home is None:
        return None
    function = as_function(source, home)
    given = [
        calls.given_argument(function, call, arg, skip) for at, call, skip in calls.callers(function) if at is source
    ]
    columns = [one for one in given if one is not None and (values.shape(source, one) or ())[-1:] == (1,)]
    return columns[0] if columns else None


def _in_own_loss(source: Source) -> Iterator[Hit]:
    """A function of the file that takes one argument from the other, is kept as `self.criterion`, and gets a column and a row."""
    pairs = {one: names for one in source.all(ast.FunctionDef) if (names := _subtracted(source, one))}
    for call in source.all(ast.Call) if pairs else ():
        if len(call.args) != 2 or not isinstance(call.func, ast.Attribute):
            continue
        first, second = call.args
        made = values.values(source, call.func)
        inner = made[0].node if len(made) == 1 and made[0].kind == "function" else None
        if not isinstance(inner, ast.FunctionDef) or inner not in pairs:
            continue
        wide = next((a for a, b in _both(first, second) if _given(source, a) and _meet(source, a, b)), None)
        if wide is not None:
            code = source.code(wide)
            told = f"`{code}` has shape (N, 1) and meets (N) in `{inner.name}`, which compares each with every other; write `{code}.squeeze(-1)`"
            yield source.hit(call, told)


def _subtracted(source: Source, function: ast.FunctionDef) -> bool:
    """Whether a function subtracts its first two arguments as they are, in one order or the other."""
    taken = [arg.arg for arg in function.args.args[:2]]
    if len(taken) != 2 or tree.method_class(source, function) is not None:
        return False
    both = ((one.left, one.right) for one in tree.under(source, function, ast.BinOp) if isinstance(one.op, ast.Sub))
    kept = all(isinstance(one.ctx, ast.Load) for one in tree.under(source, function, ast.Name) if one.id in taken)
    return kept and any([tree.dotted(one), tree.dotted(other)] in (taken, taken[::-1]) for one, other in both)


def _both(one: ast.expr, other: ast.expr) -> tuple[tuple[ast.expr, ast.expr], tuple[ast.expr, ast.expr]]:
    return (one, other), (other, one)


def _given(source: Source, node: ast.expr) -> bool:
    """Whether a network gave it, also times a number: a column that is made so is meant to meet a row."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _given(source, node.left) or _given(source, node.right)
    asked = isinstance(node, ast.Name | ast.Call | ast.Attribute)
    return asked and any(one.name.startswith("torch.nn.") for one in source.values(node))


def _meet(source: Source, column: ast.expr, flat: ast.expr) -> bool:
    """Whether one is surely a column, and the other surely a row of more than one number."""
    wide = values.shape(source, column)
    if wide is None or len(wide) != 2 or wide[1] != 1:
        return False
    narrow = values.shape(source, flat)
    if narrow is not None:
        return len(narrow) == 1 and narrow[0] not in (None, 1)
    return dims.dims(source, flat) == 1

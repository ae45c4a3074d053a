"""A best value that starts at infinity and is compared with `>` is never beaten.

`best_loss = float("inf")` and then `if val_loss > best_loss:` is false for ever; `best_acc = 0` and `if val_acc < best_acc:`
the same. No checkpoint is written, or early stopping stops at its first chance, and the script ends without a word. With
both turned round (`best_acc = inf`, compared with `>`) it looks as consistent and saves nothing either.

For what should fall: start at `float("inf")` and test `val_loss < best_loss`. For what should grow: start at
`-float("inf")` (or 0 for an accuracy) and test `val_acc > best_acc`.
"""

import ast
import math
from collections.abc import Iterator

from torchlore.check import scopes, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_FLIP = {ast.Lt: "<", ast.Gt: ">", ast.LtE: "<", ast.GtE: ">"}


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["saved"] == []
    assert good["saved"] == [0, 1, 3]


def find(source: Source) -> Iterator[Hit]:
    for choice in source.all(ast.If):
        test = choice.test
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _FLIP):
            continue
        sign = _FLIP[type(test.ops[0])]
        for best, value, way in (
            (test.comparators[0], test.left, sign),
            (test.left, test.comparators[0], "<" if sign == ">" else ">"),
        ):
            start = _start(source, best, choice)
            takes = any(isinstance(one, ast.Assign) and tree.dotted(one.targets[0]) == tree.dotted(best) and
                        ast.dump(one.value) == ast.dump(value) for one in choice.body)  # fmt: skip
            wrong = (start == math.inf and way == ">") or (start == -math.inf and way == "<")
            if takes and wrong and not isinstance(value, ast.Constant):
                turned = "<" if way == ">" else ">"
                name, other = source.code(best), source.code(value)
                yield source.hit(
                    test,
                    f"`{name}` starts at {start}, so `{other} {way} {name}` is never true: write `{other} {turned} {name}`",
                )


def _start(source: Source, best: ast.expr, choice: ast.If) -> float | None:
    """The infinity a name starts at; None if it is another value or cannot be seen."""
    if not isinstance(best, ast.Name):
        return None
    bound = scopes.bindings(source)[scopes.scope_of(source, best)].get(best.id, [])
    outside = [one for one in bound if not tree.inside(source, one.statement, choice)]
    starts = {
        _infinity(source, one.value) if one.how == "assign" and not one.path and one.value is not None else None
        for one in outside
    }
    return starts.pop() if len(starts) == 1 and outside else None


def _infinity(source: Source, value: ast.expr) -> float | None:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = _infinity(source, value.operand)
        return -inner if inner is not None else None
    if source.name(value) in ("math.inf", "numpy.inf", "torch.inf", "numpy.Inf", "sys.maxsize"):
        return math.inf
    if isinstance(value, ast.Call) and source.name(value.func) == "float" and len(value.args) == 1:
        word = str(tree.literal(value.args[0])).lower().strip("+")
        return {"inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}.get(word)
    number = tree.literal(value)
    return math.inf if isinstance(number, int | float) and number >= 1e8 else None

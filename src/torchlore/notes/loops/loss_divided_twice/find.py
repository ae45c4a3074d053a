"""The rule of loss-divided-twice."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree, values
from torchlore.check.source import Hit, Source

WORDS = ("*accelerat*", "gradient_accumulation_steps", "backward")


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("backward"):
        accelerator = tree.receiver(call)
        made = values.made_by(source, accelerator, "accelerate.Accelerator") if call.args else None
        given = made.node if made is not None and isinstance(made.node, ast.Call) else None
        steps = tree.argument(given, 4, "gradient_accumulation_steps") if given is not None else None
        if steps is None or made is None:
            continue
        for place, by in _divisions(source, call.args[0]):
            name = source.code(accelerator)
            if tree.dotted(by) == f"{name}.gradient_accumulation_steps" or _same(
                source, by, made.source or source, steps
            ):
                told = f"`{name}.backward` divides by the accumulation steps itself, so this loss is divided twice: hand it the whole loss"
                yield source.hit(place, told)


def _divisions(source: Source, loss: ast.expr) -> Iterator[tuple[ast.AST, ast.expr]]:
    """`loss / steps`, `loss = loss / steps` and `loss /= steps` before it, with what each divides by."""
    bound = scopes.reaching(source, loss) if isinstance(loss, ast.Name) else []
    for one in (loss, *(binding.value for binding in bound if not binding.path)):
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div):
            yield one, one.right
    for binding in bound:
        at = binding.statement
        if isinstance(at, ast.AugAssign) and isinstance(at.op, ast.Div):
            yield at, at.value


def _same(source: Source, by: ast.expr, home: Source, steps: ast.expr) -> bool:
    """Whether it is the number that the accelerator was given: the same constant, or the same setting."""
    one, other = tree.literal(follow.followed(source, by)), tree.literal(follow.followed(home, steps))
    if tree.UNKNOWN not in (one, other):
        return bool(one == other != 1)
    setting, given = tree.dotted(by).rpartition(".")[2], tree.dotted(steps).rpartition(".")[2]
    return setting == given != ""

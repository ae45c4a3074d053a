"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, values
from torchlore.check.source import Hit, Source

WORDS = ("scale", "item")


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("scale") if "scale(" in source.text else ():
        held = tree.statement(source, call)
        target = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
        if (
            not isinstance(target, ast.Name)
            or not call.args
            or not values.sure(source, tree.receiver(call), "scaler", weak=True)
        ):
            continue
        for use in follow.later_uses(source, target, call):
            read = _read(source, use)
            if read is not None and use is not call.args[0]:
                scaler = source.code(tree.receiver(call))
                yield source.hit(
                    read,
                    f"`{target.id}` is the loss times the scale of `{scaler}` here: read it before, or give the scaled one another name",
                )
                break


def _read(source: Source, use: ast.Name) -> ast.AST | None:
    """`loss.item()`, unless it is divided by the scale."""
    up = source.parents[use]
    call = source.parents[up] if isinstance(up, ast.Attribute) and up.attr == "item" else None
    whole = source.parents[call] if isinstance(call, ast.Call) else None
    return None if call is None or (isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Div | ast.Mult)) else call

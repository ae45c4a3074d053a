"""The rule of mask-of-ones."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, uses
from torchlore.check.source import Hit, Source

_PADS = ("torch.nn.utils.rnn.pad_sequence",)
_NEW = ("torch.tensor", "torch.LongTensor", "torch.as_tensor")


def find(source: Source) -> Iterator[Hit]:
    if "mask" not in source.text or not (any(source.calls(*_PADS)) or "pad" in source.text.lower()):
        return
    for call in source.calls("torch.ones", "torch.ones_like"):
        held = source.parents[call]
        name = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
        padded = _padded(source, call)
        if padded is None or not isinstance(name, ast.Name) or "mask" not in name.id.lower():
            continue
        if _goes_as_it_is(source, name):
            code = source.code(padded)
            yield source.hit(
                call,
                f"`{code}` is padded, and this mask says that nothing is: write `{code} != pad`, or make it of the lengths",
            )


def _padded(source: Source, call: ast.Call) -> ast.expr | None:
    """`tokens` of `ones_like(tokens)`, `ones(tokens.shape)`, `ones(tokens.size())`, where padding made it."""
    given = call.args[0] if call.args else None
    if source.name(call.func) == "torch.ones":
        if isinstance(given, ast.Call) and follow.method(given) == "size" and not given.args:
            given = tree.receiver(given)
        elif isinstance(given, ast.Attribute) and given.attr == "shape":
            given = given.value
        else:
            return None
    made = follow.followed(source, given) if isinstance(given, ast.Name) else None
    if not isinstance(made, ast.Call) or given is None:
        return None
    return given if source.name(made.func) in _PADS or _by_hand(source, made) else None


def _by_hand(source: Source, made: ast.Call) -> bool:
    """`torch.tensor([row + [PAD] * (width - len(row)) for row in rows])`, or a list that is made so."""
    rows = follow.followed(source, made.args[0]) if source.name(made.func) in _NEW and made.args else None
    row = rows.elt if isinstance(rows, ast.ListComp) else None
    filled = row.right if isinstance(row, ast.BinOp) and isinstance(row.op, ast.Add) else None
    sides = (filled.left, filled.right) if isinstance(filled, ast.BinOp) and isinstance(filled.op, ast.Mult) else ()
    return any(isinstance(one, ast.List) for one in sides) and any(
        isinstance(one, ast.Call) and source.name(one.func) == "len" for side in sides for one in ast.walk(side)
    )


def _goes_as_it_is(source: Source, name: ast.Name) -> bool:
    """Whether nobody writes into the mask, and it is given on, returned or multiplied with what was padded."""
    home = tree.function(source, name)
    same = [one for one in uses.names(source, name.id) if one is not name and tree.function(source, one) is home]
    for one in same:
        up = source.parents[one]
        if isinstance(one.ctx, ast.Store) or isinstance(up, ast.AugAssign):
            return False
        if isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store):
            return False
        if isinstance(up, ast.Attribute) and (up.attr.endswith("_") or "fill" in up.attr):
            return False
    return bool(same)

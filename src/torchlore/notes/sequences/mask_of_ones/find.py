"""The rule of mask-of-ones."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_PADS = ("torch.nn.utils.rnn.pad_sequence",)
_NEW = ("torch.tensor", "torch.LongTensor", "torch.as_tensor")


_REAL = regex(r"^(?:\w+_)?(?:attention|attn|input|token|word|valid)_?masks?$")  # 1 is a word, 0 is padding

WORDS = ("pad_sequence|ones|ones_like",)


def find(source: Source) -> Iterator[Hit]:
    if "mask" not in source.text or not (any(source.calls(*_PADS)) or "pad" in source.text.lower()):
        return
    yield from _padded_with_ones(source)
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


def _padded_with_ones(source: Source) -> Iterator[Hit]:
    """`attention_mask = pad_sequence(masks, padding_value=PAD_ID)`, where the id of the padding is not 0."""
    for call in source.calls(*_PADS):
        held = source.parents[call]
        name = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
        value = tree.argument(call, 2, "padding_value")
        if value is None or not isinstance(name, ast.Name) or not _REAL.match(name.id):
            continue
        number = tree.literal(value)
        if isinstance(number, int | float) and number:
            told = f"`{name.id}` is filled up with {source.code(value)}, which is not 0, so the padding counts as words"
            yield source.hit(call, f"{told}: write `padding_value=0`")


def _padded(source: Source, call: ast.Call) -> ast.expr | None:
    """`tokens` of `ones_like(tokens)`, `ones(tokens.shape)`, `ones(tokens.size())`, where padding made it."""
    given = call.args[0] if call.args else None
    if source.name(call.func) == "torch.ones":
        if isinstance(given, ast.Call) and follow.method(given) == "size" and not given.args:
            given = tree.receiver(given)
        elif isinstance(given, ast.Attribute) and given.attr == "shape":
            given = given.value
        else:
            return _as_wide(source, call)
    made = follow.followed(source, given) if isinstance(given, ast.Name) else None
    if not isinstance(made, ast.Call) or given is None:
        return None
    filled = isinstance(given, ast.Name) and _filled_by_rows(source, given, made)
    return given if source.name(made.func) in _PADS or _by_hand(source, made) or filled else None


def _as_wide(source: Source, call: ast.Call) -> ast.expr | None:
    """`ids` of `ones(len(rows), width)`, where `ids` was made of rows that were filled up to `width`."""
    width = call.args[1] if len(call.args) == 2 else None
    home = tree.function(source, call)
    if home is None or not isinstance(width, ast.Name):
        return None
    for new in source.calls(*_NEW):
        held = source.parents[new]
        name = held.targets[0] if isinstance(held, ast.Assign) and held.value is new else None
        if isinstance(name, ast.Name) and tree.function(source, new) is home and _by_hand(source, new):
            fills = [one for one in tree.under(source, home, ast.BinOp) if isinstance(one.op, ast.Sub)]
            if any(tree.dotted(one.left) == width.id for one in fills):
                return name
    return None


def _filled_by_rows(source: Source, name: ast.Name, made: ast.Call) -> bool:
    """`ids = torch.zeros(n, width)`, and then `ids[i, :len(row)] = row`."""
    if source.name(made.func) not in ("torch.zeros", "torch.full"):
        return False
    home = tree.function(source, name) or source.tree
    for one in tree.under(source, home, ast.Subscript):
        parts = one.slice.elts if isinstance(one.slice, ast.Tuple) and isinstance(one.ctx, ast.Store) else []
        ends = [part.upper for part in parts if isinstance(part, ast.Slice) and part.upper is not None]
        if tree.dotted(one.value) == name.id and len(parts) == 2 and any(_is_length(source, end) for end in ends):
            return True
    return False


def _is_length(source: Source, node: ast.expr) -> bool:
    """`len(row)`, `row.size(0)`, here or by a name that is bound in the loop."""
    made = follow.followed(source, node)
    return isinstance(made, ast.Call) and (source.name(made.func) == "len" or follow.method(made) == "size")


def _by_hand(source: Source, made: ast.Call) -> bool:
    """`torch.tensor([row + [PAD] * (width - len(row)) for row in rows])`, or a list that is made so."""
    rows = follow.followed(source, made.args[0]) if source.name(made.func) in _NEW and made.args else None
    row = rows.elt if isinstance(rows, ast.ListComp) else None
    if isinstance(rows, ast.List) and not rows.elts:
        box, home = tree.dotted(made.args[0]), tree.function(source, made)
        puts = [one for one in source.methods("append") if tree.function(source, one) is home and one.args]
        row = next((one.args[0] for one in puts if tree.dotted(tree.receiver(one)) == box), None)
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

"""The rule of positions-along-the-batch."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, follow, tree, uses, values
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

_TURNS = ("permute", "transpose", "swapaxes", "t", "movedim")
_LAYERS = (
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "Transformer",
    "MultiheadAttention",
    "LSTM",
    "GRU",
    "RNN",
)

WORDS = ("batch_first",)


def find(source: Source) -> Iterator[Hit]:
    layers = list(source.calls(*(f"torch.nn.{name}" for name in _LAYERS)))
    first = [tree.literal(tree.argument(one, None, "batch_first")) is True for one in layers]
    if not layers or not all(first):
        return
    for cls in classes.all_classes(source):
        used = classes.is_module(cls) and any(uses.names(source, cls.node.name))
        forward = classes.methods(cls).get("forward") if used else None
        for cut in tree.under(source, forward, ast.Subscript) if forward is not None else ():
            table, name = tree.dotted(cut.value), _by_first_size(source, cut)
            if (
                name
                and table.startswith("self.")
                and _is_added(source, cut, name)
                and not _one_row(source, cls, table[5:])
                and not _turned(source, forward, cls)
            ):
                told = f"`{name}.size(0)` is the batch here (batch_first=True), so each sample gets one position for all its steps"
                told += f": cut `{table}` along the length, by `{name}.size(1)`"
                yield source.hit(cut, told, severity="warning")  # somebody may turn it round on the way
        if forward is not None and "arange" in source.text:
            yield from _counted(source, cls, forward)


def _counted(source: Source, cls: Class, forward: tree.FunctionNode) -> Iterator[Hit]:
    """`self.pos(torch.arange(x.size(0)).unsqueeze(1))`, added to another embedding of `x`: one position a sample."""
    for call in tree.under(source, forward, ast.Call):
        made = values.made_by(source, call.func, "torch.nn.Embedding") if len(call.args) == 1 else None
        column = follow.followed(source, call.args[0]) if made is not None else None
        inner = tree.receiver(column) if isinstance(column, ast.Call) and follow.method(column) == "unsqueeze" else None
        if not isinstance(inner, ast.Call) or source.name(inner.func) != "torch.arange" or len(inner.args) != 1:
            continue
        name, asked = _first_size(source, inner.args[0]), tree.literal(getattr(column, "args", [call])[0])
        if name and asked in (1, -1) and _is_added(source, call, name) and not _turned(source, forward, cls):
            told = f"`{name}.size(0)` is the batch here (batch_first=True), so each sample gets one position for all its steps"
            told += f": count the steps, `torch.arange({name}.size(1)).unsqueeze(0)`"
            yield source.hit(inner, told, severity="warning")


def _one_row(source: Source, cls: Class, name: str) -> bool:
    """`self.register_buffer("pe", pe.unsqueeze(0))`: a cut along the first axis takes the one row there is."""
    for call in tree.under(source, cls.node, ast.Call):
        named = follow.method(call) == "register_buffer" and tree.literal(tree.argument(call, 0, "name")) == name
        given = tree.argument(call, 1, "tensor") if named else None
        made = follow.followed(source, given) if given is not None else None
        if isinstance(made, ast.Call) and follow.method(made) == "unsqueeze" and tree.literal(made.args[0]) == 0:
            return True
    return False


def _by_first_size(source: Source, cut: ast.Subscript) -> str:
    """`x` of `self.pe[:x.size(0)]` and `self.pe[:x.shape[0], :]`."""
    part = cut.slice.elts[0] if isinstance(cut.slice, ast.Tuple) and cut.slice.elts else cut.slice
    if (
        not isinstance(part, ast.Slice)
        or part.upper is None
        or part.lower is not None
        or not isinstance(cut.ctx, ast.Load)
    ):
        return ""
    return _first_size(source, part.upper)


def _first_size(source: Source, node: ast.expr) -> str:
    """`x` of `x.size(0)` and `x.shape[0]`."""
    size = follow.followed(source, node)
    if isinstance(size, ast.Call) and follow.method(size) == "size" and [tree.literal(one) for one in size.args] == [0]:
        return tree.dotted(tree.receiver(size))
    if isinstance(size, ast.Subscript) and isinstance(size.value, ast.Attribute) and size.value.attr == "shape":
        return tree.dotted(size.value.value) if tree.literal(size.slice) == 0 else ""
    return ""


def _is_added(source: Source, cut: ast.expr, name: str) -> bool:
    up = source.parents[cut]
    if isinstance(up, ast.BinOp) and isinstance(up.op, ast.Add):
        other = up.right if up.left is cut else up.left
        return follow.base(other) == name or name in source.code(other)
    return isinstance(up, ast.AugAssign) and isinstance(up.op, ast.Add) and tree.dotted(up.target) == name


def _turned(source: Source, forward: ast.AST | None, cls: Class) -> bool:
    """Whether the class, or one that uses it, swaps dimensions: then the length may come first after all."""
    homes = [forward, *(tree.class_of(source, one) for one in uses.names(source, cls.node.name))]
    texts = [one for one in homes if one is not None]
    calls = [call for home in texts for call in tree.under(source, home, ast.Call)]
    turns = [one for one in calls if follow.method(one) in _TURNS and (follow.method(one) != "t" or not one.args)]
    return bool(turns) or any("rearrange" in tree.dotted(one.func) for one in calls)

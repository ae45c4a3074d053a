"""The rule of fractions-in-integer-tensor."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, integers, scopes, tree, uses
from torchlore.check.source import Hit, Source

_LIKE = ("torch.zeros_like", "torch.ones_like", "torch.empty_like", "torch.full_like")
_NEW = ("new_zeros", "new_ones", "new_empty", "new_full")
_FILL = {
    "fill_": 0,
    "scatter_": 2,
    "masked_fill_": 1,
    "index_fill_": 2,
    "masked_fill": 1,
    "scatter": 2,
    "index_fill": 2,
}

WORDS = ("zeros_like|ones_like|empty_like|full_like|new_zeros|new_ones|new_empty|new_full",)


def find(source: Source) -> Iterator[Hit]:
    for made, model in _made(source):
        written = (_filled(source, made) or _written(source, made)) if tree.lacks(made, None, "dtype") else None
        if written is not None and integers.is_integer(source, model):
            message = (
                f"`{source.code(model)}` holds integers and so does this, which turns `{source.code(written)}` into a whole "
                "number: add `dtype=torch.float32`"
            )
            dtype = edits.spelled(source, "torch.float32")
            yield source.hit(made, message, edits.add_keyword(source, made, "dtype", dtype))


def _made(source: Source) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Tensors made after a model, and the model."""
    for call in source.calls(*_LIKE):
        if call.args and not isinstance(call.args[0], ast.Starred):
            yield call, call.args[0]
    for call in source.methods(*_NEW):
        yield call, tree.receiver(call)


def _filled(source: Source, made: ast.Call) -> ast.expr | None:
    """The fraction that `full_like` or `new_full` is given."""
    full = source.name(made.func) == "torch.full_like" or follow.method(made) == "new_full"
    value = tree.argument(made, 1, "fill_value") if full else None
    return value if value is not None and integers.is_fraction(source, value) else None


def _written(source: Source, made: ast.Call) -> ast.expr | None:
    """A fraction that is put into the tensor later: by an index, or by a method that fills."""
    held = source.parents[made]
    if isinstance(held, ast.Attribute) and held.attr in _FILL:
        return _given(source, source.parents[held])
    name = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
    for use in uses.names(source, name.id) if isinstance(name, ast.Name) else ():
        up = source.parents[use]
        outer, given = source.parents[up], None
        if isinstance(up, ast.Subscript) and isinstance(outer, ast.Assign) and up in outer.targets:
            given = outer.value if integers.is_fraction(source, outer.value) else None
        elif isinstance(up, ast.Attribute) and up.attr in _FILL:
            given = _given(source, outer)
        if given is not None and any(one.node is name for one in scopes.reaching(source, use)):
            return given
    return None


def _given(source: Source, call: ast.AST) -> ast.expr | None:
    """The fraction a filling method is given."""
    if not isinstance(call, ast.Call):
        return None
    value = tree.argument(call, _FILL[follow.method(call)], "value")
    return value if value is not None and integers.is_fraction(source, value) else None

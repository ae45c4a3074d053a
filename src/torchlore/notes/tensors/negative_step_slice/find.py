"""The rule of negative-step-slice."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, scopes, tree, values
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
    for node in source.all(ast.Slice):
        step = tree.literal(node.step) if node.step is not None else tree.UNKNOWN
        if not isinstance(step, int) or step >= 0:
            continue
        up = source.parents[node]
        dims: list[ast.expr] = up.elts if isinstance(up, ast.Tuple) else [node]
        subscript = source.parents[up] if isinstance(up, ast.Tuple) else up
        if isinstance(above := source.parents[subscript], ast.Attribute) and above.attr in ("astype", "copy"):
            continue  # an array, whatever its annotation says
        if not isinstance(subscript, ast.Subscript) or not _is_tensor(source, subscript.value):
            continue
        code = source.code(subscript.value)
        dim = _dimension(dims, node)
        plain = step == -1 and node.lower is None and node.upper is None and dim is not None and len(_slices(dims)) == 0
        write = f"{code}.flip({dim})" if plain else f"{code}.flip(dim)"
        edit = [edits.replace(source, subscript, write)] if plain else []
        told = f"a tensor cannot be sliced backwards and raises here: write `{write}`"
        yield source.hit(subscript, told, *edit, severity="warning" if _told_so(source, subscript.value) else None)
    yield from _from_backwards(source)


def _from_backwards(source: Source) -> Iterator[Hit]:
    """`torch.from_numpy(image[:, ::-1])`: an array with a negative stride, which torch does not take."""
    for call in source.calls("torch.from_numpy"):
        given = call.args[0] if call.args else None
        if given is not None and any(_is_backwards(source, one) for one in follow.possible(source, given)):
            code = source.code(given)
            told = f"`{code}` may run backwards through its memory, which `from_numpy` refuses: write `{code}.copy()`"
            yield source.hit(call, told, *edits.method(source, given, "copy()"))


def _is_backwards(source: Source, node: ast.expr) -> bool:
    """A view of an array with a negative step, or one of NumPy's flips; through a transpose."""
    while (
        isinstance(node, ast.Call) and follow.method(node) in ("transpose", "swapaxes") and not source.name(node.func)
    ):
        node = tree.receiver(node)
    if isinstance(node, ast.Call):
        return source.name(node.func) in ("numpy.flip", "numpy.fliplr", "numpy.flipud", "numpy.rot90")
    parts = node.slice.elts if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else []
    parts = parts or ([node.slice] if isinstance(node, ast.Subscript) else [])
    steps = [tree.literal(one.step) for one in parts if isinstance(one, ast.Slice) and one.step is not None]
    return any(isinstance(one, int) and one < 0 for one in steps)


def _is_tensor(source: Source, node: ast.expr) -> bool:
    listed = isinstance(node, ast.Call) and source.name(node.func) in {"tuple", "list", "sorted", "reversed"}
    return not listed and values.sure(source, node, "tensor")


def _told_so(source: Source, node: ast.expr) -> bool:
    """Whether an annotation alone says that it is a tensor: it may be a list of them."""
    while isinstance(node, ast.Subscript):
        node = node.value
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    return bool(bound) and all(one.how == "parameter" for one in bound)


def _slices(dims: list[ast.expr]) -> list[ast.expr]:
    """Places of the index that do more than pass a dimension through."""
    whole = (d for d in dims if isinstance(d, ast.Slice) and d.lower is d.upper is d.step is None)
    passing = {id(d) for d in whole} | {id(d) for d in dims if tree.literal(d) is Ellipsis}
    backwards = {id(d) for d in dims if isinstance(d, ast.Slice) and tree.literal(d.step) == -1}
    return [d for d in dims if id(d) not in passing | backwards]


def _dimension(dims: list[ast.expr], node: ast.expr) -> int | None:
    """Which dimension the slice stands for: counted from the front, or from the back after an ellipsis."""
    place = next(i for i, d in enumerate(dims) if d is node)
    dots = next((i for i, d in enumerate(dims) if tree.literal(d) is Ellipsis), None)
    backwards = [d for d in dims if isinstance(d, ast.Slice) and tree.literal(d.step) == -1]
    if len(backwards) > 1:
        return None
    return place if dots is None or place < dots else place - len(dims)

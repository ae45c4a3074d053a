"""The rule of attention-scale-inverted."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, follow, grouped, project, sizes, tree, uses, values
from torchlore.check.source import Hit, Source

_PRODUCTS = ("torch.matmul", "torch.bmm", "torch.einsum", "torch.baddbmm")


_HEAD = re.compile(r"head", re.IGNORECASE)

WORDS = ("*transpose*|*permute*|mT|*einsum*",)


def find(source: Source) -> Iterator[Hit]:
    yield from _whole_width(source)
    for one in grouped.operations(source, ast.Div, ast.Mult):
        if not _is_product(source, one.left):
            continue
        power = _power(source, one.right)
        if (isinstance(one.op, ast.Div) and power == -0.5) or (isinstance(one.op, ast.Mult) and power == 0.5):
            sign = "*" if isinstance(one.op, ast.Div) else "/"
            yield source.hit(
                one,
                f"this makes the scores larger by the width instead of smaller: write `{sign} {source.code(one.right)}`",
            )


def _is_product(source: Source, node: ast.expr) -> bool:
    """A product of queries and transposed keys."""
    matrix = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    called = isinstance(node, ast.Call) and (
        source.name(node.func) in _PRODUCTS or follow.method(node) in ("matmul", "bmm")
    )
    code = source.code(node) if matrix or called else ""
    return (matrix or called) and ("transpose(" in code or "permute(" in code or ".mT" in code or "einsum" in code)


def _power(source: Source, node: ast.expr) -> float | None:
    """The power of a width that a scale was set to: -0.5 for `d ** -0.5` and `1 / sqrt(d)`, 0.5 for `sqrt(d)`."""
    value: ast.expr | None = follow.followed(source, node)
    owner = project.enclosing_class(source, node)
    if isinstance(node, ast.Attribute) and tree.dotted(node.value) == "self" and owner is not None:
        found = classes.assigned(owner, node.attr)
        value = found[0].value if len(found) == 1 else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Pow):
        power = tree.literal(value.right)
        return float(power) if power in (0.5, -0.5) and tree.literal(value.left) is tree.UNKNOWN else None
    inverse = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and tree.literal(value.left) in (1, 1.0)
    inner = value.right if inverse and isinstance(value, ast.BinOp) else value
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Pow) and inverse:
        return -0.5 if tree.literal(inner.right) == 0.5 and tree.literal(inner.left) is tree.UNKNOWN else None
    root = isinstance(inner, ast.Call) and source.name(inner.func) in ("math.sqrt", "numpy.sqrt")
    return (-0.5 if inverse else 0.5) if root else None


def _whole_width(source: Source) -> Iterator[Hit]:
    """`q @ k.transpose(-2, -1) / embed_size ** 0.5`, where the queries are those of one head and narrower."""
    for one in grouped.operations(source, ast.Div, ast.Mult) if uses.says(source, "head") else ():
        product = follow.followed(source, one.left)
        scaled = _is_product(source, product) and _power(source, one.right) is not None
        base = _width(source, one.right) if scaled else ""
        if not base:
            continue
        narrow = next((told for part in _factors(product) if (told := _narrower(source, part, base))), "")
        if narrow:
            told = f"`{base}` is the width of all heads together, and the queries here have `{narrow}`: the scores are too small, divide by the root of that"
            yield source.hit(one, told, severity="warning")


def _factors(product: ast.expr) -> list[ast.expr]:
    """The tensors that are multiplied."""
    if isinstance(product, ast.BinOp):
        return [product.left, product.right]
    given = product.args if isinstance(product, ast.Call) else []
    listed = [part for one in given for part in (one.elts if isinstance(one, ast.List | ast.Tuple) else [one])]
    own = (
        [tree.receiver(product)]
        if isinstance(product, ast.Call) and follow.method(product) in ("matmul", "bmm")
        else []
    )
    return [*own, *(one for one in listed if not isinstance(one, ast.Constant))]


def _width(source: Source, node: ast.expr) -> str:
    """`embed_size` of `embed_size ** 0.5`, `1 / math.sqrt(embed_size)`, and of a `self.scale` that was set so."""
    value: ast.expr | None = follow.followed(source, node)
    owner = project.enclosing_class(source, node)
    if isinstance(node, ast.Attribute) and tree.dotted(node.value) == "self" and owner is not None:
        found = classes.assigned(owner, node.attr)
        value = found[0].value if len(found) == 1 else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
        value = value.right
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Pow):
        return source.code(value.left)
    return source.code(value.args[0]) if isinstance(value, ast.Call) and len(value.args) == 1 else ""


def _narrower(source: Source, part: ast.expr, base: str) -> str:
    """The width of one head, where this tensor has it and the base is the whole."""
    last = sizes.sizes(source, part)[-1:]
    if last and _is_share(source, part, last[0], base):
        return last[0]
    call = follow.followed(source, follow.peeled(part, ("transpose", "permute", "contiguous")))
    made = values.made_by(source, call.func, "torch.nn.Linear") if isinstance(call, ast.Call) and call.args else None
    if made is None or not isinstance(made.node, ast.Call) or not isinstance(call, ast.Call):
        return ""
    wide, narrow = (tree.argument(made.node, place, name) for place, name in ((0, "in_features"), (1, "out_features")))
    texts = [made.source.code(one) if one is not None and made.source is not None else "" for one in (wide, narrow)]
    whole = base.removeprefix("self.") == texts[0].removeprefix("self.") or _is_last(source, call.args[0], base)
    one_head = _HEAD.search(texts[1]) is not None and texts[0] != texts[1] and "*" not in texts[1]
    return texts[1] if whole and one_head else ""


def _is_share(source: Source, node: ast.AST, size: str, base: str) -> bool:
    """`C // heads` of `C`; `self.head_dim` of `self.embed_size`, where it was set to `embed_size // heads`."""
    owner = project.enclosing_class(source, node)
    found = (
        classes.assigned(owner, size.removeprefix("self.")) if owner is not None and size.startswith("self.") else []
    )
    text = source.code(found[0].value) if len(found) == 1 and found[0].value is not None else size
    whole, _, heads = text.partition("//")
    return bool(heads) and whole.strip().removeprefix("self.") == base.removeprefix("self.")


def _is_last(source: Source, given: ast.expr, base: str) -> bool:
    """`C` of `B, T, C = x.shape`, for the `x` that the layer is given; `x.size(-1)` too."""
    name = tree.dotted(given)
    if base in (f"{name}.shape[-1]", f"{name}.size(-1)"):
        return True
    for assign in source.all(ast.Assign):
        target, shape = assign.targets[0], source.code(assign.value)
        named = isinstance(target, ast.Tuple) and tree.dotted(target.elts[-1]) == base
        same = tree.function(source, assign) is tree.function(source, given)
        if named and same and shape in (f"{name}.shape", f"{name}.size()") and isinstance(given, ast.Name):
            return True
    return False

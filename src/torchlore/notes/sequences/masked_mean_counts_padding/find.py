"""The rule of masked-mean-counts-padding."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, tree
from torchlore.check.source import Hit, Source

_SHAPED = {"float", "unsqueeze", "to", "type", "type_as", "double", "half", "long", "int", "bool", "expand_as", "expand", "view",
           "reshape", "detach", "clone", "squeeze", "contiguous"}  # fmt: skip
_NAMED = re.compile(
    r"^(?:\w+_)?(?:pad|padding|non_?pad|attention|attn|seq|sequence|length|src|tgt|trg|token|text|word)_mask$"
)
_LENGTHS = re.compile(r"(?:^|[^a-z])(?:seq_?|valid_?)?len(?:gths?|s)?(?:[^a-z]|$)")
_PAD = re.compile(r"(?:^|[^a-z])pad", re.IGNORECASE)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("mean"):
        inner = call.args[0] if source.name(call.func) == "torch.mean" and call.args else tree.receiver(call)
        product = follow.followed(source, inner, 1)
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult) or _scaled(source, call):
            continue
        for mask, other in ((product.right, product.left), (product.left, product.right)):
            if _is_padding(source, mask) and not isinstance(tree.literal(other), int | float):
                code = source.code(mask)
                yield source.hit(
                    call,
                    f"`mean` divides by the padding too, which `{code}` only made 0: write `.sum(...) / {code}.sum(...)`",
                )
                break


def _scaled(source: Source, call: ast.Call) -> bool:
    """Whether the mean is multiplied or divided afterwards, which may put it right."""
    up = source.parents[call]
    return isinstance(up, ast.BinOp) and isinstance(up.op, ast.Mult | ast.Div)


def _is_padding(source: Source, node: ast.expr, hops: int = 3) -> bool:
    """Whether a tensor is 1 at the words and 0 at the padding, by how it was made or by its name."""
    while follow.method(node) in _SHAPED:
        node = tree.receiver(node)  # type: ignore[arg-type]  # method says that it is a call
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = source.code(node.left), source.code(node.comparators[0])
        if isinstance(node.ops[0], ast.NotEq):
            return bool(_PAD.search(right) or _PAD.search(left))
        ordered = isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        return (
            ordered
            and "arange" in left + right
            and bool(_LENGTHS.search(left.lower()) or _LENGTHS.search(right.lower()))
        )
    if isinstance(node, ast.Call) and follow.method(node) == "ne" and node.args:
        return bool(_PAD.search(source.code(node.args[0])))
    if isinstance(node, ast.Call):
        given = any(_LENGTHS.search(source.code(one).lower()) for one in node.args)
        return given and "mask" in tree.dotted(node.func).lower()
    value = follow.binding(source, node)
    if value is not None and hops:
        return _is_padding(source, value, hops - 1)
    return bool(_NAMED.match(tree.dotted(node).rpartition(".")[2]))

"""The rule of backward-ignores-its-gradient."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_FUNCTIONS = (
    "torch.autograd.Function",
    "torch.autograd.function.Function",
    "torch.autograd.function.InplaceFunction",
)
_MEANT = regex(r"^_|dummy|unused|ignore", re.IGNORECASE)  # the author says that it is not read
_KIND = frozenset({"dtype", "device", "shape", "size", "ndim", "dim", "is_cuda", "layout"})
_ZEROS = ("zeros", "zeros_like", "new_zeros")

WORDS = ("backward", "Function|InplaceFunction")


def find(source: Source) -> Iterator[Hit]:
    for cls in source.all(ast.ClassDef):
        if not any(source.name(base) in _FUNCTIONS for base in cls.bases):
            continue
        for method in cls.body:
            if isinstance(method, tree.FunctionNode) and method.name == "backward":
                yield from _judged(source, method)


def _judged(source: Source, method: tree.FunctionNode) -> Iterator[Hit]:
    named = [one.arg for one in tree.parameters(method)][1:]
    read = {one.id for one in tree.under(source, method, ast.Name) if not _asks_its_kind(source, one)}
    if not named or read & {*named, "locals"} or any(_MEANT.search(one) for one in named):
        return
    for one in tree.body_nodes(method):
        parts = one.value.elts if isinstance(one, ast.Return) and isinstance(one.value, ast.Tuple) else None
        whole = [one.value] if isinstance(one, ast.Return) and one.value is not None else []
        some = next((part for part in parts or whole if not _is_nothing(source, part)), None)
        if some is not None:
            told = f"`backward` never reads `{named[0]}`, so a weight of the loss, its mean or a gradient scaler changes nothing: multiply by `{named[0]}`"
            yield source.hit(some, told)
            return


def _asks_its_kind(source: Source, name: ast.Name) -> bool:
    """`grad.dtype`, `grad.size()`, `torch.ones_like(grad)`: no number of it is read."""
    up = source.parents[name]
    if isinstance(up, ast.Attribute):
        return up.attr in _KIND or up.attr.startswith("new_")
    return isinstance(up, ast.Call) and name in up.args and follow.word(source, up).endswith("_like")


def _is_nothing(source: Source, part: ast.expr) -> bool:
    """`None`, or zeros: no gradient at all."""
    made = follow.followed(source, part) or part
    if isinstance(made, ast.BinOp) and isinstance(made.left, ast.Tuple):  # `(None,) * 5`
        return all(_is_nothing(source, one) for one in made.left.elts)
    return (isinstance(made, ast.Constant) and made.value is None) or follow.word(source, made) in _ZEROS

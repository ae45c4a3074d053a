"""Two calls of randperm are two orders: shuffle images and labels with one permutation.

`x = x[torch.randperm(n)]; y = y[torch.randperm(n)]` shuffles each of them well and tears every pair apart. Nothing
fails; the model learns that labels are noise, and the loss stays at the logarithm of the number of classes.

Draw once and index everything with it: `order = torch.randperm(len(x)); x, y = x[order], y[order]`. That is
`torchlore.recipes.tensors.shuffle_together(x, y)`, which also checks that the lengths agree. `DataLoader(shuffle=True)`
shuffles whole samples and needs neither. `np.random.shuffle(x); np.random.shuffle(y)` is the same trap: each call draws an
order of its own.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any

from torchlore.check import tree, values
from torchlore.check.source import Hit, Source

ROWS = ("tensor-shuffle",)
SOURCES = ("003:114",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert good["pairs_kept"] == 1.0
    assert bad["pairs_kept"] < 0.7  # two classes: half agree by chance
    assert bad["loss"] > 0.6  # about log 2
    assert good["loss"] < 0.2


_ORDERS = ("torch.randperm", "numpy.random.permutation")
_IN_PLACE = ("numpy.random.shuffle", "random.shuffle")
_TARGET = re.compile(r"(^|_)(y|t|label|target|lab|gt|truth|mask)s?($|_)", re.IGNORECASE)


def find(source: Source) -> Iterator[Hit]:
    yield from _in_place(source)
    if not any(source.calls(*_ORDERS)):
        return
    shuffles: dict[ast.AST, list[tuple[ast.Subscript, ast.AST]]] = {}
    for node in source.all(ast.Subscript):
        order = _order(source, node.slice)
        if order is not None and isinstance(node.value, ast.Name | ast.Attribute):
            statement = tree.statement(source, node)
            if isinstance(statement, ast.Assign):
                shuffles.setdefault(source.parents[statement], []).append((node, order))
    for found in shuffles.values():
        first, its_order = found[0]
        for node, order in found[1:]:
            if order is not its_order and _pair(source, first, node):
                message = (
                    f"`{source.code(first.value)}` and `{source.code(node.value)}` are shuffled by two permutations, so "
                    "their pairs come apart: draw one, `order = torch.randperm(n)`, and index both with it"
                )
                yield source.hit(node, message)


def _order(source: Source, index: ast.expr) -> ast.AST | None:
    """The call that drew the permutation used as this index."""
    if isinstance(index, ast.Call):
        return index if source.name(index.func) in _ORDERS else None
    found = values.made_by(source, index, *_ORDERS) if isinstance(index, ast.Name) else None
    return found.node if found is not None else None


def _pair(source: Source, first: ast.Subscript, second: ast.Subscript) -> bool:
    """An input and its target, in lines that follow each other."""
    one, other = source.code(first.value), source.code(second.value)
    roles = {bool(_TARGET.search(name.rpartition(".")[2])) for name in (one, other)}
    return 0 <= second.lineno - first.lineno <= 3 and len(roles) == 2


def _in_place(source: Source) -> Iterator[Hit]:
    """`np.random.shuffle(x)` right before `np.random.shuffle(y)`, with no seed set anew between the two."""
    for call in source.calls(*_IN_PLACE):
        here = tree.statement(source, call)
        block = next((part for part in _blocks(source.parents[here]) if here in part), [])
        following = block[block.index(here) + 1] if here in block[:-1] else None
        if not isinstance(following, ast.Expr) or not isinstance(following.value, ast.Call) or len(call.args) != 1:
            continue
        other = following.value
        if source.name(other.func) != source.name(call.func) or len(other.args) != 1 or call.keywords or other.keywords:
            continue
        one, two = tree.dotted(call.args[0]), tree.dotted(other.args[0])
        words = [name.rpartition(".")[2] for name in (one, two)]
        if not one or not two or "mask" in "".join(words).lower():
            continue  # holes for inpainting are drawn apart from the images on purpose
        if len({bool(_TARGET.search(word)) for word in words}) == 2:
            told = f"`{one}` and `{two}` are shuffled by two draws, so their pairs come apart: draw one permutation and index both with it"
            yield source.hit(other, told)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        part = getattr(node, field, None)
        if isinstance(part, list):
            yield part

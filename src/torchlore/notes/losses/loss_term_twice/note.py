"""The same loss twice in one sum is one loss with another weight: one was meant to differ.

Losses come in pairs: codebook and commitment, real and fake, forward and backward, first and second view. They are written by
copying a line and changing a name or the place of a `detach()`. Where the change was forgotten, the sum is `(1 + beta)` times one
term, and the other half of the method is missing: a codebook that gets no gradient, a direction that is not learned. Both terms
print plausible numbers, since they are the same number.

Compare the two terms letter by letter and give the second one what it should compare.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator

from torchlore.check import api, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/rishikksh20/TFGAN/issues/7",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["codebook_moved"] == 0
    assert good["codebook_moved"] > 0


def find(source: Source) -> Iterator[Hit]:
    for whole in source.all(ast.BinOp):
        if not isinstance(whole.op, ast.Add) or _is_sum(source.parents[whole]):
            continue
        known: dict[str, list[ast.Call]] = defaultdict(list)
        for call in _summands(whole):
            if _is_loss(source, call) and not _draws(call):
                known[ast.dump(call)].append(call)
        for same in known.values():
            if len(same) > 1:
                yield source.hit(
                    same[1],
                    f"`{source.code(same[1])}` is in this sum twice: one of the two was meant to compare something else",
                )


def _is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)


def _summands(node: ast.expr) -> Iterator[ast.Call]:
    """The calls that are added up, with or without a factor."""
    if isinstance(node, ast.BinOp) and _is_sum(node):
        yield from (*_summands(node.left), *_summands(node.right))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from (*_factors(node.left), *_factors(node.right))
    elif isinstance(node, ast.Call):
        yield node


def _factors(node: ast.expr) -> list[ast.Call]:
    return [node] if isinstance(node, ast.Call) else []


def _is_loss(source: Source, call: ast.Call) -> bool:
    known = source.name(call.func) in api.LOSS_FUNCTIONS or any(one.kind == "loss" for one in source.values(call.func))
    return known and len(call.args) > 1


def _draws(call: ast.Call) -> bool:
    """Whether a network is called in it, whose dropout may make the two differ: R-Drop does so on purpose."""
    inner = (one for arg in call.args for one in ast.walk(arg) if isinstance(one, ast.Call))
    return any(tree.dotted(one.func).rpartition(".")[2] != "detach" for one in inner)

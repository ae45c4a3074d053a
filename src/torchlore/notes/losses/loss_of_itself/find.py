"""The rule of loss-of-itself."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, losses, scopes, tree
from torchlore.check.source import Hit, Source

WORDS = (losses.SAID,)
_SAME = {"softmax", "log_softmax", "sigmoid", "logsigmoid", "float", "contiguous", "view", "reshape", "flatten", "squeeze", "to"}  # fmt: skip


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source):
        given, wanted = (_thing(source, one) for one in (loss.input, loss.target))
        if given is None or wanted is None or given.id != wanted.id or follow.in_test(source, loss.call):
            continue
        if scopes.reaching(source, given) == scopes.reaching(source, wanted) and "inary" not in loss.name:
            told = f"both sides are made of `{given.id}`, so there is nothing to learn from their difference"
            yield source.hit(loss.call, f"{told}: compare it with its target")


def _thing(source: Source, node: ast.expr | None, hops: int = 6) -> ast.Name | None:
    """The name that is compared, behind a softmax and a temperature."""
    for _ in range(hops):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            node = node.left
        elif isinstance(node, ast.Call) and follow.word(source, node) in _SAME:
            whole = source.name(node.func).startswith("torch.")
            node = tree.argument(node, 0, "input") if whole else tree.receiver(node)
        else:
            break
    return node if isinstance(node, ast.Name) else None

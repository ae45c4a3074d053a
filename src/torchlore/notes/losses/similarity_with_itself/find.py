"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, losses, tree
from torchlore.check.source import Hit, Source

_TURNED = {"t", "T", "mT", "transpose", "permute", "swapaxes"}
_MASKED = ("diag", "eye(", "masked_fill", "masked_select", "inf", "1e9", "1e4", "mask")


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy"):
        product = _product(source, loss.input) if loss.input is not None else None
        home = tree.function(source, loss.call)
        text = source.code(home) if home is not None else source.text
        if product is None or any(word in text for word in _MASKED):
            continue
        code = source.code(product)
        yield source.hit(
            loss.call,
            f"`{code}` holds the similarity of each sample with itself as a negative: set its diagonal to -inf",
        )


def _product(source: Source, node: ast.expr) -> ast.expr | None:
    """`z @ z.T`, behind names and a temperature."""
    for _ in range(4):
        node = follow.followed(source, node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult):
            node = node.left
        else:
            break
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        sides = [node.left, node.right]
    elif isinstance(node, ast.Call) and source.name(node.func) in ("torch.mm", "torch.matmul") and len(node.args) == 2:
        sides = list(node.args)
    else:
        return None
    turned = sides[1].func if isinstance(sides[1], ast.Call) else sides[1]
    same = isinstance(turned, ast.Attribute) and turned.attr in _TURNED and isinstance(sides[0], ast.Name)
    return (
        node
        if same and isinstance(turned, ast.Attribute) and source.code(turned.value) == source.code(sides[0])
        else None
    )

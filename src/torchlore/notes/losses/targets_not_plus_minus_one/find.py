"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, grouped, loaders, losses, origin, tree
from torchlore.check.source import Hit, Source

_PLACE = {"CosineEmbeddingLoss": 2, "cosine_embedding_loss": 2, "MarginRankingLoss": 2, "margin_ranking_loss": 2,
          "HingeEmbeddingLoss": 1, "hinge_embedding_loss": 1, "SoftMarginLoss": 1, "soft_margin_loss": 1}  # fmt: skip
_WRAPS = {"torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.FloatTensor", "numpy.array", "numpy.asarray",
          "numpy.float32", "float"}  # fmt: skip
_CASTS = {"float", "long", "int", "to", "type", "double", "cuda", "squeeze", "unsqueeze", "view", "reshape", "view_as"}
WORDS = (losses.SAID,)


def find(source: Source) -> Iterator[Hit]:
    if not any(word in source.text for word in ("mbedding", "argin")):
        return
    for loss in losses.loss_calls(source, *_PLACE):
        target = tree.argument(loss.call, _PLACE[loss.name.rpartition(".")[2]], "target")
        if target is not None and _holds_zeros(source, target):
            code = source.code(target)
            yield source.hit(loss.call, f"`{code}` is 0 or 1, and this loss takes -1 and 1: give it `2 * {code} - 1`")


def _holds_zeros(source: Source, node: ast.expr, hops: int = 6) -> bool:
    """A comparison turned into numbers, zeros, or a draw of 0 and 1."""
    home, made = origin.origin(source, node)
    while (inner := _inside(home, made)) is not None:
        home, made = origin.origin(home, inner)
    if (part := loaders.sampled(home, made)) is not None and hops:
        return _holds_zeros(*part, hops - 1)
    if isinstance(made, ast.IfExp):  # `1.0 if same else 0.0`
        return {tree.literal(made.body), tree.literal(made.orelse)} == {0, 1}
    if isinstance(made, ast.Compare):
        return not any(isinstance(one, ast.In | ast.NotIn | ast.Is | ast.IsNot) for one in made.ops)
    if isinstance(made, ast.BinOp):
        return isinstance(made.op, ast.Mod) and tree.literal(made.right) == 2
    return isinstance(made, ast.Call) and _makes_zeros(home, made, hops)


def _makes_zeros(home: Source, made: ast.Call, hops: int) -> bool:
    """Zeros, a draw of 0 and 1, and what is joined of such."""
    full = home.name(made.func)
    if full in ("torch.cat", "torch.concat") and made.args and isinstance(made.args[0], ast.Tuple | ast.List) and hops:
        return any(_holds_zeros(home, one, hops - 1) for one in made.args[0].elts)
    drawn = [tree.literal(one) for one in made.args[:2]]
    zeros = full in ("torch.zeros", "torch.zeros_like") and not _filled(home, made)
    return zeros or full == "torch.eq" or (full == "torch.randint" and drawn == [0, 2])


def _filled(source: Source, zeros: ast.Call) -> bool:
    """`target = torch.zeros(n)`, and below `target[worse] = -1`, or a number that cannot be seen."""
    made = tree.statement(source, zeros)
    name = tree.dotted(made.targets[0]) if isinstance(made, ast.Assign) else ""
    home = tree.function(source, made)
    filled = [one for one in grouped.stored(source) if name and tree.dotted(one.value) == name]
    stores = [source.parents[one] for one in filled if tree.function(source, one) is home]
    numbers = [tree.literal(one.value) if isinstance(one, ast.Assign) else None for one in stores]
    return any(not isinstance(one, int | float) or one < 0 for one in numbers)


def _inside(source: Source, node: ast.expr) -> ast.expr | None:
    """What is cast, wrapped or taken rows of: `label` of `label[rows]`, of `torch.tensor(label)`, of `label.float()`."""
    if isinstance(node, ast.Subscript) and not isinstance(tree.literal(node.slice), str):
        return node.value
    if isinstance(node, ast.Call) and source.name(node.func) in _WRAPS and node.args:
        return node.args[0]
    return tree.receiver(node) if isinstance(node, ast.Call) and _casts(source, node) else None


def _casts(source: Source, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and follow.method(node) in _CASTS and not source.name(node.func)

"""The rule of shifted-along-the-batch."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, losses, scopes, tree
from torchlore.check.source import Hit, Source

_LAYERS = (
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "Transformer",
    "MultiheadAttention",
    "LSTM",
    "GRU",
    "RNN",
)
_TURNS = ("t", "transpose", "permute", "swapaxes")
_FLAT = ("reshape", "view", "flatten")

WORDS = ("batch_first",)


def find(source: Source) -> Iterator[Hit]:
    layers = list(source.calls(*(f"torch.nn.{name}" for name in _LAYERS)))
    if not layers or not all(tree.literal(tree.argument(one, None, "batch_first")) is True for one in layers):
        return
    text = source.text.replace(" ", "")
    if "[1:]" not in text and "[1:,:]" not in text:
        return
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"):
        flat = loss.target
        if not (isinstance(flat, ast.Call) and follow.method(flat) in _FLAT):
            continue
        label = follow.followed(source, tree.receiver(flat))
        label = _element(source, tree.receiver(flat)) or label
        whole = _cut(label, "1:")
        if whole and _input_cut(source, loss.call, whole) and not _turned(source, loss.call, whole):
            told = f"`{source.code(label)}` drops the first sample, the batch comes first here: shift along the length, `{whole}[:, :-1]`"
            yield source.hit(label, f"{told} and `{whole}[:, 1:]`")


def _element(source: Source, node: ast.expr) -> ast.expr | None:
    """`b` of `x, y = a, b`."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    value = bound[0].value if len(bound) == 1 and len(bound[0].path) == 1 else None
    return value.elts[bound[0].path[0]] if isinstance(value, ast.Tuple) and bound[0].path[0] < len(value.elts) else None


def _cut(node: ast.expr, kind: str) -> str:
    """`tgt` of `tgt[1:]` and `tgt[1:, :]`, or of `tgt[:-1]`."""
    if not isinstance(node, ast.Subscript):
        return ""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    first = parts[0] if parts else None
    rest = all(isinstance(one, ast.Slice) and one.lower is one.upper is None for one in parts[1:])
    if not isinstance(first, ast.Slice) or first.step is not None or not rest:
        return ""
    low, high = (tree.literal(one) if one is not None else None for one in (first.lower, first.upper))
    fits = (low == 1 and high is None) if kind == "1:" else (low is None and high == -1)
    return tree.dotted(node.value) if fits else ""


def _input_cut(source: Source, near: ast.AST, whole: str) -> bool:
    home = tree.function(source, near) or source.tree
    return any(_cut(one, ":-1") == whole for one in tree.under(source, home, ast.Subscript))


def _turned(source: Source, near: ast.AST, whole: str) -> bool:
    """Whether the function turns it round before."""
    home = tree.function(source, near) or source.tree
    calls = tree.under(source, home, ast.Call)
    return any(follow.method(one) in _TURNS and tree.dotted(tree.receiver(one)) == whole for one in calls) or any(
        isinstance(one, ast.Attribute) and one.attr == "T" for one in tree.under(source, home, ast.Attribute)
    )

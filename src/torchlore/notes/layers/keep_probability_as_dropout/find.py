"""The rule of keep-probability-as-dropout."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, follow, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_KEEP = regex(
    r"keep_?(prob|rate|ratio|chance|frac)|keep_?p$|(^|_)p(rob)?_?(to_)?keep|retain_?(prob|rate)", re.IGNORECASE
)
_DROPS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
_PLACES: dict[str, tuple[int | None, str]] = {
    **{f"torch.nn.{name}": (0, "p") for name in _DROPS},
    **{f"torch.nn.functional.{name}": (1, "p") for name in ("dropout", "dropout1d", "dropout2d", "dropout3d")},
    **{f"torch.nn.{name}": (None, "dropout") for name in ("LSTM", "GRU", "RNN")},
    **{f"torch.nn.{name}": (3, "dropout") for name in ("TransformerEncoderLayer", "TransformerDecoderLayer")},
    "torch.nn.MultiheadAttention": (2, "dropout"),
}
WORDS = ("|".join(one.rpartition(".")[2] for one in _PLACES),)


def find(source: Source) -> Iterator[Hit]:
    if "keep" not in source.text and "Keep" not in source.text and "retain" not in source.text:
        return
    for call in source.calls(*_PLACES):
        place, word = _PLACES[source.name(call.func)]
        given = tree.argument(call, place, word)
        if given is None or not _KEEP.search(_word(given)) or _turned_round(source, given):
            continue
        known = _numbers(source, given)
        if known and max(known) <= 0.5:
            continue  # dropped as it should be, under another name
        code = source.code(given)
        told = f"`{code}` says how much is kept, and this zeroes that share: write `1 - {code}`"
        fix = edits.replace(source, given, f"1 - {code}")
        yield source.hit(given, told, fix, safe=False, severity="warning" if known else "hint")  # the name alone


def _word(node: ast.expr) -> str:
    """`keep_prob` of `keep_prob`, `hp.keep_prob`, `cfg["keep_prob"]` and `cfg.get("keep_prob", 0.9)`."""
    key = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(node, ast.Call) and follow.method(node) == "get" and node.args:
        key = node.args[0]
    return str(tree.literal(key)) if key is not None else tree.dotted(node).rpartition(".")[2]


def _turned_round(source: Source, node: ast.expr) -> bool:
    """`keep_prob = 1 - keep_prob` further up."""
    made = follow.followed(source, node)
    return isinstance(made, ast.BinOp) and isinstance(made.op, ast.Sub)


def _numbers(source: Source, node: ast.expr) -> list[float]:
    """The numbers it is known to be."""
    if isinstance(node, ast.Call) and len(node.args) == 2:
        node = node.args[1]  # `cfg.get("keep_prob", 0.9)`
    given = [one.node for one in source.values(node) if one.kind == "number"]
    known = [tree.literal(one) for one in given if isinstance(one, ast.expr)]
    return [one for one in known if isinstance(one, int | float)]

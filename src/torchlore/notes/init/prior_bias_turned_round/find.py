"""The rule of prior-bias-turned-round."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree
from torchlore.check.source import Hit, Source

_LOGS = ("math.log", "numpy.log", "torch.log")
_RARE = ("prior", "prior_prob", "pi", "p", "prob", "prior_probability", "init_prob")
WORDS = ("log", "bias", "constant_|fill_")


def find(source: Source) -> Iterator[Hit]:
    if ".bias" not in source.text or "log(" not in source.text:
        return
    filled = [
        (call, call.args[0], call.args[1]) for call in source.calls("torch.nn.init.constant_") if len(call.args) == 2
    ]
    filled += [(call, tree.receiver(call), call.args[0]) for call in source.methods("fill_") if len(call.args) == 1]
    for call, bias, value in filled:
        if not tree.dotted(bias).removesuffix(".data").endswith(".bias"):
            continue
        prior = _odds_against(source, follow.followed(source, value))
        if prior:
            yield source.hit(
                call,
                f"this is the logarithm of the odds against `{prior}`, so all start positive: put a minus before it",
            )


def _odds_against(source: Source, node: ast.expr) -> str:
    """`p` of `log((1 - p) / p)`, where `p` is small."""
    if not isinstance(node, ast.Call) or source.name(node.func) not in _LOGS or len(node.args) != 1:
        return ""
    ratio = node.args[0]
    rest = ratio.left if isinstance(ratio, ast.BinOp) and isinstance(ratio.op, ast.Div) else None
    turned = isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Sub) and tree.literal(rest.left) == 1
    if not turned or not isinstance(rest, ast.BinOp) or not isinstance(ratio, ast.BinOp):
        return ""
    if ast.dump(rest.right) != ast.dump(ratio.right):
        return ""
    number = tree.literal(follow.followed(source, ratio.right))
    named = tree.dotted(ratio.right).rpartition(".")[2].lower() in _RARE
    small = isinstance(number, int | float) and 0 < number < 0.5
    return source.code(ratio.right) if small or (named and not isinstance(number, int | float)) else ""

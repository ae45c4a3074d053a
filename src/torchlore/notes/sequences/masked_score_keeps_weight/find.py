"""The rule of masked-score-keeps-weight."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, grouped, tree, uses
from torchlore.check.source import Hit, Source

_SOFTMAX = ("torch.softmax", "torch.nn.functional.softmax", "torch.nn.functional.log_softmax", "torch.log_softmax")

_WEIGHS = ("matmul", "bmm", "einsum", "mul")
_SHARES = ("torch.softmax", "torch.nn.functional.softmax")  # a log-softmax may be masked with -inf
_SAME = {
    "unsqueeze",
    "squeeze",
    "float",
    "to",
    "type_as",
    "expand",
    "expand_as",
    "view",
    "reshape",
    "repeat",
    "transpose",
}


_MASK = re.compile(r"mask|^(keep|valid|is_valid|attend)$")
_LEFT = re.compile(r"\.sum\(|normali[sz]e|\binf\b|-inf|1e-?\d|masked_fill|finfo|-1000")

WORDS = ("unsqueeze|softmax|log_softmax",)


def find(source: Source) -> Iterator[Hit]:
    if not uses.says(source, "softmax") or not uses.says(source, "mask", "keep", "valid"):
        return
    yield from (
        (*_over_queries(source), *_too_late(source), *_minus_inf_late(source)) if "masked_fill" in source.text else ()
    )
    yield from _taken_out_late(source)
    given = [call.args[0] for call in source.calls(*_SOFTMAX) if call.args]
    given += [
        one
        for call in source.methods("softmax", "log_softmax")
        if source.name(call.func) not in _SOFTMAX
        for one in (tree.receiver(call), *call.args[:1])  # a tensor's own method, or a layer of that name
    ]
    for scores in (value for one in given for value in follow.possible(source, follow.followed(source, one))):
        if isinstance(scores, ast.Call) and follow.method(scores) in ("masked_fill", "masked_fill_"):
            value = tree.literal(tree.argument(scores, 1, "value"))
            number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e-3
            if number and (value or _hides(source, scores)):
                told = f"{value:g} is as good as 0, and a softmax gives it its share: fill with -1e9 or float('-inf')"
                yield source.hit(scores, told)
        elif isinstance(scores, ast.BinOp) and isinstance(scores.op, ast.Mult):
            mask = next((side for side in (scores.left, scores.right) if "mask" in _bare(side).lower()), None)
            soft = mask is not None and "sigmoid" in source.code(mask)  # a gate that is learned, no mask
            if mask is not None and not soft and _is_score(source, scores, mask):
                told = f"a masked score is 0 here, and a softmax gives it its share: `masked_fill({source.code(mask)} == 0, float('-inf'))`"
                yield source.hit(scores, told)


def _too_late(source: Source) -> Iterator[Hit]:
    """`weights = scores.softmax(-1)`, then `weights.masked_fill(mask == 0, 0)`: what is left does not sum to 1."""
    fills = [*source.methods("masked_fill", "masked_fill_")]
    for fill in fills:
        home, made = tree.function(source, fill), follow.followed(source, tree.receiver(fill))
        soft = isinstance(made, ast.Call) and (follow.method(made) == "softmax" or source.name(made.func) in _SOFTMAX)
        others = [one for one in fills if one is not fill and tree.function(source, one) is home]
        if not soft or others or home is None or tree.literal(tree.argument(fill, 1, "value")) != 0:
            continue
        given = fill.args[0] if fill.args else fill
        if "mask" in source.code(given).lower() and not re.search(
            r"\.sum\(|normali[sz]e|inf|1e-?\d|dropout", source.code(home)
        ):
            told = "the softmax has shared its 1 with what is masked, and what is left does not sum to 1: mask the scores with -inf before it"
            yield source.hit(fill, told, severity="warning")


def _minus_inf_late(source: Source) -> Iterator[Hit]:
    """`weights = scores.softmax(-1)`, then `weights.masked_fill(mask, float("-inf"))`: scores are masked so, weights become infinite."""
    for fill in source.methods("masked_fill", "masked_fill_"):
        value, where = tree.argument(fill, 1, "value"), fill.args[0] if fill.args else fill
        low = isinstance(value, ast.Call) and source.name(value.func) == "float" and len(value.args) == 1
        low &= isinstance(value, ast.Call) and tree.literal(value.args[0]) == "-inf"
        number = tree.literal(value)
        low |= isinstance(number, int | float) and not isinstance(number, bool) and number <= -1e4
        home, made = tree.function(source, fill), follow.followed(source, tree.receiver(fill))
        soft = isinstance(made, ast.Call) and source.name(made.func) in _SHARES
        soft |= isinstance(made, ast.Call) and follow.method(made) == "softmax" and not source.name(made.func)
        if (
            not low
            or not soft
            or home is None
            or not re.search("mask|pad|valid|triu|tril", source.code(where), re.IGNORECASE)
        ):
            continue
        later = (*source.calls(*_SOFTMAX), *source.methods("softmax", "topk", "argmax", "max", "exp"))
        ranked = any(one.lineno >= fill.lineno and tree.function(source, one) is home for one in later)
        if not ranked and _multiplies_below(source, home, fill):
            told = f"the softmax is done already, so this puts a weight of `{source.code(value or fill)}` where 0 is meant: mask the scores before the softmax"
            yield source.hit(fill, told, severity="warning")


def _multiplies_below(source: Source, home: tree.FunctionNode, fill: ast.Call) -> bool:
    """Whether something is weighed in this line or below: what is only given back may be there to be ranked."""
    products = (one for one in tree.under(source, home, ast.BinOp) if isinstance(one.op, ast.MatMult | ast.Mult))
    joined = (one for one in tree.under(source, home, ast.Call) if follow.word(source, one) in _WEIGHS)
    return any((one.end_lineno or one.lineno) >= fill.lineno for one in (*products, *joined))


def _taken_out_late(source: Source) -> Iterator[Hit]:
    """`weights = scores.softmax(-1) * mask` and `weights @ v`: what is left does not sum to 1."""
    for product in grouped.operations(source, ast.Mult):
        mask = next((one for one in (product.left, product.right) if _MASK.search(_bare(one).lower())), None)
        whole = mask is not None and re.search("quer|row|(^|_)q_", _bare(mask).lower())  # rows that nobody reads
        home = tree.function(source, product) if mask is not None and not whole else None
        if mask is None or home is None or not _weighs(source, product):
            continue
        made = follow.followed(source, product.right if mask is product.left else product.left)
        soft = isinstance(made, ast.Call) and (follow.method(made) == "softmax" or source.name(made.func) in _SOFTMAX)
        if soft and not _LEFT.search(source.code(home)):
            told = "the softmax has shared its 1 with what is masked, and what is left does not sum to 1: mask the scores with -inf before it"
            yield source.hit(product, told, severity="warning")


def _weighs(source: Source, product: ast.BinOp) -> bool:
    """Whether what comes out is the left side of a matrix product: the weights of an attention."""
    held = source.parents[product]
    name = held.targets[0] if isinstance(held, ast.Assign) and held.value is product else None
    home = tree.function(source, product)
    if not isinstance(name, ast.Name) or home is None:
        return False
    for node in tree.body_nodes(home):
        first = node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) else None
        if isinstance(node, ast.Call) and follow.word(source, node) in ("matmul", "bmm"):
            first = node.args[0] if source.name(node.func) and node.args else tree.receiver(node)
        if isinstance(first, ast.Name) and first.id == name.id and first.lineno > product.lineno:
            return True
    return False


def _over_queries(source: Source) -> Iterator[Hit]:
    """`(src != pad).unsqueeze(1).unsqueeze(3)`: the padding is masked as what asks, not as what is looked at."""
    for call in source.methods("unsqueeze"):
        inner = tree.receiver(call)
        last = tree.literal(call.args[0]) in (3, -1) if len(call.args) == 1 else False
        if not last or not isinstance(inner, ast.Call) or follow.method(inner) != "unsqueeze" or len(inner.args) != 1:
            continue
        which = tree.receiver(inner)
        compared = isinstance(which, ast.Compare) and isinstance(which.ops[0], ast.Eq | ast.NotEq)
        padding = compared and isinstance(which, ast.Compare) and "pad" in source.code(which).lower()
        statement = tree.statement(source, call)
        alone = getattr(statement, "value", None) is call
        home = tree.function(source, call)
        name = tree.dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else getattr(home, "name", "")
        joined = re.search(r"tril|triu|subsequent|causal|&", source.code(home)) if home is not None else None
        if tree.literal(inner.args[0]) == 1 and padding and alone and "mask" in name.lower() and joined is None:
            told = "this mask is 0 for whole rows of queries, and every word still looks at the padding"
            yield source.hit(call, f"{told}: write `.unsqueeze(1).unsqueeze(2)`")


def _bare(node: ast.expr) -> str:
    """`mask` of `mask[:, None]`, `self.mask.unsqueeze(1).float()`."""
    while isinstance(node, ast.Subscript) or follow.method(node) in _SAME:
        node = node.value if isinstance(node, ast.Subscript) else tree.receiver(node)  # type: ignore[arg-type]  # a call
    return tree.dotted(node).rpartition(".")[2] or follow.base(node)


def _hides(source: Source, filled: ast.Call) -> bool:
    """Whether a fill with 0 is there to hide something: what is filled is a mask and a score, by their names."""
    where = source.code(filled.args[0]).lower() if filled.args else ""
    words = ("score", "attn", "att", "energy", "logit", "sim")
    return "mask" in where and any(word in source.code(tree.receiver(filled)).lower() for word in words)


def _is_score(source: Source, product: ast.BinOp, mask: ast.expr) -> bool:
    """Whether the other side is made of a matrix product or named a score, and nothing large is taken off."""
    other = product.right if mask is product.left else product.left
    code = source.code(follow.followed(source, other)).lower()
    words = ("score", "attn", "att", "energy", "matmul", "@", "bmm", "einsum")
    return (
        any(word in code or word in source.code(other).lower() for word in words)
        and "1e" not in source.code(product).lower()
    )

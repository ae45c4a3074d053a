"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_LOGS = regex(r"log_?p|logp|neglogp", re.IGNORECASE)

_OLD = regex(r"(?:^|[^a-z])(?:old|prev|behaviou?r)(?:$|[^a-z])", re.IGNORECASE)
_NEGATED = regex(r"neg|nll|ce\b|entropy", re.IGNORECASE)  # minus the logarithms: the old ones come first
WORDS = ("clamp|clip",)


def find(source: Source) -> Iterator[Hit]:
    for call in (*source.methods("clamp", "clip"), *source.calls("torch.clamp", "torch.clip")):
        given = _around_one(source, call)
        ratio = follow.followed(source, given) if given is not None else None
        if given is None or ratio is None:
            continue
        code = source.code(given)
        if (
            isinstance(ratio, ast.BinOp)
            and isinstance(ratio.op, ast.Mult)
            and _has_ratio(source, ratio)
            and not _factor(source, call)
        ):
            yield source.hit(
                call,
                f"`{code}` holds the advantage already: clamp the ratio to 1 - eps and 1 + eps, then multiply with the advantage",
            )
        elif isinstance(ratio, ast.BinOp) and isinstance(ratio.op, ast.Sub) and _both_logs(source, ratio):
            yield source.hit(
                ratio,
                f"the difference of log-probabilities is around 0, and it is clipped around 1: write `torch.exp({source.code(ratio)})`",
            )
        elif isinstance(ratio, ast.BinOp) and isinstance(ratio.op, ast.Div) and _both_logs(source, ratio):
            told = f"logarithms are divided here, and the ratio is that of the probabilities: write `torch.exp({source.code(ratio.left)} - {source.code(ratio.right)})`"
            yield source.hit(ratio, told)
        elif (turned := _turned_round(source, ratio)) is not None:
            told = f"this is the old probability over the new one, and the surrogate wants the new over the old: write `{source.code(turned.right)} - {source.code(turned.left)}`"
            yield source.hit(turned, told)
        elif (old := _of_this_turn(source, ratio)) is not None:
            yield source.hit(
                old, "these are the log-probabilities of this very turn, so the ratio is 1 and nothing is clipped: take them once, before the loop"
            )  # fmt: skip
        elif larger := _larger(source, call):
            yield source.hit(
                larger, "minus the larger of the two surrogates never holds the policy back: write `torch.min`"
            )


def _turned_round(source: Source, ratio: ast.expr) -> ast.BinOp | None:
    """`torch.exp(old_logp - logp)`, by their names."""
    given = ratio.args[0] if isinstance(ratio, ast.Call) and ratio.args else None
    if isinstance(ratio, ast.Call) and follow.method(ratio) == "exp" and not ratio.args:
        given = tree.receiver(ratio)
    gap = follow.followed(source, given) if given is not None and isinstance(ratio, ast.Call) else None
    if follow.word(source, ratio) != "exp" or not isinstance(gap, ast.BinOp) or not isinstance(gap.op, ast.Sub):
        return None
    one, other = source.code(gap.left), source.code(gap.right)
    return gap if _OLD.search(one) and not _OLD.search(other) and not _NEGATED.search(one + other) else None


def _of_this_turn(source: Source, ratio: ast.expr) -> ast.AST | None:
    """`old = logp.detach()` in the loop that goes over the same states again: where `old` is made."""
    given = ratio.args[0] if isinstance(ratio, ast.Call) and ratio.args else None
    if isinstance(ratio, ast.Call) and follow.method(ratio) == "exp" and not ratio.args:
        given = tree.receiver(ratio)
    gap = follow.followed(source, given) if given is not None else None
    if not isinstance(gap, ast.BinOp) or not isinstance(gap.op, ast.Sub):
        return None
    held = scopes.reaching(source, gap.right) if isinstance(gap.right, ast.Name) else []
    if isinstance(gap.left, ast.Call) and len(held) == 1:
        return _made_twice(source, gap.left, held[0])
    sides = [scopes.reaching(source, one) if isinstance(one, ast.Name) else [] for one in (gap.left, gap.right)]
    new, old = (one[0] if len(one) == 1 else None for one in sides)
    if new is None or old is None or new.value is None or old.value is None:
        return None
    loop = next((one for one in tree.loops(source, old.statement) if isinstance(one, ast.For)), None)
    copied = isinstance(old.value, ast.Call) and follow.method(old.value) == "detach"
    copied = (
        copied and isinstance(old.value, ast.Call) and tree.dotted(tree.receiver(old.value)) == tree.dotted(gap.left)
    )
    again = source.code(_bare(old.value)) == source.code(_bare(new.value))
    return old.statement if loop is not None and (copied or again) and _repeats(source, loop, new) else None


def _bare(node: ast.expr) -> ast.expr:
    """`self.policy.evaluate(s, a)` of `self.policy.evaluate(s, a)[0].detach()`."""
    while isinstance(node, ast.Subscript) or follow.method(node) in ("detach", "clone", "squeeze"):
        node = node.value if isinstance(node, ast.Subscript) else tree.receiver(node)  # type: ignore[arg-type]  # a call
    return node


def _made_twice(source: Source, new: ast.Call, old: scopes.Binding) -> ast.AST | None:
    """`dist.log_prob(a)` beside `old = net(obs)[0].log_prob(a)` of the same turn: one net, the same states, no step between."""
    loop = next((one for one in tree.loops(source, new) if isinstance(one, ast.For)), None)
    same = isinstance(old.value, ast.Call) and follow.method(old.value) == follow.method(new) == "log_prob"
    if loop is None or not same or not isinstance(old.value, ast.Call) or not tree.inside(source, old.statement, loop):
        return None
    if next(iter(tree.loops(source, old.statement)), None) is not loop or source.code(new.args[0]) != source.code(
        old.value.args[0]
    ):
        return None
    made = []
    for one in (new, old.value):
        bound = (
            scopes.reaching(source, one.func.value)
            if isinstance(one.func, ast.Attribute) and isinstance(one.func.value, ast.Name)
            else []
        )
        made.append(bound[0].value if len(bound) == 1 and bound[0].value is not None else tree.receiver(one))
    nets = [
        [
            source.code(part)
            for part in ast.walk(one)
            if isinstance(part, ast.Call) and values.sure(source, part.func, "module")
        ]
        for one in made
    ]
    return old.statement if nets[0] and nets[0][:1] == nets[1][:1] else None


def _repeats(source: Source, loop: ast.For, new: scopes.Binding) -> bool:
    """Whether a loop over a range computes this from what was there before it."""
    value = new.value if tree.inside(source, new.statement, loop) else None
    given = [one for one in ast.walk(value) if isinstance(one, ast.Name)] if value is not None else []
    made = [bound for one in given for bound in scopes.reaching(source, one)]
    fresh = any(bound.how != "parameter" and tree.inside(source, bound.statement, loop) for bound in made)
    return isinstance(loop.iter, ast.Call) and source.name(loop.iter.func) == "range" and bool(made) and not fresh


def _around_one(source: Source, call: ast.Call) -> ast.expr | None:
    """What is clamped to `1 - eps` and `1 + eps`; None where it is clamped to something else."""
    plain = source.name(call.func) in ("torch.clamp", "torch.clip")
    if plain and not call.args:
        return None
    limits = [tree.argument(call, index + plain, name) for index, name in enumerate(("min", "max"))]
    low, high = (tree.literal(one) for one in limits)
    if isinstance(low, float) and isinstance(high, float):
        return (
            (call.args[0] if plain else tree.receiver(call)) if 0.5 <= low < 1 and abs(low + high - 2) < 1e-6 else None
        )
    sides = [(one.op, tree.literal(one.left), source.code(one.right)) for one in limits if isinstance(one, ast.BinOp)]
    if len(sides) != 2 or not isinstance(sides[0][0], ast.Sub) or not isinstance(sides[1][0], ast.Add):
        return None
    if sides[0][1] not in (1, 1.0) or sides[1][1] not in (1, 1.0) or sides[0][2] != sides[1][2]:
        return None
    return call.args[0] if plain else tree.receiver(call)


def _has_ratio(source: Source, product: ast.BinOp) -> bool:
    """Whether a factor is called a ratio, or is an exponential or a quotient."""
    for one in (product.left, product.right):
        made = follow.followed(source, one)
        quotient = isinstance(made, ast.BinOp) and isinstance(made.op, ast.Div)
        exponent = follow.method(made) == "exp" or (
            isinstance(made, ast.Call) and source.name(made.func) == "torch.exp"
        )
        if "ratio" in tree.dotted(one).lower() or quotient or exponent:
            return True
    return False


def _factor(source: Source, call: ast.Call) -> bool:
    up = source.parents[call]
    return isinstance(up, ast.BinOp) and isinstance(up.op, ast.Mult)


def _both_logs(source: Source, difference: ast.BinOp) -> bool:
    return all(_LOGS.search(source.code(one)) for one in (difference.left, difference.right))


def _larger(source: Source, call: ast.Call) -> ast.Call | None:
    """`torch.max` of the clipped and the plain surrogate with a minus before it, where neither has one."""
    product = source.parents[call]
    if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult) or _minus(product):
        return None
    held = source.parents[product]
    name = held.targets[0].id if isinstance(held, ast.Assign) and isinstance(held.targets[0], ast.Name) else ""
    for one in source.calls("torch.max", "torch.maximum"):
        pair = [follow.followed(source, arg) for arg in one.args]
        mine = tree.function(source, one) is tree.function(source, call) and (
            product in pair or name in map(tree.dotted, one.args)
        )
        if mine and len(pair) == 2 and not any(_minus(part) for part in pair) and _negated(source, one):
            return one
    return None


def _minus(node: ast.AST) -> bool:
    return any(isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.USub) for one in ast.walk(node))


def _negated(source: Source, node: ast.expr) -> bool:
    """Whether a minus stands before it, or before its mean."""
    up = source.parents[node]
    while isinstance(up, ast.Attribute | ast.Call):
        up = source.parents[up]
    return isinstance(up, ast.UnaryOp) and isinstance(up.op, ast.USub)

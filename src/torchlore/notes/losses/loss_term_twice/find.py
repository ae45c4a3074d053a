"""What a file shows of it."""

import ast
import itertools
from collections import defaultdict
from collections.abc import Iterator

from torchlore.check import api, flow, grouped, scopes, terms, tree
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
    yield from (*_mixed(source), *_differentiated_twice(source))
    for whole in grouped.operations(source, ast.Add):
        if _is_sum(source.parents[whole]):
            continue
        known: dict[str, list[ast.Call]] = defaultdict(list)
        for call in _given_the_same(_summands(whole)):
            if not _draws(call) and _is_loss(source, call):
                known[_told_apart_by(source, call)].append(call)
        for same in known.values():
            if len(same) > 1:
                yield source.hit(
                    same[1],
                    f"`{source.code(same[1])}` is in this sum twice: one of the two was meant to compare something else",
                )


def _given_the_same(calls: list[ast.Call]) -> list[ast.Call]:
    """The calls that are given the same as another one of them, and two things at least."""
    calls = [call for call in calls if len(call.args) > 1] if len(calls) > 1 else []
    given = [" ".join(ast.dump(one) for one in (*call.args, *call.keywords)) for call in calls]
    return [call for call, text in zip(calls, given, strict=True) if given.count(text) > 1]


def _told_apart_by(source: Source, call: ast.Call) -> str:
    """What is called with what; two attributes that hold a loss made in the same way are one."""
    made = [one for one in source.values(call.func) if one.kind == "loss" and isinstance(one.node, ast.Call)]
    own = isinstance(call.func, ast.Attribute) and tree.dotted(call.func).startswith("self.") and len(made) == 1
    if not own or not isinstance(made[0].node, ast.Call) or not made[0].name.startswith("torch.nn."):
        return ast.dump(call)
    return " ".join(ast.dump(one) for one in (made[0].node, *call.args, *call.keywords))


def _differentiated_twice(source: Source) -> Iterator[Hit]:
    """`a.backward(retain_graph=True)`, and then `(a + b).backward()` in the same step: the gradients of `a` add up."""
    for loop in flow.training_loops(source) if "retain_graph" in source.text else ():
        turn = [one for one in loop.events if one.what in ("backward", "step", "zero_grad")]
        for one, other in itertools.pairwise(turn):
            both = (
                one.what == other.what == "backward"
                and one.source is source is other.source
                and one.node is not other.node
            )
            part, whole = (one.expr, other.expr) if both else (None, None)
            if not isinstance(part, ast.Name) or whole is None or one.conditions != other.conditions:
                continue
            summands = [term for term, _ in terms.terms(source, whole)]
            first = scopes.reaching(source, part)
            same = [name for term in summands for name in _factored(term) if name.id == part.id and scopes.reaching(source, name) == first]  # fmt: skip
            if same and len(summands) > 1:
                told = f"`{part.id}` was differentiated on line {part.lineno} and is a part of this too, so its gradients count twice: leave the first `backward()` out"
                yield source.hit(other.node, told)


def _factored(term: ast.expr) -> list[ast.Name]:
    """`x` of `x` and of `0.1 * x`."""
    parts = (
        [term.left, term.right] if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult | ast.Div) else [term]
    )
    return [one for one in parts if isinstance(one, ast.Name)]


def _mixed(source: Source) -> Iterator[Hit]:
    """`lam * crit(out, a) + lam * crit(out, b)` in a file that mixes with `1 - lam`."""
    for whole in grouped.operations(source, ast.Add) if "1 - " in source.text or "1. - " in source.text else ():
        first, second = _weighed(whole.left), _weighed(whole.right)
        if first is None or second is None or first[0].id != second[0].id:
            continue
        one, two, lam = first[1], second[1], first[0].id
        same = ast.dump(one.func) == ast.dump(two.func) and len(one.args) == len(two.args) == 2
        pair = (
            same and ast.dump(one.args[0]) == ast.dump(two.args[0]) and ast.dump(one.args[1]) != ast.dump(two.args[1])
        )
        if pair and any(f"{number} - {lam}" in source.text for number in ("1", "1.", "1.0")):
            yield source.hit(second[0], f"both targets are weighed with `{lam}`: the second one gets `(1 - {lam})`")


def _weighed(node: ast.expr) -> tuple[ast.Name, ast.Call] | None:
    """`lam` and the call of `lam * crit(out, y)`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(one, ast.Name) and isinstance(other, ast.Call):
            return one, other
    return None


def _is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)


def _summands(node: ast.expr) -> list[ast.Call]:
    """The calls that are added up, with or without a factor."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_summands(node.left), *_summands(node.right)]
    factors = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else (node,)
    return [one for one in factors if isinstance(one, ast.Call)]


def _is_loss(source: Source, call: ast.Call) -> bool:
    return source.name(call.func) in api.LOSS_FUNCTIONS or any(one.kind == "loss" for one in source.values(call.func))


def _draws(call: ast.Call) -> bool:
    """Whether a network is called in it, whose dropout may make the two differ: R-Drop does so on purpose."""
    inner = (one for arg in call.args for one in ast.walk(arg) if isinstance(one, ast.Call))
    return any(tree.dotted(one.func).rpartition(".")[2] != "detach" for one in inner)

"""The rule of evaluation-scaled-otherwise."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchlore.check import follow, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_EVAL = regex(r"(^|_)(val|valid|validation|test|testing|eval|evaluation|dev)s?(_|$|\d)|^(val|test|eval)trans")
_TRAIN = regex(r"(^|_)(train|training|trn)(_|$|\d)|^traintrans")
_TRANSFORM = regex("transform|tfm|trans|aug|preproc|tf$|compose")
_TENSOR = ("ToTensor", "ToTensorV2", "ToDtype", "ConvertImageDtype")


class Chain(NamedTuple):
    """A `Compose` with the name it was given."""

    name: str
    role: str  # train or eval
    call: ast.Call
    steps: list[ast.Call]
    home: ast.AST | None  # the function it stands in


WORDS = ("Normalize", "Compose")


def find(source: Source) -> Iterator[Hit]:
    if "Normalize(" not in source.text or "Compose(" not in source.text:
        return
    chains = [] if _measures(source) else list(_chains(source))
    for one in chains:
        partners = [other for other in chains if other.role != one.role and other.home is one.home]
        again = [
            other for other in chains if other.name == one.name and other.home is one.home
        ]  # a notebook begins anew
        if one.role == "eval" and len(partners) == 1 and len(again) == 1:
            yield from _compared(source, partners[0], one, chains)


def _measures(source: Source) -> bool:
    """A script that takes the mean and the deviation of the pictures, which it wants as they are, and trains nothing."""
    deviations = any(source.methods("std")) or any(source.calls("torch.std", "numpy.std", "torch.std_mean"))
    return deviations and not any(source.methods("backward", "train", "fit"))


def _compared(source: Source, train: Chain, test: Chain, chains: list[Chain]) -> Iterator[Hit]:
    for with_it, without in ((train, test), (test, train)):
        norms = [_normalize(source, one) for one in (with_it, without)]
        tensors = [step for step in without.steps if _kind(source, step) in _TENSOR]
        alone = all(_inside(call, chains) for call in _all_normalize(source))
        if norms[0] is not None and norms[1] is None and tensors and alone:
            told = f"`{with_it.name}` normalises and `{without.name}` does not: what is evaluated has another scale than what was learned"
            yield source.hit(tensors[-1], f"{told}; end both with `{source.code(norms[0])}`")
            return
        if norms[0] is not None and norms[1] is not None and _differ(norms[0], norms[1]):
            told = f"`{train.name}` normalises with other numbers than `{test.name}`: what is evaluated has another scale than what was learned"
            yield source.hit(_normalize(source, test) or test.call, told)
            return


def _differ(one: ast.Call, other: ast.Call) -> bool:
    """Whether two calls are given plain numbers that are not the same, by more than a slip in the last digit."""
    numbers = [[tree.literal(tree.argument(call, place, name)) for place, name in ((0, "mean"), (1, "std"))]
               for call in (one, other)]  # fmt: skip
    known = all(isinstance(part, tuple | list) for call in numbers for part in call)
    pairs = zip(*numbers, strict=True) if known else ()
    return any(len(a) == len(b) and any(abs(x - y) > 0.005 for x, y in zip(a, b, strict=True)) for a, b in pairs)


def _chains(source: Source) -> Iterator[Chain]:
    for name, value, at in _named(source):
        role = "eval" if _EVAL.search(name.lower()) else "train" if _TRAIN.search(name.lower()) else ""
        both = _EVAL.search(name.lower()) and _TRAIN.search(name.lower())
        call = follow.followed(source, value)
        if not role or both or not isinstance(call, ast.Call) or _kind(source, call) != "Compose" or not call.args:
            continue
        steps = _steps(source, call.args[0])
        if steps is not None:
            yield Chain(name, role, call, steps, tree.function(source, at))


def _named(source: Source) -> Iterator[tuple[str, ast.expr, ast.AST]]:
    for held in source.all(ast.Assign):
        name = tree.dotted(held.targets[0]).rpartition(".")[2]
        if _TRANSFORM.search(name.lower()):
            chosen = _chosen(source, held)
            yield f"{chosen}_{name}" if chosen else name, held.value, held
    for table in source.all(ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            word = tree.literal(key) if key is not None else None
            if isinstance(word, str) and isinstance(value, ast.Call):
                yield word, value, table


def _chosen(source: Source, held: ast.Assign) -> str:
    """`train` or `test` where `if train: transform = ... else: transform = ...` chooses."""
    up = source.parents[held]
    if not isinstance(up, ast.If) or not up.orelse:
        return ""
    asked = re.search(r"\b(is_)?train(ing)?\b", source.code(up.test)) and not re.search(
        r"\bnot\b|!=", source.code(up.test)
    )
    return ("train" if held in up.body else "test") if asked else ""


def _steps(source: Source, node: ast.expr) -> list[ast.Call] | None:
    """The steps of a chain, None where some of them cannot be seen."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_steps(source, side) for side in (node.left, node.right)]
        return None if None in parts else [one for part in parts for one in part or ()]
    if isinstance(node, ast.Name):
        bound = follow.binding(source, node)
        grown = any(
            isinstance(source.parents[one], ast.Attribute | ast.AugAssign) for one in uses.names(source, node.id)
        )
        return None if bound is None or grown else _steps(source, bound)
    if not isinstance(node, ast.List | ast.Tuple):
        return None
    found = [follow.followed(source, one) for one in node.elts]
    return (
        [one for one in found if isinstance(one, ast.Call)] if all(isinstance(one, ast.Call) for one in found) else None
    )


def _kind(source: Source, call: ast.Call) -> str:
    return (source.name(call.func) or tree.dotted(call.func)).rpartition(".")[2]


def _normalize(source: Source, chain: Chain) -> ast.Call | None:
    return next((step for step in chain.steps if _kind(source, step) == "Normalize"), None)


def _all_normalize(source: Source) -> list[ast.Call]:
    return [call for call in source.all(ast.Call) if _kind(source, call) == "Normalize"]


def _inside(call: ast.Call, chains: list[Chain]) -> bool:
    return any(call in chain.steps for chain in chains)

"""The rule of twin-starts-apart."""

from __future__ import annotations

import ast
import itertools
import re
from typing import TYPE_CHECKING

from torchlore.check import classes, follow, tree, uses, values
from torchlore.check.pattern import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.source import Hit, Source

_CHAINS = {"to", "cuda", "cpu", "eval", "train", "double", "float", "requires_grad_"}
_HANDLED = {*_CHAINS, "load_state_dict", "state_dict", "parameters", "named_parameters"}
_CORRECTED = regex(r"1(?:\.0)? ?- ?[\w.]+ ?\*\*|1(?:\.0)? ?- ?(?:math\.)?pow\(")  # divided by 1 - decay**step
_NAMED = regex(r"target|tgt|old|prev|slow|ema|momentum|teacher|frozen|lag", re.IGNORECASE)
WORDS = ("load_state_dict|zip|zeros_like", "load_state_dict|copy_|mul_|lerp_|add_|state_dict|named_parameters")


def find(source: Source) -> Iterator[Hit]:
    found = list(_from_zero(source)) if "zeros_like" in source.text else []
    yield from found if found and not _CORRECTED.search(source.text) else ()
    followed = {full for net in _followed(source) if _NAMED.search(full := tree.dotted(net))}
    for first, second in _twins(source, followed) if followed else ():
        one, other = tree.dotted(first.targets[0]), tree.dotted(second.targets[0])
        joined = [node for node in _both(source, first, (one, other)) if node not in (first, second)]
        follower = next((name for node in joined if (name := _follower(source, node, {one, other}))), None)
        copies = [
            node for node in joined if _follower(source, node, {one, other}) or _handed(source, node, {one, other})
        ]
        if follower is None or not _NAMED.search(follower) or any(_at_once(source, first, node) for node in copies):
            continue
        if not any(_used_before(source, first, follower, node) for node in copies):
            continue
        made, leader = (first, other) if follower == one else (second, one)
        told = f"`{follower}` starts with random weights of its own, not with those of `{leader}`"
        yield source.hit(made, f"{told}: write `{follower}.load_state_dict({leader}.state_dict())` below")


def _from_zero(source: Source) -> Iterator[Hit]:
    """`shadow = {k: torch.zeros_like(v) for k, v in net.state_dict().items()}`, averaged and never corrected for the start."""
    for made in source.all(ast.DictComp):
        held = source.parents[made]
        zeros = isinstance(made.value, ast.Call) and source.name(made.value.func) == "torch.zeros_like"
        over = source.code(made.generators[0].iter)
        name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        if not zeros or not name or not over.endswith((".state_dict().items()", ".named_parameters()")):
            continue
        for loop in source.all(ast.For):
            body = "\n".join(source.code(one) for one in loop.body)
            pulls = re.search(rf"{re.escape(name)}\[\w+\](\.data)?(\.mul_\(|\.lerp_\(| = .*\*)", body)
            if pulls and ".grad" not in body and _hands_out_weights(loop):
                told = f"`{name}` starts at zero, so the average is too small until many steps have passed"
                yield source.hit(
                    made,
                    f"{told}: start it with the weights, `{source.code(made.generators[0].target).split(', ')[-1].strip('()')}.detach().clone()`",
                )
                break


def _hands_out_weights(loop: ast.For) -> bool:
    """`for name, p in net.named_parameters()`, `for k, v in net.state_dict().items()`."""
    over = loop.iter
    if isinstance(over, ast.Call) and follow.method(over) == "items":
        over = tree.receiver(over)
    return follow.method(over) in ("named_parameters", "state_dict")


def _followed(source: Source) -> Iterator[ast.expr]:
    """The networks that may be given weights: by `load_state_dict`, or in a loop over pairs."""
    yield from (tree.receiver(call) for call in source.methods("load_state_dict"))
    for pairs in source.calls("zip"):
        if isinstance(source.parents[pairs], ast.For):
            yield from (tree.receiver(over) for over in pairs.args if isinstance(over, ast.Call))


def _twins(source: Source, followed: set[str]) -> Iterator[tuple[ast.Assign, ast.Assign]]:
    """Pairs of assignments in one function that build the same network of the project from the same arguments."""
    built = [(one, made, tree.dotted(one.targets[0])) for one in uses.assigns(source, None, ast.Call)
             if len(one.targets) == 1 and (made := _built(one.value)) is not None]  # fmt: skip
    makers = {tree.dotted(made.func) for _, made, name in built if name in followed}
    groups: dict[tuple[object, str], list[ast.Assign]] = {}
    for assign, made, name in built:
        if name and tree.dotted(made.func) in makers:
            groups.setdefault((tree.function(source, assign), source.code(made)), []).append(assign)
    for group in groups.values():
        named = 1 < len(group) < 7 and any(tree.dotted(one.targets[0]) in followed for one in group)
        if named and values.sure(source, group[0].value, "module") and _is_own(source, group[0].value):
            yield from itertools.combinations(group, 2)


def _built(value: ast.expr) -> ast.Call | None:
    """`Net(4)` of `Net(4).to(device).eval()`."""
    while isinstance(value, ast.Call) and follow.method(value) in _CHAINS:
        value = tree.receiver(value)
    return value if isinstance(value, ast.Call) and isinstance(value.func, ast.Name | ast.Attribute) else None


def _is_own(source: Source, value: ast.expr) -> bool:
    return any(classes.class_behind(source, one) is not None for one in source.values(value))


def _both(source: Source, made: ast.Assign, names: tuple[str, str]) -> list[ast.stmt]:
    """The statements that name both networks, the innermost ones; of attributes those of the same class."""
    found: list[set[ast.stmt]] = []
    for full in names:
        last = full.rpartition(".")[2]
        nodes: list[ast.Name] | list[ast.Attribute] = (
            uses.attributes(source, last) if "." in full else uses.names(source, last)
        )
        here = (one for one in nodes if "." not in full or tree.class_of(source, one) is tree.class_of(source, made))
        found.append({tree.statement(source, one) for one in here})
    return list(found[0] & found[1])


def _follower(source: Source, node: ast.stmt, names: set[str]) -> str | None:
    """The network that is given the weights of the other here: by `load_state_dict`, or weight by weight in a loop over pairs."""
    for call in tree.under(source, node, ast.Call):
        given = follow.method(call)
        if given == "load_state_dict" and tree.dotted(tree.receiver(call)) in names:
            return tree.dotted(tree.receiver(call))
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call) or source.name(node.iter.func) != "zip":
        return None
    targets = node.target.elts if isinstance(node.target, ast.Tuple) else []
    written = {tree.dotted(tree.receiver(call)).partition(".")[0] for call in tree.under(source, node, ast.Call)
               if follow.method(call) in ("copy_", "mul_", "lerp_", "add_")}  # fmt: skip
    for target, over in zip(targets, node.iter.args, strict=False):
        if isinstance(over, ast.Call) and tree.dotted(target) in written and tree.dotted(tree.receiver(over)) in names:
            return tree.dotted(tree.receiver(over))
    return None


def _used_before(source: Source, made: ast.Assign, follower: str, copy: ast.stmt) -> bool:
    """Whether the network is called in another function than the copy, or above it."""
    for call in source.all(ast.Call):
        used = tree.dotted(call.func)
        mine = used == follower or (used.startswith(f"{follower}.") and used.rpartition(".")[2] not in _HANDLED)
        same = "." not in follower or tree.class_of(source, call) is tree.class_of(source, made)
        above = tree.function(source, call) is not tree.function(source, copy) or call.lineno < copy.lineno
        if mine and same and above:
            return True
    return False


def _handed(source: Source, node: ast.stmt, names: set[str]) -> bool:
    """`hard_update(target, policy)`, `copy_weights(a.parameters(), b.parameters())`: one call is given both."""
    for call in tree.under(source, node, ast.Call):
        given = [*call.args, *(one.value for one in call.keywords)]
        if names <= {tree.dotted(tree.receiver(one) if isinstance(one, ast.Call) else one) for one in given}:
            return True
    return False


def _at_once(source: Source, made: ast.Assign, node: ast.stmt) -> bool:
    """Whether this runs before any step: where the networks are made, or in a function that is called outside of every loop."""
    home = tree.function(source, node)
    if any(_at_zero(test) for test, _ in tree.conditions(source, node)):
        return True
    if home is tree.function(source, made):
        return tree.loops(source, node) == tree.loops(source, made)
    if home is None or "load" in home.name or "init" in home.name:
        return True
    named = (call for call in source.all(ast.Call) if tree.dotted(call.func) == home.name)
    return any(not tree.loops(source, call) for call in (*source.methods(home.name), *named))


def _at_zero(test: ast.expr) -> bool:
    """`step % 100 == 0`: true at the first step too, where it is counted from 0."""
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    modulo = (one.left for one in parts if isinstance(one, ast.Compare) and tree.literal(one.comparators[0]) == 0)
    return any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) for one in modulo)

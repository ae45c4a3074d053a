"""What a file shows of it."""

import ast
import itertools
from collections import defaultdict
from collections.abc import Iterator

from torchlore.check import api, flow, follow, grouped, scopes, terms, tree, uses
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
    yield from (*_mixed(source), *_labels_left_behind(source), *_differentiated_twice(source))
    for whole in grouped.operations(source, ast.Add):
        if _is_sum(source.parents[whole]):
            continue
        known: dict[str, list[ast.Call]] = defaultdict(list)
        for call in _given_the_same(_summands(source, whole)):
            if not _draws(call) and _is_loss(source, call):
                known[_told_apart_by(source, call)].append(call)
        for same in known.values():
            if len(same) > 1 and _means_the_same(source, same[0], same[1]):
                yield source.hit(
                    same[1],
                    f"`{source.code(same[1])}` is in this sum twice: one of the two was meant to compare something else",
                )


def _given_the_same(calls: list[ast.Call]) -> list[ast.Call]:
    """The calls that are given the same as another one of them, and two things at least; one name read twice is one call."""
    calls = list(dict.fromkeys(call for call in calls if len(call.args) > 1)) if len(calls) > 1 else []
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


def _labels_left_behind(source: Source) -> Iterator[Hit]:
    """Pictures that are mixed with `x[index]` and two weighted losses, and no label that was taken by the index."""
    if "randperm" not in source.text or not any(_is_pair(one) for one in grouped.operations(source, ast.Add)):
        return
    for drawn in source.calls("torch.randperm"):
        statement, home = tree.statement(source, drawn), tree.function(source, drawn)
        held = tree.dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        reads = [one for one in uses.names(source, held) if isinstance(one.ctx, ast.Load) and tree.function(source, one) is home]  # fmt: skip
        taken = [up for one in reads if isinstance(up := _subscript(source, one), ast.Subscript)]
        mixed = [one for one in taken if isinstance(one.ctx, ast.Load) and _is_mixed(source, one)]
        if mixed and len(taken) == len(reads) and len({source.code(one.value) for one in taken}) == 1:
            told = f"`{source.code(mixed[0])}` is mixed in, and its labels are not: the second loss takes the labels at `[{held}]`"
            twin = _twin(source, home) or mixed[0]
            yield source.hit(twin, told)


def _subscript(source: Source, index: ast.Name) -> ast.AST:
    """`x[index]` and `x[index, :]` around the name of an index."""
    up = source.parents[index]
    return source.parents[up] if isinstance(up, ast.Tuple) else up


def _is_mixed(source: Source, part: ast.Subscript) -> bool:
    """`(1 - lam) * x[index]`, and `x[:, :, a:b, c:d] = x[index, :, a:b, c:d]`."""
    up = source.parents[part]
    pasted = isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Subscript)
    return pasted or (isinstance(up, ast.BinOp) and isinstance(up.op, ast.Mult))


def _twin(source: Source, home: ast.AST | None) -> ast.stmt | None:
    """`y_a, y_b = y, y`."""
    for pair in tree.under(source, home, ast.Tuple) if home is not None else ():
        up = source.parents[pair]
        if isinstance(up, ast.Assign) and up.value is pair and len(pair.elts) == 2 and len({ast.dump(one) for one in pair.elts}) == 1:  # fmt: skip
            return up
    return None


def _is_pair(whole: ast.BinOp) -> bool:
    """`lam * crit(out, a) + (1 - lam) * crit(out, b)`."""
    sides = [one for one in (whole.left, whole.right) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult)]
    lost = [
        call for one in sides for call in (one.left, one.right) if isinstance(call, ast.Call) and len(call.args) > 1
    ]
    rest = [part for one in sides for part in (one.left, one.right)
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) and tree.literal(part.left) == 1]  # fmt: skip
    same = len(lost) == 2 and ast.dump(lost[0].func) == ast.dump(lost[1].func)
    return same and len(rest) == 1 and ast.dump(lost[0].args[0]) == ast.dump(lost[1].args[0])


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


def _summands(source: Source, node: ast.expr) -> list[ast.Call]:
    """The calls that are added up, with or without a factor, under a name or not."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_summands(source, node.left), *_summands(source, node.right)]
    factors = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else (node,)
    made = [follow.binding(source, one) or one for one in factors]
    return [one for one in made if isinstance(one, ast.Call)]


def _means_the_same(source: Source, one: ast.Call, other: ast.Call) -> bool:
    """Whether two calls that read alike stand in one block, and nothing they read was changed between them."""
    block, later = tree.statement(source, one), tree.statement(source, other)
    if block is later:
        return True
    if tree.conditions(source, one) != tree.conditions(source, other) or tree.loops(source, one) != tree.loops(source, other):  # fmt: skip
        return False
    pairs = list(zip(tree.under(source, one, ast.Name), tree.under(source, other, ast.Name), strict=True))
    names = {mine.id for mine, _ in pairs if mine.id != "self"}
    if any(scopes.reaching(source, mine) != scopes.reaching(source, its) for mine, its in pairs):
        return False
    between = (use for name in names for use in uses.names(source, name) if block.lineno < use.lineno < later.lineno)
    return not any(_changes(source.parents[use]) for use in between)


def _changes(up: ast.AST) -> bool:
    """`label.fill_(0)`, `label.data.zero_()`, `label[:] = 0`, and `out` handed to somebody."""
    return isinstance(up, ast.Attribute | ast.Subscript | ast.AugAssign | ast.Call)


def _is_loss(source: Source, call: ast.Call) -> bool:
    return source.name(call.func) in api.LOSS_FUNCTIONS or any(one.kind == "loss" for one in source.values(call.func))


def _draws(call: ast.Call) -> bool:
    """Whether a network is called in it, whose dropout may make the two differ: R-Drop does so on purpose."""
    inner = (one for arg in call.args for one in ast.walk(arg) if isinstance(one, ast.Call))
    return any(tree.dotted(one.func).rpartition(".")[2] != "detach" for one in inner)

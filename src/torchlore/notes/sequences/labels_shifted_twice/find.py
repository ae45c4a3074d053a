"""The rule of labels-shifted-twice."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, losses, scopes, tree
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

WORDS = ("__getitem__",)


def find(source: Source) -> Iterator[Hit]:
    if "1:" not in source.text or not _shifts_itself(source):
        return
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"):
        given, wanted = (_sliced(source, one) for one in (loss.input, loss.target))
        if given is None or wanted is None or not _ends_early(given) or not _begins_late(wanted):
            continue
        if _second_of_a_batch(source, wanted.value):
            told = f"`{source.code(wanted.value)}` is shifted by the data set already, so this learns the word after the next"
            yield source.hit(wanted, f"{told}: take both as they are")


def _shifts_itself(source: Source) -> bool:
    """Whether every data set of the file gives `row[:-1], row[1:]`."""
    backs = [
        back
        for one in flow.functions(source)
        if one.name == "__getitem__"
        for back in calls.returned(as_function(source, one))
    ]
    pairs = [back.elts for back in backs if isinstance(back, ast.Tuple) and len(back.elts) == 2]
    return bool(pairs) and len(pairs) == len(backs) and all(_is_pair(source, *one) for one in pairs)


def _is_pair(source: Source, one: ast.expr, other: ast.expr) -> bool:
    first, second = (follow.peeled(follow.followed(source, part), ("long", "clone", "to")) for part in (one, other))
    if not isinstance(first, ast.Subscript) or not isinstance(second, ast.Subscript):
        return False
    same = source.code(first.value) == source.code(second.value)
    return same and ((_ends_early(first) and _begins_late(second)) or _one_further(source, first.slice, second.slice))


def _one_further(source: Source, one: ast.expr, other: ast.expr) -> bool:
    """`[i:i + n]` and `[i + 1:i + n + 1]`."""
    if not isinstance(one, ast.Slice) or not isinstance(other, ast.Slice):
        return False
    ends = ((one.lower, other.lower), (one.upper, other.upper))
    return all(
        a is not None and b is not None and _terms(source, b) == sorted([*_terms(source, a), "1"]) for a, b in ends
    )


def _terms(source: Source, node: ast.expr) -> list[str]:
    """The parts of a sum, in an order of their own."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return sorted([*_terms(source, node.left), *_terms(source, node.right)])
    return [source.code(node)]


def _sliced(source: Source, node: ast.expr | None, hops: int = 6) -> ast.Subscript | None:
    """`logits[:, :-1]` behind `shift.view(-1, n)`, `.contiguous()` and names."""
    while node is not None and hops:
        hops -= 1
        if isinstance(node, ast.Subscript):
            return node
        if isinstance(node, ast.Call) and follow.method(node) in (
            "view",
            "reshape",
            "contiguous",
            "transpose",
            "flatten",
            "float",
            "long",
        ):
            node = tree.receiver(node)
        elif isinstance(node, ast.Name):
            node = follow.binding(source, node)
        else:
            return None
    return None


def _parts(node: ast.Subscript) -> list[ast.Slice]:
    whole = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return [one for one in whole if isinstance(one, ast.Slice) and (one.lower or one.upper)]


def _ends_early(node: ast.Subscript) -> bool:
    """`[:, :-1]`, `[..., :-1, :]`."""
    parts = _parts(node)
    return len(parts) == 1 and parts[0].lower is None and tree.literal(parts[0].upper) == -1


def _begins_late(node: ast.Subscript) -> bool:
    """`[:, 1:]`."""
    parts = _parts(node)
    return len(parts) == 1 and parts[0].upper is None and tree.literal(parts[0].lower) == 1


def _second_of_a_batch(source: Source, node: ast.expr, hops: int = 3) -> bool:
    """Whether this is `y` of `for x, y in loader`, also where a function is given it."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) and hops else []
    one = bound[0] if len(bound) == 1 else None
    if one is not None and one.how == "for" and isinstance(one.statement, ast.For):
        return one.path[-1:] == (1,) and isinstance(one.statement.target, ast.Tuple)
    home = tree.function(source, node) if one is not None and one.how == "parameter" else None
    if home is None or one is None or not isinstance(one.node, ast.arg):
        return False
    inner = as_function(source, home)
    given = [
        calls.given_argument(inner, call, one.node, skip)
        for where, call, skip in calls.callers(inner)
        if where is source
    ]
    told = [
        part for part in given if part is not None and source.code(part) != "None"
    ]  # a call without labels asks for no loss
    return bool(told) and all(_second_of_a_batch(source, part, hops - 1) for part in told)

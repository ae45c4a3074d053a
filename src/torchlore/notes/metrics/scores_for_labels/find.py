"""The rule of scores-for-labels."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_LABELS = regex(r"(^|_)(labels?|targets?|y|gt|truth|trues?|classes)(_|$)", re.IGNORECASE)
_SAME = {
    "cpu",
    "numpy",
    "detach",
    "squeeze",
    "view",
    "reshape",
    "float",
    "long",
    "int",
    "to",
    "cuda",
    "flatten",
    "view_as",
    "t",
    "item",
}
_PAIRS = ("max", "topk", "sort", "min")
WORDS = ("sigmoid|softmax|max|topk|sort|min",)


def find(source: Source) -> Iterator[Hit]:
    yield from _probabilities(source) if "sigmoid" in source.text.lower() or "softmax" in source.text.lower() else ()
    if not any(f"{word}(" in source.text for word in _PAIRS):
        return
    for node, one, other in _compared(source):
        for score, label in ((one, other), (other, one)):
            made = _scores(source, score) if _is_called_label(label) else None
            sure = made is not None and (_of_a_model(source, made) or _is_counted(source, node))
            if sure and made is not None and _is_label(source, label):
                told = f"this takes the scores, which line {node.lineno} compares with `{source.code(label)}`, and no score equals a class"
                yield source.hit(made, f"{told}: take the second half, or `argmax`")
                break


def _probabilities(source: Source) -> Iterator[Hit]:
    """`(torch.sigmoid(out) == labels).sum()`: neither rounded nor compared with a threshold."""
    for node, one, other in _compared(source):
        for score, label in ((one, other), (other, one)):
            if not _is_called_label(label) or not _is_counted(source, node):
                continue
            made = follow.followed(source, _bare(score))
            plain = isinstance(made, ast.Call) and follow.method(made) in ("sigmoid", "softmax")
            asked = plain and not _written(source, _bare(score))
            state = values.state(source, score) if asked else None
            if state is not None and state.state in ("sigmoid", "probs") and _is_label(source, label):
                told = f"a probability hardly ever equals `{source.code(label)}`: compare the class, `p > 0.5` or `p.argmax(dim=1)`"
                yield source.hit(node, told)
                break


def _written(source: Source, node: ast.expr) -> bool:
    """`p[p > 0.5] = 1`, `p.round_()`: rounded in place."""
    for use in uses.names(source, node.id) if isinstance(node, ast.Name) else ():
        up = source.parents[use]
        stored = isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store)
        changed = isinstance(up, ast.Attribute) and up.attr.endswith("_")
        if (stored or changed) and tree.function(source, use) is tree.function(source, node):
            return True
    return False


def _compared(source: Source) -> Iterator[tuple[ast.expr, ast.expr, ast.expr]]:
    for test in source.all(ast.Compare):
        if len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            yield test, test.left, test.comparators[0]
    for call in source.methods("eq"):
        if source.name(call.func) == "torch.eq" and len(call.args) == 2:
            yield call, call.args[0], call.args[1]
        elif len(call.args) == 1:
            yield call, tree.receiver(call), call.args[0]


def _bare(node: ast.expr) -> ast.expr:
    return follow.peeled(node, _SAME)


def _scores(source: Source, node: ast.expr, hops: int = 4) -> ast.Call | None:
    """The call whose first half this is: `torch.max(out, 1)` of `out` that a model gave."""
    node, half = _bare(node), False
    while hops:
        hops -= 1
        if isinstance(node, ast.Attribute | ast.Subscript) and not half and _first_half(node):
            node, half = node.value, True
        elif isinstance(node, ast.Name):
            found = scopes.reaching(source, node)
            if len(found) != 1 or found[0].value is None or found[0].how != "assign" or found[0].path not in ((), (0,)):
                return None
            node, half = found[0].value, half or found[0].path == (0,)
        else:
            break
        node = _bare(node) if not isinstance(node, ast.Name) else node
    return node if isinstance(node, ast.Call) and half and _scored(source, node) is not None else None


def _first_half(node: ast.Attribute | ast.Subscript) -> bool:
    return node.attr == "values" if isinstance(node, ast.Attribute) else tree.literal(node.slice) == 0


def _scored(source: Source, call: ast.Call) -> ast.expr | None:
    """What it is the maximum of, along a dimension; None where it is another function."""
    if follow.method(call) not in _PAIRS:
        return None
    function = source.name(call.func).startswith("torch.")
    along = len(call.args) > function or any(one.arg == "dim" for one in call.keywords) or follow.method(call) == "sort"
    second = call.args[1] if function and len(call.args) > 1 else None
    if not along or (second is not None and not isinstance(tree.literal(second), int)):
        return None
    return (call.args[0] if call.args else None) if function else tree.receiver(call)


def _of_a_model(source: Source, call: ast.Call) -> bool:
    inside = _scored(source, call)
    made = follow.followed(source, _bare(inside)) if inside is not None else None
    return isinstance(made, ast.Call) and values.maybe(source, made.func, "module")


def _is_counted(source: Source, node: ast.expr) -> bool:
    """`(pred == labels).sum()`: nobody counts how often a score is hit."""
    ups = (up for up in tree.ancestors(source, node) if isinstance(up, ast.Call))
    return any(follow.method(up) in ("sum", "mean") for up in ups)


def _is_label(source: Source, node: ast.expr) -> bool:
    """Whether it is called a label and is no score itself."""
    return _is_called_label(node) and _scores(source, _bare(node)) is None


def _is_called_label(node: ast.expr) -> bool:
    bare = _bare(node)
    name = tree.dotted(bare).rpartition(".")[2] if isinstance(bare, ast.Name | ast.Attribute) else ""
    return _LABELS.search(name) is not None

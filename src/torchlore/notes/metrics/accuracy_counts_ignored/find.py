"""The rule of accuracy-counts-ignored."""

import ast
from collections.abc import Iterator

from torchlore.check import averages, follow, losses, scopes, tree
from torchlore.check.source import Hit, Source

_LOSSES = ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss")
_SHAPES = {"view", "reshape", "flatten", "squeeze", "contiguous", "to", "long", "cpu", "cuda"}
_AROUND = {"torch.sum", "sum", "int", "float"}
_FOLDS = {"sum", "item", "float", "int", "long", "double", "cpu", "type", "to"}
WORDS = ("*ignore_index*",)


def find(source: Source) -> Iterator[Hit]:
    if "ignore_index" not in source.text or "==" not in source.text:
        return
    every = losses.loss_calls(source, *_LOSSES)
    ignored = [one.option("ignore_index") for one in every]
    if not every or any(one is None or _is_default(source, one) for one in ignored):
        return
    targets = {_bare(source, one.target) for one in every if one.target is not None} - {""}
    for one in source.all(ast.Compare):
        target = _target(source, one, targets)
        home = tree.function(source, one) or source.tree
        if target is None or _left_out(source, home, target) or follow.in_test(source, one):
            continue
        if _whole_mean(source, one) or (_summed(source, one) and _counts_all(source, home, target)):
            index = source.code(ignored[0]) if ignored[0] is not None else "-100"
            told = f"the loss leaves out targets of {index}, and this counts them: leave them out here too, `{target} != {index}`"
            yield source.hit(one, told)


def _is_default(source: Source, index: ast.expr) -> bool:
    """-100, which nothing in the file writes into a target."""
    return averages.number(source, index) == -100 and source.text.count("-100") < 2


def _bare(source: Source, node: ast.expr) -> str:
    """`tags` of `tags.view(-1)`, `tgt` of `tgt[:, 1:].reshape(-1)`."""
    node = follow.peeled(node, _SHAPES)
    while isinstance(node, ast.Subscript) and any(isinstance(one, ast.Slice) for one in ast.walk(node.slice)):
        node = follow.peeled(node.value, _SHAPES)
    return source.code(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else ""


def _target(source: Source, test: ast.Compare, targets: set[str]) -> str | None:
    """`tags` of `scores.argmax(-1) == tags`, of several positions each."""
    if len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    for one, other in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
        name = _bare(source, other)
        if name in targets and _is_choice(source, one):
            return name
    return None


def _is_choice(source: Source, node: ast.expr) -> bool:
    """`x.argmax(-1)`, `x.max(1)[1]` and `_, pred = x.max(2)`, under any name and in any shape."""
    made = follow.peeled(follow.followed(source, follow.peeled(node, _SHAPES)), _SHAPES)
    bound = scopes.reaching(source, made) if isinstance(made, ast.Name) else []
    if len(bound) == 1 and bound[0].how == "assign" and bound[0].path == (1,) and bound[0].value is not None:
        made = bound[0].value
    if isinstance(made, ast.Subscript) and tree.literal(made.slice) == 1:
        made = made.value
    return isinstance(made, ast.Call) and follow.word(source, made) in ("argmax", "max")


def _left_out(source: Source, home: ast.AST, target: str) -> bool:
    """Whether the function asks which targets are ignored: `tags != PAD`, `tags.ne(PAD)`, `tags[mask]`."""
    for one in tree.under(source, home, ast.Compare, ast.Call, ast.Subscript):
        if isinstance(one, ast.Compare) and not isinstance(one.ops[0], ast.Eq) and _bare(source, one.left) == target:
            return True
        if (
            isinstance(one, ast.Call)
            and follow.method(one) in ("ne", "masked_select", "gt", "ge")
            and target in source.code(one)
        ):
            return True
        whole = isinstance(one, ast.Subscript) and source.code(one.value) == target and isinstance(one.ctx, ast.Load)
        if whole and isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Name):
            return True
    return False


def _summed(source: Source, test: ast.Compare) -> bool:
    """`(pred == y).sum().item()` with nothing in between."""
    return any(follow.word(source, one) == "sum" for one in _around(source, test))


def _whole_mean(source: Source, test: ast.Compare) -> bool:
    """`(pred == y).float().mean()`."""
    around: list[ast.expr] = [test, *_around(source, test)]
    up = source.parents[around[-1]]
    return isinstance(up, ast.Attribute) and up.attr == "mean" and not _summed(source, test)


def _around(source: Source, test: ast.expr) -> list[ast.Call]:
    """The calls around a comparison that sum it up or change its type, the innermost first."""
    found: list[ast.Call] = []
    while True:
        up = source.parents[found[-1] if found else test]
        call = source.parents[up] if isinstance(up, ast.Attribute) and up.attr in _FOLDS else up
        if not isinstance(call, ast.Call) or (call is up and source.name(call.func) not in _AROUND):
            return found
        found.append(call)


def _counts_all(source: Source, home: ast.AST, target: str) -> bool:
    """`y.numel()`, `y.size(0) * y.size(1)` and the like in the same function."""
    calls = [one for one in tree.under(source, home, ast.Call) if follow.method(one) == "numel"]
    named = [one.args[0] if source.name(one.func) and one.args else tree.receiver(one) for one in calls]
    sizes = [one for one in tree.under(source, home, ast.BinOp) if isinstance(one.op, ast.Mult)]
    sizes = [
        one
        for one in sizes
        if source.code(one).count(f"{target}.size(") + source.code(one).count(f"{target}.shape[") == 2
    ]
    return any(_bare(source, one) == target for one in named) or bool(sizes)

"""The rule of labels-of-another-loop."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from torchlore.check import follow, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_SPLIT = regex(r"^(?:valid(?:ation)?|val|v|test|te|dev|eval)_|_(?:valid(?:ation)?|val|v|test|te|dev|eval)$")


_TRAIN = regex(r"(^|_)(train|training|trn|tr)(_|$)")
_HELD = regex(r"(^|_)(valid|validation|val|test|dev)(_|$)")
_SCORE = regex(r"score|auc|auroc|acc|f1|loss|metric|error|mse|mae|rmse|r2|report|precision|recall|kappa", re.IGNORECASE)


def find(source: Source) -> Iterator[Hit]:
    yield from _of_the_other_split(source)
    for loop in source.all(ast.For):
        yield from _counter_of_another(source, loop)
        yield from _left_over(source, loop)
        own = {bare: name for name in _targets(loop) if (bare := _without_split(name)) != name}
        for place, name in _scored(loop, own):
            mine = own[name.id]
            read = [one for one in tree.under(source, place, ast.Name) if one is not name]
            here = any(_bound_in(source, one, loop) for one in read) and all(one.id != mine for one in read)
            bound = scopes.reaching(source, name) if here else []
            away = not any(tree.inside(source, one.statement, loop) for one in bound)
            if away and any(_of_a_loop(source, one) for one in bound):
                told = f"`{name.id}` is of the batch of another loop, and this one's is `{mine}`"
                yield source.hit(name, f"{told}: write `{mine}`")


def _of_the_other_split(source: Source) -> Iterator[Hit]:
    """`valid_auc = roc_auc_score(train_labels, train_preds)`, beside `valid_labels` and `valid_preds` that nobody reads."""
    for held in uses.assigns(source, ast.Name, ast.Call):
        name, call = held.targets[0], held.value
        goal = _HELD.search(name.id) if isinstance(name, ast.Name) else None
        if goal is None or not isinstance(call, ast.Call) or not _SCORE.search(tree.dotted(call.func)):
            continue
        given = [one.id for one in (*call.args, *(word.value for word in call.keywords)) if isinstance(one, ast.Name)]
        words = [_TRAIN.search(one) for one in given]
        if len(given) < 2 or not all(words):
            continue
        home = tree.function(source, held) or source.tree
        names = [one for one in tree.under(source, home, ast.Name) if _HELD.search(one.id) and one is not name]
        meant = [one.replace(word[2], goal[2]) for one, word in zip(given, words, strict=True) if word is not None]
        set_ = {one.id for one in names if isinstance(one.ctx, ast.Store)}
        read = {one.id for one in names if isinstance(one.ctx, ast.Load)}
        if set(meant) <= set_ and not set(meant) & read:
            told = f"`{name.id}` is computed from `{given[0]}`, and nobody reads `{meant[0]}`"  # type: ignore[attr-defined]  # a name
            yield source.hit(call, f"{told}: pass `{', '.join(meant)}`", severity="warning")


def _counter_of_another(source: Source, loop: ast.For) -> Iterator[Hit]:
    """`for c in range(n): use(groups[idx])`: nobody reads `c`, and `idx` is what a loop before this one ended with."""
    own = loop.target.id if isinstance(loop.target, ast.Name) else ""
    if (
        not own
        or own.startswith("_")
        or any(one.id == own for one in tree.under(source, loop, ast.Name) if one is not loop.target)
    ):
        return
    for place in tree.under(source, loop, ast.Subscript):
        index = place.slice
        bound = scopes.reaching(source, index) if isinstance(index, ast.Name) else []
        homes = [one.statement for one in bound if one.how == "for" and not one.path]
        over = [one for one in homes if isinstance(one, ast.For) and one.lineno < loop.lineno]
        if not isinstance(index, ast.Name) or len(over) != len(bound) or not over:
            continue
        found = any(tree.under(source, one, ast.Break) for one in over)  # a search, which ends at what it looked for
        if not found and not any(tree.inside(source, loop, one) for one in over):
            told = f"`{index.id}` is what the loop on line {over[0].lineno} ended with, and no turn of this one reads `{own}`"
            yield source.hit(index, f"{told}: write `{own}`", severity="warning")
            return


def _left_over(source: Source, loop: ast.For) -> Iterator[Hit]:
    """`total += loss.item()` in a loop that computes a `val_loss`: the last loss of the training loop, over and over."""
    trained = _trained_before(source, loop)
    if trained is None:
        return
    told: set[str] = set()
    for name in tree.under(source, loop, ast.Name) if not _trains(source, loop) else ():
        if name.id in told or not isinstance(name.ctx, ast.Load) or not _counts(source, name):
            continue
        above = [one for one in scopes.reaching(source, name) if getattr(one.statement, "lineno", 0) <= name.lineno]
        if above and all(_of_its_turn(source, one, trained) for one in above):
            told.add(name.id)
            line = getattr(above[-1].statement, "lineno", trained.lineno)
            text = f"`{name.id}` is what line {line} left of the last training batch, in every turn of this loop"
            yield source.hit(name, f"{text}: compute it of the batch of this loop", severity="warning")


def _trains(source: Source, loop: ast.For) -> bool:
    return any(tree.inside(source, call, loop) for call in source.methods("backward"))


def _trained_before(source: Source, loop: ast.For) -> ast.For | None:
    """The loop before this one that has a backward pass in each turn."""
    home = tree.function(source, loop)
    for call in source.methods("backward"):
        around = next(iter(tree.loops(source, call)), None)
        if not isinstance(around, ast.For) or around.lineno >= loop.lineno or tree.inside(source, loop, around):
            continue
        if tree.function(source, around) is home:
            return around
    return None


def _of_its_turn(source: Source, one: scopes.Binding, loop: ast.For) -> bool:
    """Whether a line of the loop computes it of the batch."""
    if one.how != "assign" or not tree.inside(source, one.statement, loop) or not isinstance(one.value, ast.Call):
        return False
    read = (name for name in tree.under(source, one.value, ast.Name) if isinstance(name.ctx, ast.Load))
    return any(_bound_in(source, name, loop) for name in read)


def _counts(source: Source, name: ast.Name) -> bool:
    """Whether a score of the loop is made of it: added up, put in a list, compared, given to a criterion; no line of a log."""
    statement = tree.statement(source, name)
    call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    if not isinstance(call, ast.Call):
        return isinstance(statement, ast.AugAssign)
    listed = follow.method(call) in ("append", "extend") and tree.receiver(call) is not name
    return listed if isinstance(statement, ast.Expr) else any(one is name for one in call.args[:2])


@lru_cache(maxsize=4096)
def _without_split(name: str) -> str:
    """`labels` of `val_labels` and `labels_test`."""
    return _SPLIT.sub("", name)


def _bound_in(source: Source, name: ast.Name, loop: ast.For) -> bool:
    return any(tree.inside(source, one.statement, loop) for one in scopes.reaching(source, name))


def _targets(loop: ast.For) -> list[str]:
    parts = () if isinstance(loop.target, ast.Name) else ast.walk(loop.target)
    names = [one.id for one in parts if isinstance(one, ast.Name)]
    return names if len(names) > 1 else []


def _scored(loop: ast.For, own: dict[str, str]) -> Iterator[tuple[ast.AST, ast.Name]]:
    """Names without the suffix that stand in a call or a comparison of the loop beside something else."""
    for node in tree.body_nodes(loop) if own else ():
        given: list[ast.expr] = []
        if isinstance(node, ast.Call) and len(node.args) + len(node.keywords) > 1:
            given = [*node.args, *(one.value for one in node.keywords)]
        elif isinstance(node, ast.Compare):
            given = [node.left, *node.comparators]
        yield from ((node, one) for one in given if isinstance(one, ast.Name) and one.id in own)


def _of_a_loop(source: Source, one: scopes.Binding) -> bool:
    """Whether a loop hands it out, also where it was moved since: `labels = labels.to(device)`."""
    if one.how == "for":
        return True
    moved = one.value.func if isinstance(one.value, ast.Call) else None
    inner = moved.value if isinstance(moved, ast.Attribute) else None
    return (
        isinstance(inner, ast.Name)
        and inner.id == one.name
        and any(other.how == "for" for other in scopes.reaching(source, inner))
    )

"""The rule of training-set-overlaps-validation."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, follow, project, scopes, tree
from torchlore.check.source import Hit, Source

_DRAWS = ("torch.randperm", "numpy.random.permutation")
_LOADER = "torch.utils.data.DataLoader"


def find(source: Source) -> Iterator[Hit]:
    yield from _two_draws(source)
    for split in source.calls("torch.utils.data.random_split"):
        held = source.parents[split]
        target = held.targets[0] if isinstance(held, ast.Assign) else None
        if isinstance(target, ast.Tuple) and len(target.elts) > 1:
            parts = [tree.dotted(one) for one in target.elts]
            yield from _whole(source, split, parts)
            yield from _drawn_again(source, split, target, parts)


def _two_draws(source: Source) -> Iterator[Hit]:
    """`Subset(data, randperm(n)[:a])` and, with another permutation, `Subset(data, randperm(n)[:b])`."""
    drawn: dict[tuple[object, str], ast.Call] = {}
    for subset in source.calls("torch.utils.data.Subset"):
        draw = _draw(source, subset.args[1]) if len(subset.args) > 1 else None
        key = tree.function(source, subset), tree.dotted(subset.args[0]) if subset.args else ""
        if draw is None or not key[1]:
            continue
        first = drawn.setdefault(key, draw)
        if first is not draw and ast.dump(first) == ast.dump(draw) and not _apart(source, first, draw):
            code = source.code(draw)
            yield source.hit(
                subset,
                f"`{code}` is drawn twice, so these samples and those of line {first.lineno} overlap: cut one of them",
                severity="warning",
            )


def _apart(source: Source, first: ast.Call, second: ast.Call) -> bool:
    """Whether never both are drawn: two branches, or one that ends in a `return`."""
    around = [
        up for up in tree.ancestors(source, first) if isinstance(up, ast.If) and not tree.inside(source, second, up)
    ]
    return follow.exclusive(source, first, second) or any(tree.ends(up.body) for up in around)


def _draw(source: Source, node: ast.expr, hops: int = 3) -> ast.Call | None:
    """The call that draws the indices of which a part is taken."""
    sliced = False
    while True:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            node, sliced = node.value, True
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("tolist", "numpy")
        ):
            node = node.func.value
        elif isinstance(node, ast.Name) and hops:
            bound, hops = scopes.reaching(source, node), hops - 1
            if len(bound) != 1 or bound[0].value is None or bound[0].path or bound[0].how != "assign":
                return None
            node = bound[0].value
        else:
            break
    if not (isinstance(node, ast.Call) and sliced and source.name(node.func) in _DRAWS):
        return None
    return node if len(node.args) == 1 and not node.keywords else None


def _whole(source: Source, split: ast.Call, parts: list[str]) -> Iterator[Hit]:
    """The whole set is shuffled for training, and a part of it has a loader of its own."""
    whole = tree.dotted(split.args[0]) if split.args else ""
    owner = tree.class_of(source, split) if whole.startswith("self.") else tree.function(source, split)
    around = tree.class_of if whole.startswith("self.") else tree.function
    loaders = [(one, _data(one)) for one in source.calls(_LOADER) if around(source, one) is owner]
    given = {data for _, data in loaders}
    unused = [part for part in parts if part not in given and part.rpartition(".")[2] not in ("_", "")]
    for one, data in loaders:
        trains = tree.literal(tree.argument(one, 2, "shuffle")) is True
        behind = whole.startswith("self.") or one.lineno > split.lineno
        if whole and data == whole and trains and behind and given & set(parts) and unused[:1] == parts[:1]:
            yield source.hit(
                one,
                f"this shuffles all of `{whole}`, the part that is held out for `{next(iter(given & set(parts)))}` too: give it "
                f"`{parts[0]}`",
            )


def _data(loader: ast.Call) -> str:
    data = tree.argument(loader, 0, "dataset")
    return tree.dotted(data) if data is not None else ""


def _drawn_again(source: Source, split: ast.Call, target: ast.Tuple, parts: list[str]) -> Iterator[Hit]:
    """Each call of the function draws a split of its own and gives one part of it away."""
    home = tree.function(source, split)
    if (
        home is None
        or not tree.lacks(split, 2, "generator")
        or any(_seeds(source, one) for one in tree.under(source, home, ast.Call))
    ):
        return
    function = project.as_function(source, home)
    given = [{part for part in parts if part in _named(one)} for one in calls.returned(function)]
    apart = [one for one in given if len(one) == 1]
    callers = calls.callers(function)
    if len(target.elts) == 2 and len(apart) == len(given) >= 2 and apart[0] != apart[1] and len(callers) >= 2:
        yield source.hit(
            split,
            f"each call of `{home.name}` draws another split, so what one holds out the other trains on: pass "
            "`generator=torch.Generator().manual_seed(0)`, or split once",
        )


def _seeds(source: Source, call: ast.Call) -> bool:
    return (
        source.name(call.func).endswith(("manual_seed", "seed_everything")) or "seed" in tree.dotted(call.func).lower()
    )


def _named(node: ast.expr) -> set[str]:
    return {tree.dotted(one) for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)}

"""The rule of pairs-shuffled-apart."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, follow, losses, project, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

_ORDERS = ("torch.randperm", "numpy.random.permutation")
_IN_PLACE = ("numpy.random.shuffle", "random.shuffle")
_LISTS = ("os.listdir", "glob.glob", "glob.iglob", "os.scandir")
_TARGET = re.compile(r"(^|_)(y|t|label|target|lab|gt|truth|mask)s?($|_)", re.IGNORECASE)

WORDS = ("shuffle|zip|randperm|permutation|listdir|glob|iglob|scandir",)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_in_place(source), *_listed(source), *_zipped(source), *_sorted_alone(source), *_one_of_two(source))
    yield from _alone(source)
    if not any(source.calls(*_ORDERS)):
        return
    shuffles: dict[ast.AST, list[tuple[ast.Subscript, ast.AST]]] = {}
    for node in source.all(ast.Subscript):
        statement = tree.statement(source, node) if isinstance(node.slice, ast.Call | ast.Name) else None
        if isinstance(statement, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute):
            order = _order(source, node.slice)
            if order is not None:
                shuffles.setdefault(source.parents[statement], []).append((node, order))
    for found in shuffles.values():
        first, its_order = found[0]
        for node, order in found[1:]:
            if order is not its_order and _pair(source, first, node):
                message = (
                    f"`{source.code(first.value)}` and `{source.code(node.value)}` are shuffled by two permutations, so "
                    "their pairs come apart: draw one, `order = torch.randperm(n)`, and index both with it"
                )
                yield source.hit(node, message)


def _zipped(source: Source) -> Iterator[Hit]:
    """`for x, y in zip(inputs, targets)` over two loaders that shuffle, each for itself, where a loss compares `f(x)` with `y`."""
    loads = any(source.calls("zip")) and any(source.calls("torch.utils.data.DataLoader"))
    for loop in source.all(ast.For) if loads else ():
        call = loop.iter
        if isinstance(call, ast.Call) and source.name(call.func) == "enumerate" and call.args:
            call = call.args[0]
        target = loop.target.elts[1] if call is not loop.iter and isinstance(loop.target, ast.Tuple) else loop.target
        if not isinstance(call, ast.Call) or source.name(call.func) != "zip" or not isinstance(target, ast.Tuple):
            continue
        made = [values.made_by(source, one, "torch.utils.data.DataLoader") for one in call.args]
        names = [one.id for one in target.elts if isinstance(one, ast.Name)]
        nodes = [one.node for one in made if one is not None and isinstance(one.node, ast.Call)]
        apart = (
            len(nodes) == len(names) == len(call.args) == 2 and nodes[0] is not nodes[1] and all(map(_shuffles, nodes))
        )
        if apart and any(
            _compares(source, one, names) for one in losses.loss_calls(source) if tree.inside(source, one.call, loop)
        ):
            told = f"`{names[0]}` and `{names[1]}` come from two loaders, and each shuffles for itself, so their pairs come apart: put both into one `TensorDataset` and load that"
            yield source.hit(nodes[0], told)


def _sorted_alone(source: Source) -> Iterator[Hit]:
    """`seqs, labels = zip(*batch)` and then `seqs = sorted(seqs, key=len)`: the labels stay in the old order."""
    for held in uses.assigns(source, ast.Tuple, ast.Call) if "zip(*" in source.text else ():
        target, call = held.targets[0], held.value
        star = isinstance(call, ast.Call) and source.name(call.func) == "zip" and len(call.args) == 1
        if not star or not isinstance(call.args[0], ast.Starred) or not isinstance(target, ast.Tuple):  # type: ignore[attr-defined]  # star
            continue
        home = tree.function(source, held)
        names = [one.id for one in target.elts if isinstance(one, ast.Name)]
        later = (
            [one for one in tree.under(source, home, ast.Call) if one.lineno > held.lineno] if home is not None else []
        )
        sorts = [(one, name) for one in later for name in names if _sorts(source, one, name)]
        if len(sorts) == 1 and len(names) == len(target.elts) > 1 and home is not None:
            call, name = sorts[0]
            others = [one for one in names if one != name]
            whole = source.code(home)
            if any(_goes_out(whole, one) for one in others) and _goes_out(whole, name):
                told = f"`{name}` is sorted and `{others[-1]}` is not, so their pairs come apart: sort the pairs, `batch.sort(key=...)`, before they are taken apart"
                yield source.hit(call, told)


def _sorts(source: Source, call: ast.Call, name: str) -> bool:
    """`name = sorted(name, ...)` or `name.sort(...)`."""
    up = source.parents[call]
    if source.name(call.func) == "sorted" and call.args and tree.dotted(call.args[0]) == name:
        return isinstance(up, ast.Assign) and tree.dotted(up.targets[0]) == name
    return isinstance(call.func, ast.Attribute) and call.func.attr == "sort" and tree.dotted(call.func.value) == name


def _goes_out(code: str, name: str) -> bool:
    """Whether the function hands it out as it is, or in a tensor, with no index of its own."""
    taken = re.search(rf"\b{name}\[", code)
    return (
        taken is None
        and re.search(rf"return [^\n]*\b{name}\b|(tensor|stack|pad_sequence|cat)\(\[?{name}\b", code) is not None
    )


def _shuffles(made: ast.Call) -> bool:
    return tree.literal(tree.argument(made, 2, "shuffle")) is True and tree.lacks(made, None, "generator")


def _compares(source: Source, loss: losses.LossCall, names: list[str]) -> bool:
    """Whether a loss gets one of the two as it is, and something made of the other."""
    goal = tree.dotted(loss.target) if loss.target is not None else ""
    if goal not in names or loss.input is None:
        return False
    other, todo, seen = next(one for one in names if one != goal), [loss.input], set[str]()
    while todo:
        for one in (one for one in ast.walk(todo.pop()) if isinstance(one, ast.Name) and one.id not in seen):
            seen.add(one.id)
            todo += [
                bound.value
                for bound in scopes.reaching(source, one)
                if bound.how == "assign" and bound.value is not None
            ]
    return other in seen


def _listed(source: Source) -> Iterator[Hit]:
    """`self.images = sorted(os.listdir(a))` and `self.masks = os.listdir(b)`, taken by one index."""
    ways = (one for one in source.all(ast.FunctionDef) if one.name == "__getitem__")
    for way in ways if any(source.calls(*_LISTS)) else ():
        owner = project.enclosing_class(source, way)
        index = way.args.args[1].arg if len(way.args.args) > 1 else ""
        taken = [one.value for one in tree.under(source, way, ast.Subscript) if tree.dotted(one.slice) == index]
        names = {one.attr for one in taken if isinstance(one, ast.Attribute) and tree.dotted(one.value) == "self"}
        made = {
            name: found[0].value
            for name in sorted(names)
            if owner is not None and len(found := classes.assigned(owner, name)) == 1
        }
        lists = {name: value for name, value in made.items() if value is not None and _lists(source, value)}
        loose = [
            name
            for name, value in lists.items()
            if _lists(source, value) == "loose" and f"self.{name}.sort(" not in source.text
        ]
        pair = next((name for name in loose if any(name != other for other in lists)), None)
        if pair is not None:
            other = next(one for one in lists if pair != one)
            told = f"a listing has no order, so `self.{pair}` and `self.{other}` pair up differently from machine to machine"
            yield source.hit(lists[pair], f"{told}: write `sorted({source.code(lists[pair])})`")


def _lists(source: Source, call: ast.expr) -> str:
    """How a folder is listed: "loose", "sorted", or "" where it is none."""
    if isinstance(call, ast.ListComp):
        return _lists(source, call.generators[0].iter)
    if not isinstance(call, ast.Call):
        return ""
    full = source.name(call.func)
    if full in _LISTS:
        return "loose"
    inner = call.args[0] if call.args and full in ("sorted", "list") else None
    how = _lists(source, inner) if inner is not None else ""
    return "sorted" if how and full == "sorted" else how


def _order(source: Source, index: ast.expr) -> ast.AST | None:
    """The call that drew the permutation used as this index."""
    if isinstance(index, ast.Call):
        return index if source.name(index.func) in _ORDERS else None
    found = values.made_by(source, index, *_ORDERS) if isinstance(index, ast.Name) else None
    return found.node if found is not None else None


def _pair(source: Source, first: ast.Subscript, second: ast.Subscript) -> bool:
    """An input and its target, in lines that follow each other."""
    one, other = source.code(first.value), source.code(second.value)
    roles = {bool(_TARGET.search(name.rpartition(".")[2])) for name in (one, other)}
    return 0 <= second.lineno - first.lineno <= 3 and len(roles) == 2


def _in_place(source: Source) -> Iterator[Hit]:
    """`np.random.shuffle(x)` right before `np.random.shuffle(y)`, with no seed set anew between the two."""
    for call in source.calls(*_IN_PLACE):
        here = tree.statement(source, call)
        block = next((part for part in tree.blocks(source.parents[here]) if here in part), [])
        following = block[block.index(here) + 1] if here in block[:-1] else None
        if not isinstance(following, ast.Expr) or not isinstance(following.value, ast.Call) or len(call.args) != 1:
            continue
        other = following.value
        if source.name(other.func) != source.name(call.func) or len(other.args) != 1 or call.keywords or other.keywords:
            continue
        one, two = tree.dotted(call.args[0]), tree.dotted(other.args[0])
        words = [name.rpartition(".")[2] for name in (one, two)]
        if not one or not two or "mask" in "".join(words).lower() or _is_grid(source, call.args[0]):
            continue  # holes for inpainting are drawn apart from the images on purpose
        if len({bool(_TARGET.search(word)) for word in words}) == 2:
            told = f"`{one}` and `{two}` are shuffled by two draws, so their pairs come apart: draw one permutation and index both with it"
            yield source.hit(other, told)


def _is_grid(source: Source, node: ast.expr) -> bool:
    """`np.arange(low, high, step)`: places along an axis, which pair up with all of the other axis."""
    made = follow.followed(source, node)
    return isinstance(made, ast.Call) and source.name(made.func) in ("numpy.arange", "numpy.linspace", "range")


def _one_of_two(source: Source) -> Iterator[Hit]:
    """`x = x[order]` alone, and `TensorDataset(x, y)` afterwards."""
    drawn = (*source.calls(*_ORDERS), *source.methods("permutation"))
    for held in {one for call in drawn if isinstance(one := source.parents[call], ast.Assign)}:
        name = held.targets[0].id if isinstance(held.targets[0], ast.Name) else ""
        home = tree.function(source, held)
        used = [
            one for one in uses.names(source, name) if one is not held.targets[0] and tree.function(source, one) is home
        ]
        up = source.parents[used[0]] if len(used) == 1 else None
        moved = source.parents[up] if isinstance(up, ast.Subscript) and up.slice is used[0] else None
        if not isinstance(moved, ast.Assign) or moved.value is not up or tree.function(source, moved) is not home:
            continue
        what = moved.targets[0]
        if not isinstance(what, ast.Name) or tree.dotted(up.value) != what.id or _TARGET.search(what.id):  # type: ignore[attr-defined]  # a Subscript
            continue
        other = next((one for one in _beside(source, moved)), None)
        if other is not None:
            told = f"`{what.id}` is shuffled and `{other.id}` is not, so their pairs come apart: write `{other.id} = {other.id}[{name}]` too"
            yield source.hit(moved, told)


def _alone(source: Source) -> Iterator[Hit]:
    """`np.random.shuffle(x)` and no shuffle of `y`, where `x[:n], y[:n]` or `TensorDataset(x, y)` follows."""
    shuffles = [*source.calls(*_IN_PLACE), *(one for one in source.methods("shuffle") if not source.name(one.func))]
    for call in shuffles:
        what, home = call.args[0] if len(call.args) == 1 else None, tree.function(source, call)
        if not isinstance(what, ast.Name) or _TARGET.search(what.id) or not tree.is_statement(source, call):
            continue
        if home is not None and home.name == "__getitem__":
            continue  # the points of one sample, whose label is one
        beside = [one for one in shuffles if one is not call and tree.function(source, one) is home]
        other = _partner(source, call, what)
        code = source.code(home) if home is not None else source.text
        if other and not beside and not re.search(rf"\b{other}\s*=\s*{other}\[", code):
            told = f"`{what.id}` is shuffled and `{other}` is not, so their pairs come apart"
            yield source.hit(call, f"{told}: draw one permutation and index both with it")


def _partner(source: Source, call: ast.Call, what: ast.Name) -> str:
    """The target that stands beside the shuffled one afterwards, taken as it is or by the same slice, and was there before."""
    home = tree.function(source, call) or source.tree
    for node in tree.body_nodes(home):
        joins = isinstance(node, ast.Call) and source.name(node.func) in ("zip", "torch.utils.data.TensorDataset")
        pair = node.args if isinstance(node, ast.Call) and joins else node.elts if isinstance(node, ast.Tuple) else []
        if len(pair) != 2 or getattr(node, "lineno", 0) <= call.lineno:
            continue
        names = [next((one for one in ast.walk(part) if isinstance(one, ast.Name)), None) for part in pair]
        first, second = names
        if first is None or second is None or first.id != what.id or not _TARGET.search(second.id):
            continue
        alike = source.code(pair[0]).replace(first.id, "_", 1) == source.code(pair[1]).replace(second.id, "_", 1)
        bound = [getattr(one.statement, "lineno", 0) for one in scopes.reaching(source, second)]
        if alike and bound and max(bound) < call.lineno and isinstance(second.ctx, ast.Load):
            return second.id
    return ""


def _beside(source: Source, statement: ast.Assign) -> Iterator[ast.Name]:
    """The names that a dataset or a `zip` pairs with the shuffled one, and that were made before and stay as they were."""
    for call in source.calls("torch.utils.data.TensorDataset", "zip"):
        if call.lineno < statement.lineno or len(call.args) != 2:
            continue
        names = [[one for one in ast.walk(arg) if isinstance(one, ast.Name)] for arg in call.args]
        mine = [
            any([f.statement for f in scopes.reaching(source, one)] == [statement] for one in part) for part in names
        ]
        if sum(mine) != 1:
            continue
        for one in names[mine.index(False)]:
            bound = scopes.reaching(source, one)
            if len(bound) == 1 and bound[0].how == "assign" and bound[0].statement.lineno < statement.lineno:  # type: ignore[attr-defined]  # a statement
                yield one

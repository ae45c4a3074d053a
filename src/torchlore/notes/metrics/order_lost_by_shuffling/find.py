"""The rule of order-lost-by-shuffling."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, iteration, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.project import Function, as_function
from torchlore.check.source import Hit, Source

_PAIRS = regex(r"acc|score|report|confusion|auc|metric|error|corrcoef|dataframe|series|^zip$", re.IGNORECASE)
_SAME_ROWS = {"cat", "concatenate", "concat", "stack", "vstack", "hstack", "array", "asarray", "tensor", "as_tensor", "list",
              "argmax", "from_numpy", "round", "sigmoid", "softmax", "LongTensor", "FloatTensor"}  # fmt: skip
_LIBRARIES = ("torch", "np", "numpy", "F", "nn", "pd", "pandas")
_NOT_ROWS = {
    "classes",
    "class_to_idx",
    "num_classes",
    "n_classes",
    "transform",
    "vocab",
    "shape",
    "columns",
    "class_names",
}
WORDS = ("*shuffle*|*dataloader*",)


def find(source: Source) -> Iterator[Hit]:
    if ("shuffle" not in source.text and "DataLoader" not in source.text) or not _some_shuffle(source):
        return
    for loop in source.all(ast.For):
        loader = _shuffled(source, loop)
        kept = _kept(source, loop) if loader is not None and not _trains(source, loop) else set()
        stored = _stored(source, loader) if loader is not None and kept else set()
        pair = next(_pairs(source, loop, kept, stored), None) if stored else None
        if loader is None or pair is None:
            continue
        told = "the predictions are in the order of the draw, what they are put beside lies in that of the data"
        if any(
            _trains(source, one) for one in source.all(ast.For) if one is not loop and _shuffled(source, one) is loader
        ):
            yield source.hit(pair, f"{told}: collect the labels in the loop of the predictions")
        else:
            yield source.hit(loader, f"{told} (line {pair.lineno}): do not shuffle here")
    yield from _given_back(source)
    yield from _by_turn(source) if "enumerate" in source.text else ()


def _some_shuffle(source: Source) -> bool:
    """Whether any call of the file is given `shuffle=True`, or True in its place."""
    named = any(tree.literal(one.value) is True for one in uses.keywords(source, "shuffle"))
    return named or any(len(one.args) > 2 and tree.literal(one.args[2]) is True for one in source.all(ast.Call))


def _given_back(source: Source) -> Iterator[Hit]:
    """`predict(net, loader)` gives back what it kept of each batch, and the caller puts it beside what the data set stores."""
    for loop in source.all(ast.For):
        home, over = tree.function(source, loop), iteration.unwrapped(source, loop.iter)
        arg = next((one for one in tree.parameters(home) if one.arg == tree.dotted(over)), None) if home else None
        kept = _kept(source, loop) if home is not None and arg is not None and not _trains(source, loop) else set()
        if home is None or arg is None or not kept:
            continue
        made = as_function(source, home)
        for where, call, skip in calls.callers(made):
            loader = calls.given_argument(made, call, arg, skip)
            shuffles = _made_shuffled(source, loader) if loader is not None and where is source else None
            if loader is None or shuffles is None or _by_batch(source, loader):
                continue
            names = _received(source, call, made, kept)
            stored = (
                _stored(source, shuffles) if tree.function(source, shuffles) is tree.function(source, call) else set()
            )
            pair = next(_pairs(source, call, names, stored, f"{source.code(loader)}.dataset"), None)
            if pair is not None:
                told = "the predictions are in the order of the draw, what they are put beside lies in that of the data"
                yield source.hit(shuffles, f"{told} (line {pair.lineno}): do not shuffle here")


def _by_batch(source: Source, loader: ast.expr) -> bool:
    """Whether a loop also trains on this loader, which has to shuffle then."""
    made = _made_shuffled(source, loader)
    return any(_trains(source, one) and _shuffled(source, one) is made for one in source.all(ast.For))


def _received(source: Source, call: ast.Call, made: Function, kept: set[str]) -> set[str]:
    """The names that the caller gives to those results which are rows of what was kept."""
    statement = tree.statement(source, call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    backs = calls.returned(made)
    if target is None or len(backs) != 1:
        return set()
    both = isinstance(target, ast.Tuple) and isinstance(backs[0], ast.Tuple)
    pairs = zip(target.elts, backs[0].elts, strict=False) if both else [(target, backs[0])]  # type: ignore[attr-defined]  # both are tuples
    return {one.id for one, back in pairs if isinstance(one, ast.Name) and _root_behind(made.source, back) in kept}


def _by_turn(source: Source) -> Iterator[Hit]:
    """`soft[i]` in the i-th turn over a loader that shuffles anew, where an earlier pass over it filled `soft` batch by batch."""
    for loop in source.all(ast.For):
        index = iteration.index(source, loop)
        if not index or _shuffled(source, loop) is None:
            continue
        for taken in tree.under(source, loop, ast.Subscript):
            by_turn = isinstance(taken.slice, ast.Name) and taken.slice.id == index and isinstance(taken.ctx, ast.Load)
            if by_turn and isinstance(taken.value, ast.Name) and _filled_by_turn(source, taken.value, loop):
                code = source.code(taken.value)
                told = f"`{code}` was filled in another pass over this loader, which shuffles anew, so `{source.code(taken)}` is of other samples"
                yield source.hit(taken, f"{told}: compute it from this batch, or keep it by the sample's index")


def _filled_by_turn(source: Source, name: ast.Name, loop: ast.For) -> bool:
    """Whether each turn of another loop over a shuffling loader has appended to this list, here or in the function that made it."""
    made = follow.followed(source, name)
    function = flow.called(source, made) if isinstance(made, ast.Call) else None
    if function is not None and isinstance(made, ast.Call):
        given = {one.id for one in calls.returned(function) if isinstance(one, ast.Name)}
        fills = [one for one in tree.under(function.source, function.node, ast.For) if given & _grown(one)]
        over = [iteration.unwrapped(function.source, one.iter) for one in fills]
        passed = {
            arg.arg: calls.given_argument(function, made, arg, 1 if function.owner else 0)
            for arg in tree.parameters(function.node)
        }
        loaders = [passed.get(tree.dotted(one)) or one for one in over]
        return any(_made_shuffled(source, one) is not None for one in loaders)
    others = [
        one
        for one in source.all(ast.For)
        if one is not loop and tree.function(source, one) is tree.function(source, loop)
    ]
    return any(name.id in _grown(one) and _shuffled(source, one) is not None for one in others)


def _grown(loop: ast.For) -> set[str]:
    """The lists that get one entry in each turn."""
    plain = [one.value for one in loop.body if isinstance(one, ast.Expr)]
    return {
        tree.dotted(tree.receiver(one)) for one in plain if isinstance(one, ast.Call) and follow.method(one) == "append"
    }


def _shuffled(source: Source, loop: ast.For) -> ast.Call | None:
    """The call that made the loop's loader, where it surely shuffles."""
    return _made_shuffled(source, iteration.unwrapped(source, loop.iter))


def _made_shuffled(source: Source, loader: ast.expr) -> ast.Call | None:
    found = source.values(loader)
    made = found[0].node if len(found) == 1 and found[0].kind == "loader" and found[0].source is source else None
    shuffles = isinstance(made, ast.Call) and tree.literal(tree.argument(made, 2, "shuffle")) is True
    return made if isinstance(made, ast.Call) and shuffles else None


def _trains(source: Source, loop: ast.For) -> bool:
    return any(tree.inside(source, call, loop) for call in source.methods("backward", "step"))


def _kept(source: Source, loop: ast.For) -> set[str]:
    """Names outside the loop that grow by what each batch gives, but for the batch's own columns."""
    found: set[str] = set()
    for node in tree.body_nodes(loop):
        grown: ast.expr | None = None
        if isinstance(node, ast.Call) and follow.method(node) in ("append", "extend") and node.args:
            grown, added = tree.receiver(node), node.args[0]
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            grown, added = node.target, node.value
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _tail(node.value) in _SAME_ROWS:
            grown, added = node.targets[0], node.value
            grown = grown if _root(grown) in {one.id for one in tree.under(source, added, ast.Name)} else None
        if isinstance(grown, ast.Name) and any(isinstance(one, ast.Call) for one in _made(source, added)):
            found.add(grown.id)
    return found


def _made(source: Source, node: ast.expr) -> Iterator[ast.expr]:
    """The expression and what its names were given: a model's output is a call somewhere."""
    yield from tree.under(source, node, ast.Call)
    for name in tree.under(source, node, ast.Name):
        value = follow.binding(source, name)
        if value is not None:
            yield value


def _stored(source: Source, loader: ast.Call) -> set[str]:
    """Names of the data set and of the columns it was made of."""
    data = tree.argument(loader, 0, "dataset")
    made = follow.followed(source, data) if data is not None else None
    given = [*made.args, *(one.value for one in made.keywords)] if isinstance(made, ast.Call) else []
    return {name for one in (data, *given) if one is not None and (name := _root(one))}


def _pairs(
    source: Source, loop: ast.For | ast.Call, kept: set[str], stored: set[str], data: str = ""
) -> Iterator[ast.expr]:
    """Where what was kept stands beside what is stored, after the loop."""
    home = tree.function(source, loop) or source.tree
    for node in tree.body_nodes(home):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and _PAIRS.search(_tail(node)):
            parts = [*node.args, *(one.value for one in node.keywords)]
            parts = [value for one in parts for value in (one.values if isinstance(one, ast.Dict) else [one])]
        if isinstance(node, ast.expr) and node.lineno > (loop.end_lineno or loop.lineno):
            roots = {_root_behind(source, one) for one in parts}
            if roots & kept and (roots & (stored - kept) or any(_column(source, one, data) for one in parts if data)):
                yield node


def _column(source: Source, node: ast.expr, data: str) -> bool:
    """Whether an expression has the rows of this data set: `loader.dataset.targets`, under another name too."""
    node = follow.followed(source, node)
    name = _name(node)
    found = [one for one in tree.under(source, node, ast.Attribute) if one.attr not in _NOT_ROWS]
    return name is not None and any(source.code(one.value) == data for one in found)


def _root_behind(source: Source, node: ast.expr) -> str:
    """The name whose rows an expression has, through names that were given others."""
    for _ in range(3):
        root = _name(node)
        bound = scopes.reaching(source, root) if root is not None else []
        value = bound[0].value if len(bound) == 1 and bound[0].how == "assign" and not bound[0].path else None
        if root is None or value is None or _name(value) is None:
            break
        node = value
    return _root(node)


def _root(node: ast.expr) -> str:
    name = _name(node)
    return name.id if name is not None else ""


def _name(node: ast.expr | None) -> ast.Name | None:
    """`y_test` of `torch.tensor(y_test).numpy()`, `data` of `data.targets`; None where the rows are not those of a name."""
    while node is not None and not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            node = _given(node)
        elif isinstance(node, ast.Attribute):
            node = node.value if node.attr not in _NOT_ROWS else None
        else:
            node = node.value if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice) else None
    return node


def _given(call: ast.Call) -> ast.expr | None:
    """What a function that keeps the rows was given, or what a method was called on."""
    function = isinstance(call.func, ast.Name) or tree.dotted(call.func).partition(".")[0] in _LIBRARIES
    if not function:
        return tree.receiver(call)
    first = call.args[0] if call.args and _tail(call) in _SAME_ROWS else None
    return first.elts[0] if isinstance(first, ast.List | ast.Tuple) and first.elts else first


def _tail(call: ast.Call) -> str:
    return tree.dotted(call.func).rpartition(".")[2]

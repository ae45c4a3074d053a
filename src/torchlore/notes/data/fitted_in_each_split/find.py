"""The rule of fitted-in-each-split."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, follow, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.project import Class, as_function
from torchlore.check.source import Hit, Source

_HELD_OUT = regex(r"(^|_)(val|valid|validation|test|dev|eval)(_|$|s?(et|data|ds))|^(val|test)", re.IGNORECASE)
_TRAIN = regex(r"(^|_)(train|training|trn)(_|$|s?(et|data|ds))|^train", re.IGNORECASE)
_TARGET = regex(r"y_|.*(?:label|target)")
_CLASSES = regex(r"class(?:es|_?ids?)(?:_|$)|seen(?:_|$)", re.IGNORECASE)
_RUNS = ("mean", "std", "min", "max")
_STATISTICS = ("mean", "std", "var", "min", "max", "amin", "amax")
WORDS = ("mean|std|var|min|max|amin|amax|enumerate", "*train*|*trn*", "*val*|*test*|*dev*")


def find(source: Source) -> Iterator[Hit]:
    yield from (*_by_helper(source), *_left_out(source))
    if "Dataset" not in source.text:
        return
    for cls in classes.all_classes(source):
        if not _made_for_both(source, cls) or classes.kind_of_instances(cls) != "dataset":
            continue
        for name, found in classes.own_attributes(cls).items():
            value = found[0].value if len(found) == 1 and found[0].method == "__init__" and not found[0].path else None
            if value is not None and (_numbers(source, value) or _scaled(source, value)):
                what = "the numbers" if _numbers(source, value) else "the scale"
                told = f"each split computes {what} of `self.{name}` from its own data, so they differ between training and test"
                yield source.hit(value, f"{told}: compute it from the training data and pass it on")


def _by_helper(source: Source) -> Iterator[Hit]:
    """`x_train = normalize(x_train)`, `x_test = normalize(x_test)`, where the function takes the scale from what it gets."""
    for home in source.all(ast.FunctionDef) if "mean(" in source.text or "max(" in source.text else ():
        if len(home.args.args) != 1 or tree.method_class(source, home) is not None:
            continue
        inner = as_function(source, home)
        back = calls.returned(inner)
        if len(back) != 1 or not _scaled(source, follow.followed(source, back[0])):
            continue
        given = [(call, _named(call.args[0])) for at, call, _ in calls.callers(inner) if at is source and call.args]
        trained = [name for _, name in given if _TRAIN.search(name) and not _HELD_OUT.search(name)]
        for call, name in given if trained else ():
            if _HELD_OUT.search(name) and not _TRAIN.search(name) and not _TARGET.match(name):
                told = (
                    f"`{home.name}` takes the scale of `{name}` from itself, so it differs from that of `{trained[0]}`"
                )
                yield source.hit(call, f"{told}: compute mean and std from the training data and use them for both")


def _named(node: ast.expr) -> str:
    """`x_test` of `self.x_test`, and `test_x` of `test.x`."""
    owner, _, name = tree.dotted(node).rpartition(".")
    return f"{owner}_{name}" if owner.isidentifier() and owner != "self" else name


def _left_out(source: Source) -> Iterator[Hit]:
    """`normalize(x_test)` of `def normalize(x, stats=None)`, which takes the scale from `x` where it is given none."""
    runs = any(source.methods(*_RUNS)) and "is None" in source.text
    asked = [one for one in source.all(ast.If) if _asks_and_fits(one)] if runs else []
    homes = {up for one in asked for up in tree.ancestors(source, one)}
    for home in source.all(ast.FunctionDef) if homes else ():
        args = tree.parameters(home) if home in homes and tree.method_class(source, home) is None else []
        tests = [one for one in asked if tree.inside(source, one, home)] if len(args) > 1 else []
        fits = {one.arg for one in args[1:] if _fits(tests, args[0].arg, one.arg)}
        if not fits:
            continue
        inner = as_function(source, home)
        made = [(call, _named(call.args[0])) for at, call, _ in calls.callers(inner)
                if at is source and call.args]  # fmt: skip
        trained = [name for _, name in made if _TRAIN.search(name) and not _HELD_OUT.search(name)]
        for call, name in made if trained else ():
            own = len(call.args) == 1 and not any(one.arg is None or one.arg in fits for one in call.keywords)
            if own and _HELD_OUT.search(name) and not _TRAIN.search(name) and not _TARGET.match(name):
                told = (
                    f"`{home.name}` takes the scale of `{name}` from itself, so it differs from that of `{trained[0]}`"
                )
                yield source.hit(call, f"{told}: hand on `{min(fits)}` of the training data")


def _asks_and_fits(one: ast.If) -> bool:
    """Whether this is `if ... is None:` with a mean or a deviation below it."""
    return isinstance(one.test, ast.Compare) and isinstance(one.test.ops[0], ast.Is) and bool(_runs(one))


def _runs(one: ast.If) -> list[ast.Call]:
    """The means and deviations that are computed below a test."""
    found = (part for line in one.body for part in ast.walk(line) if isinstance(part, ast.Call))
    return [part for part in found if follow.method(part) in _RUNS]


def _fits(tests: list[ast.If], data: str, name: str) -> bool:
    """Whether `if name is None:` computes it as a mean or a deviation of the data."""
    runs = [part for one in tests if tree.dotted(one.test.left) == name for part in _runs(one)]  # type: ignore[attr-defined]  # a comparison
    return any(data in (tree.dotted(tree.receiver(part)), *map(tree.dotted, part.args[:1])) for part in runs)


def _made_for_both(source: Source, cls: Class) -> bool:
    """Whether the class is made once for training and once for what is held out, with different data and the same arguments."""
    roles = set()
    made = list(source.calls(cls.qualified))
    for call in made:
        held = tree.statement(source, call)
        name = (
            tree.dotted(held.targets[0]).rpartition(".")[2]
            if isinstance(held, ast.Assign) and held.value is call
            else ""
        )
        roles.add("train" if _TRAIN.search(name) else "held" if _HELD_OUT.search(name) else "")
    alike = len({(len(call.args), tuple(sorted(one.arg or "" for one in call.keywords))) for call in made}) == 1
    different = len({source.code(call) for call in made}) == len(made)
    return {"train", "held"} <= roles and alike and different and not _of_other_classes(source, made)


def _of_other_classes(source: Source, made: list[ast.Call]) -> bool:
    """`Few(data, classes=seen)` and `Few(data, classes=unseen)`: each is told its classes, and numbers its own."""
    told: dict[str, set[str]] = {}
    for call in made:
        for one in call.keywords:
            told.setdefault(one.arg or "", set()).add(source.code(one.value))
        for number, arg in enumerate(call.args):
            told.setdefault(f"{number}", set()).add(source.code(arg))
    return any(
        len(each) > 1 and (_CLASSES.search(name) or all(map(_CLASSES.search, each))) for name, each in told.items()
    )


def _numbers(source: Source, value: ast.expr) -> bool:
    """`{word: i for i, word in enumerate(sorted(set(...)))}` over what was handed in."""
    if not isinstance(value, ast.DictComp) or len(value.generators) != 1:
        return False
    over = value.generators[0].iter
    target = value.generators[0].target
    if isinstance(target, ast.Tuple) and tree.dotted(value.key) == tree.dotted(target.elts[0]):
        return False  # from the place to the row: it lists the samples
    if not (isinstance(over, ast.Call) and source.name(over.func) == "enumerate" and over.args):
        return False
    seen = ast.unparse(follow.followed(source, over.args[0]))
    unique = "set(" in seen or "unique" in seen or "{" in seen or "Counter" in seen
    return unique and _of_parameter(source, over.args[0])


def _of_parameter(source: Source, node: ast.expr) -> bool:
    """Whether it comes from what `__init__` was given."""
    inner = follow.followed(source, node)
    for name in (one for one in ast.walk(inner) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)):
        if any(one.how == "parameter" for one in scopes.reaching(source, name)):
            return True
    return False


def _scaled(source: Source, value: ast.expr) -> bool:
    """`(x - x.mean(0)) / x.std(0)` with the parameter itself; the statistics of one sample are another thing."""
    if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)):
        return False
    top, below = value.left, value.right
    if isinstance(below, ast.BinOp) and isinstance(below.op, ast.Add):
        below = below.left
    if not (isinstance(top, ast.BinOp) and isinstance(top.op, ast.Sub) and isinstance(top.left, ast.Name)):
        return False
    parts = [follow.followed(source, one) for one in (top.right, below)]
    same = all(
        isinstance(one, ast.Call)
        and follow.method(one) in _STATISTICS
        and tree.dotted(tree.receiver(one)) == top.left.id
        for one in parts
    )
    dims = [
        tree.literal(one.args[0]) if one.args else tree.literal(tree.argument(one, None, "dim"))
        for one in parts
        if isinstance(one, ast.Call)
    ]
    per_sample = any(dim in (1, -1, 2) for dim in dims)
    return same and not per_sample and any(one.how == "parameter" for one in scopes.reaching(source, top.left))

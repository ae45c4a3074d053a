"""The rule of scaler-fitted-on-test-data."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, edits, flow, follow, origin, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_HELD_OUT = regex(r"(^|_)(test|val|valid|validation|tst|holdout)(_|$)|^(x|y)_?(test|val|te)$", re.IGNORECASE)
_SCALERS = {"StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "PowerTransformer", "QuantileTransformer",
            "PCA", "Normalizer", "LabelEncoder", "OneHotEncoder", "SimpleImputer", "TfidfVectorizer", "CountVectorizer"}  # fmt: skip
WORDS = ("mean|random_split|fit|fit_transform",)


def find(source: Source) -> Iterator[Hit]:
    yield from _by_hand(source)
    yield from _then_split(source) if "random_split" in source.text else ()
    if "sklearn" not in source.text and "fit" not in source.text:
        return
    said = list(_whole_then_cut(source))
    yield from said
    for call in source.methods("fit_transform", "fit"):
        if any(one.line == call.lineno for one in said):
            continue
        given, owner = call.args[0] if call.args else None, tree.receiver(call)
        own = given is not None and _fitted_before(source, call)
        if given is None or not (own or _is_scaler(source, owner)):
            continue
        later = None if own else _split_later(source, call, given)
        made = source.code(owner) + source.code(follow.followed(source, owner))  # names of classes, no statistics
        if later is not None and "Encoder" not in made and "Vectorizer" not in made:
            told = f"the test rows of the split on line {later.lineno} are in these statistics: split first, fit on the training part"
            yield source.hit(call, told, severity="hint" if _made_up(source, call) else "warning")
            continue
        name = tree.dotted(given.value if isinstance(given, ast.Subscript) else given).rpartition(".")[2]
        if _HELD_OUT.search(name) and not re.search("train", name, re.IGNORECASE) and not _drawn(source, owner):
            code = source.code(owner)
            fix = (edits.rename(source, call.func, "transform"),) if call.func.attr == "fit_transform" else ()  # type: ignore[arg-type, attr-defined]  # a method
            yield source.hit(
                call, f"`{code}` learns its statistics from `{name}`: fit it on the training data and write `{code}.transform`",
                *fix,
            )  # fmt: skip


def _whole_then_cut(source: Source) -> Iterator[Hit]:
    """`scaler.fit(x)`, `x = scaler.transform(x)`, and then `x[:n]` is the training set and `x[n:]` the test set."""
    for call in source.methods("fit_transform", "fit"):
        given, owner = call.args[0] if len(call.args) == 1 else None, tree.receiver(call)
        owner = follow.followed(source, owner)
        if not isinstance(given, ast.Name) or not (_is_scaler(source, owner) or _own_scaler(source, owner)):
            continue
        part = re.search("train|tr$", given.id) or _HELD_OUT.search(given.id)  # rows of one side alone
        if part or re.search("Encoder|Vectorizer|PCA", source.code(owner)):
            continue
        home = tree.function(source, call)
        for held in uses.assigns(source, ast.Name, ast.Call):
            name, made = held.targets[0], held.value
            same = tree.function(source, held) is home and held.lineno >= call.lineno
            scales = follow.method(made) == "transform" and [tree.dotted(one) for one in made.args] == [given.id]  # type: ignore[attr-defined]  # a call
            later = (
                _parted(source, held, name)
                if same and (scales or made is call) and isinstance(name, ast.Name)
                else None
            )
            if later is not None:
                told = f"the test rows that line {later.lineno} takes are in these statistics: fit on the training part alone"
                yield source.hit(call, told, severity="hint" if _made_up(source, call) else "warning")
                break


def _own_scaler(source: Source, owner: ast.expr) -> bool:
    """Whether it is of a class of the project that fits and transforms."""
    made = [classes.class_behind(source, one) for one in source.values(owner)]
    ways = [set(classes.methods(one)) for one in made if one is not None and not classes.is_module(one)]
    return len(ways) == len(made) == 1 and {"fit", "transform"} <= ways[0]


def _parted(source: Source, held: ast.Assign, name: ast.Name) -> ast.stmt | None:
    """The statement with both `x[:n]` and `x[n:]`, or the one that takes held-out rows by name."""
    home = tree.function(source, held)
    cuts: dict[str, tuple[str, ast.stmt]] = {}
    for one in uses.names(source, name.id):
        up = source.parents[one]
        cut = up.slice if isinstance(up, ast.Subscript) and up.value is one and one.lineno > held.lineno else None
        if isinstance(cut, ast.Slice) and tree.function(source, one) is home and cut.step is None:
            if cut.lower is None and cut.upper is not None:
                cuts["head"] = source.code(cut.upper), tree.statement(source, one)
            elif cut.upper is None and cut.lower is not None:
                cuts["tail"] = source.code(cut.lower), tree.statement(source, one)
    both = len(cuts) == 2 and cuts["head"][0] == cuts["tail"][0]
    return cuts["tail"][1] if both else _cut_later(source, held, name)


def _drawn(source: Source, owner: ast.expr) -> bool:
    """`PCA(n_components=2)`: a plane to draw the points in."""
    made = follow.followed(source, owner)
    sizes = tree.argument(made, 0, "n_components") if isinstance(made, ast.Call) else None
    return sizes is not None and tree.literal(sizes) in (2, 3)


def _fitted_before(source: Source, call: ast.Call) -> bool:
    """Whether a scaler of the project was fitted to the training data further up, and is fitted anew here."""
    owner, home = tree.receiver(call), tree.function(source, call)
    made = [classes.class_behind(source, one) for one in source.values(owner)]
    ways = [set(classes.methods(one)) for one in made if one is not None]
    if not ways or len(ways) != len(made) or not all({"transform", follow.method(call)} <= one for one in ways):
        return False
    earlier = [one for one in source.methods("fit", "fit_transform") if one.lineno < call.lineno and one.args]
    same = [one for one in earlier if source.code(tree.receiver(one)) == source.code(owner)]
    return any(tree.function(source, one) is home and "train" in source.code(one.args[0]).lower() for one in same)


def _split_later(source: Source, call: ast.Call, given: ast.expr) -> ast.Call | None:
    """A split into training and test data of what the scaler has seen whole."""
    held = source.parents[call]
    names = {tree.dotted(given), tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""} - {""}
    for split in source.calls("sklearn.model_selection.train_test_split"):
        same = tree.function(source, split) is tree.function(source, call) and split.lineno > call.lineno
        if same and any(tree.dotted(arg) in names for arg in split.args):
            return split
    return None


def _made_up(source: Source, call: ast.Call) -> bool:
    """Whether the function draws its rows itself: a toy."""
    home = tree.function(source, call)
    return (
        home is not None and re.search(r"\brandom\.\w+\(|make_(blobs|moons|regression)", source.code(home)) is not None
    )


def _is_scaler(source: Source, owner: ast.expr) -> bool:
    """Whether it was made by one of scikit-learn's transformers, and not for this data alone."""
    if isinstance(owner, ast.Call):
        return source.name(owner.func).rpartition(".")[2] in _SCALERS
    found = scopes.reaching(source, owner) if isinstance(owner, ast.Name) else []
    calls = [source.name(one.value.func) for one in found if isinstance(one.value, ast.Call)]
    return bool(calls) and all(one.startswith("sklearn.") and one.rpartition(".")[2] in _SCALERS for one in calls)


def _by_hand(source: Source) -> Iterator[Hit]:
    """`x = (x - x.mean(0)) / x.std(0)`, and then `x[:n]` is the training set and `x[n:]` the test set."""
    for held in uses.assigns(source, ast.Name, ast.BinOp):
        scaled, name = held.value, held.targets[0]
        if not isinstance(name, ast.Name) or not isinstance(scaled, ast.BinOp) or not isinstance(scaled.op, ast.Div):
            continue
        centred = scaled.left
        if (
            not isinstance(centred, ast.BinOp)
            or not isinstance(centred.op, ast.Sub)
            or not isinstance(centred.left, ast.Name)
        ):
            continue
        mean = follow.followed(source, centred.right)
        whole = isinstance(mean, ast.Call) and follow.method(mean) == "mean" and _by_column(mean)
        same = whole and isinstance(mean, ast.Call) and _same_rows(source, tree.receiver(mean), centred.left)
        later = _cut_later(source, held, name) if same else None
        if later is not None and isinstance(mean, ast.Call):
            at = mean if mean.lineno >= held.lineno - 3 else held
            told = f"the test rows that line {later.lineno} takes are in this mean: split first, and take it over the training part"
            yield source.hit(at, told, severity="warning")


def _then_split(source: Source) -> Iterator[Hit]:
    """`random_split(TensorDataset(standardise(x), y), ...)`: the statistics are those of all rows."""
    for split in source.calls("torch.utils.data.random_split"):
        data = follow.followed(source, split.args[0]) if split.args else None
        held = isinstance(data, ast.Call) and source.name(data.func) == "torch.utils.data.TensorDataset"
        for column in data.args if held and isinstance(data, ast.Call) else ():
            made = follow.followed(source, column)
            inner = flow.called(source, made) if isinstance(made, ast.Call) else None
            backs = calls.returned(inner) if inner is not None else []
            at, scaled = (inner.source, backs[0]) if inner is not None and len(backs) == 1 else (source, made)
            scaled = follow.followed(at, scaled)
            if isinstance(scaled, ast.BinOp) and _own_mean(at, scaled):
                told = f"the rows that line {split.lineno} holds out are in this mean: split first, and take it over the training part"
                yield source.hit(made, told, severity="warning")
                break


def _own_mean(source: Source, scaled: ast.BinOp) -> bool:
    """`(x - x.mean(0)) / x.std(0)`."""
    centred = scaled.left
    if not isinstance(scaled.op, ast.Div) or not isinstance(centred, ast.BinOp) or not isinstance(centred.op, ast.Sub):
        return False
    mean, rows = origin.origin(source, centred.right)[1], centred.left
    whole = isinstance(mean, ast.Call) and follow.method(mean) == "mean" and _by_column(mean)
    return (
        whole
        and isinstance(mean, ast.Call)
        and isinstance(rows, ast.Name)
        and _same_rows(source, tree.receiver(mean), rows)
    )


def _by_column(mean: ast.Call) -> bool:
    given = tree.argument(mean, 0, "dim") or tree.argument(mean, None, "axis")
    return given is not None and tree.literal(given) == 0


def _same_rows(source: Source, owner: ast.expr, rows: ast.Name) -> bool:
    """Whether the mean is over all the rows that are scaled by it."""
    if not isinstance(owner, ast.Name) or owner.id != rows.id:
        return False
    return scopes.reaching(source, owner) == scopes.reaching(source, rows)


def _cut_later(source: Source, held: ast.Assign, name: ast.Name) -> ast.stmt | None:
    """The statement that takes a part of the scaled rows as held-out data."""
    home = tree.function(source, held)
    for one in uses.names(source, name.id):
        up, statement = source.parents[one], tree.statement(source, one)
        after = one.lineno > held.lineno and tree.function(source, one) is home and isinstance(statement, ast.Assign)
        if not after or not isinstance(statement, ast.Assign):
            continue
        cut = up.slice if isinstance(up, ast.Subscript) and up.value is one else None
        taken = isinstance(cut, ast.Slice)
        start = source.code(cut.lower) if isinstance(cut, ast.Slice) and cut.lower is not None else ""
        split = isinstance(up, ast.Call) and source.name(up.func) == "sklearn.model_selection.train_test_split"
        names = [part.id for target in statement.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        held_out = [part for part in names if _HELD_OUT.search(part) and not re.search("train", part, re.IGNORECASE)]
        if (taken or split) and (held_out or "train" in start.lower()):
            return statement
    return None

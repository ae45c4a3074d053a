"""Statistics for scaling come from the training data alone, never from `fit_transform(x_test)`.

`scaler.fit_transform(x_test)` centres the test set on itself. Whatever differs from training, a shift or another scale,
is removed before the model sees it: the score is of another problem, and one sample can no longer be predicted at all.
Fitting on everything before the split leaks the other way, from test to training.

Split first, fit on the training part, transform the rest: `scaler.fit(x_train)`, then `scaler.transform(x_test)`.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, scopes, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://scikit-learn.org/stable/common_pitfalls.html",)
TORCH = "2.11, 2.15"
NEEDS = ("sklearn",)
SEVERITY = "error"
_HELD_OUT = re.compile(r"(^|_)(test|val|valid|validation|tst|holdout)(_|$)|^(x|y)(test|val)$", re.IGNORECASE)
_SCALERS = {"StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "PowerTransformer", "QuantileTransformer",
            "PCA", "Normalizer", "LabelEncoder", "OneHotEncoder", "SimpleImputer", "TfidfVectorizer", "CountVectorizer"}  # fmt: skip


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["shift_seen"] < 0.01
    assert good["shift_seen"] > 2.0


def find(source: Source) -> Iterator[Hit]:
    if "sklearn" not in source.text:
        return
    for call in source.methods("fit_transform", "fit"):
        given, owner = call.args[0] if call.args else None, tree.receiver(call)
        if given is None or not _is_scaler(source, owner):
            continue
        later = _split_later(source, call, given)
        if later is not None and "Encoder" not in source.code(owner) and "Vectorizer" not in source.code(owner):
            told = f"the test rows of the split on line {later.lineno} are in these statistics: split first, fit on the training part"
            yield source.hit(call, told, severity="warning")
            continue
        name = tree.dotted(given.value if isinstance(given, ast.Subscript) else given).rpartition(".")[2]
        if _HELD_OUT.search(name) and not re.search("train", name, re.IGNORECASE):
            code = source.code(owner)
            fix = (edits.rename(source, call.func, "transform"),) if call.func.attr == "fit_transform" else ()  # type: ignore[arg-type, attr-defined]  # a method
            yield source.hit(
                call, f"`{code}` learns its statistics from `{name}`: fit it on the training data and write `{code}.transform`",
                *fix,
            )  # fmt: skip


def _split_later(source: Source, call: ast.Call, given: ast.expr) -> ast.Call | None:
    """A split into training and test data of what the scaler has seen whole."""
    held = source.parents[call]
    names = {tree.dotted(given), tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""} - {""}
    for split in source.calls("sklearn.model_selection.train_test_split"):
        same = tree.function(source, split) is tree.function(source, call) and split.lineno > call.lineno
        if same and any(tree.dotted(arg) in names for arg in split.args):
            return split
    return None


def _is_scaler(source: Source, owner: ast.expr) -> bool:
    """Whether it was made by one of scikit-learn's transformers, and not for this data alone."""
    if isinstance(owner, ast.Call):
        return source.name(owner.func).rpartition(".")[2] in _SCALERS
    found = scopes.reaching(source, owner) if isinstance(owner, ast.Name) else []
    calls = [source.name(one.value.func) for one in found if isinstance(one.value, ast.Call)]
    return bool(calls) and all(one.startswith("sklearn.") and one.rpartition(".")[2] in _SCALERS for one in calls)

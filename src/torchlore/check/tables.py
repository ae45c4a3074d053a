"""Tables of pandas and scikit-learn: how many dimensions their parts have."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import follow, tree
from torchlore.check.pattern import regex

if TYPE_CHECKING:
    from torchlore.check.source import Source

FRAME = 2
KEEP = {"to_numpy", "dropna", "fillna", "reset_index", "set_index", "sort_values", "sort_index", "drop", "drop_duplicates",
        "sample", "head", "tail", "query", "shuffle", "infer_objects", "replace", "rename", "interpolate"}  # fmt: skip
TRANSFORMS = {"fit_transform", "transform", "inverse_transform"}  # of a scaler: as many as it is given
_FRAMES = regex(r"pandas\.(?:DataFrame|read_(?:csv|table|excel|parquet|feather|pickle|json|hdf|sql))$")
_DRAWN = regex(r"sklearn\.datasets\.(?:make_(?:regression|classification|moons|circles|blobs|gaussian_quantiles|"
                    r"hastie_10_2|friedman\d)|(?:load|fetch)_\w+)$")  # fmt: skip
_SPLIT = "sklearn.model_selection.train_test_split"


def is_frame(name: str) -> bool:
    """Whether a call of this full name gives a table."""
    return _FRAMES.match(name) is not None


def promised(source: Source, arg: ast.arg) -> int | None:
    """The dimensions that an annotation promises: a table has two, one column of it one."""
    name = source.name(arg.annotation)
    return {"pandas.DataFrame": FRAME, "pandas.Series": 1}.get(name)


def is_split(source: Source, call: ast.Call) -> bool:
    """`train_test_split(X, y)`, which gives two parts of each."""
    return source.name(call.func) == _SPLIT and not any(isinstance(one, ast.Starred) for one in call.args)


def drawn(source: Source, call: ast.Call, place: int) -> int | None:
    """`X` and `y` of `X, y = make_regression()` or `load_diabetes(return_X_y=True)`."""
    name = source.name(call.func)
    pair = ".make_" in name or tree.literal(tree.keyword(call, "return_X_y")) is True
    several = tree.keyword(call, "n_targets") is not None
    return (FRAME, 1)[place] if _DRAWN.match(name) and pair and place < 2 and not several else None


def member(source: Source, node: ast.Attribute) -> int | None:
    """`housing.data` and `housing.target` of `housing = fetch_california_housing()`; `linnerud` has three targets."""
    made = follow.followed(source, node.value) if node.attr in ("data", "target") else None
    name = source.name(made.func) if isinstance(made, ast.Call) else ""
    known = (
        _DRAWN.match(name) is not None and ".make_" not in name and not name.endswith(("linnerud", "rcv1", "images"))
    )
    return {"data": FRAME, "target": 1}[node.attr] if known else None


def is_columns(source: Source, key: ast.expr) -> bool:
    """`["rooms", "area"]`, or a name for it: some columns are a table again."""
    chosen = follow.followed(source, key)
    return (
        isinstance(chosen, ast.List)
        and bool(chosen.elts)
        and all(isinstance(tree.literal(one), str) for one in chosen.elts)
    )

"""A NumPy number in a checkpoint makes it unreadable under today's `torch.load`.

`best_acc = np.mean(label == prediction) * 100` is an `np.float64`. It looks like a float and saves without a word; but
since torch 2.6 `torch.load` reads weights and plain Python values only, and refuses the whole file for one NumPy
scalar: the run cannot be resumed. `argparse.Namespace`, `Path` and your own classes are refused in the same way.

Convert when you build the dict: `"best_acc": float(best_acc)`, `"args": vars(args)`, `str(path)`. A file that is already
written loads with `torch.serialization.safe_globals([...])`; `lore ckpt` names what is in it without running it.
"""

import ast
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import saved, scopes, tree, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ("ckpt-resume",)
SOURCES = ("003:558", "003:568-578", "003:583")
TORCH = "2.11, 2.15"
NEEDS = ("numpy",)
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import argparse
    import io
    import pickle
    from pathlib import Path

    import torch

    assert bad["resumed"] == "UnpicklingError"
    assert good["resumed"] == 75.0
    for value in (argparse.Namespace(lr=0.1), Path("data")):
        file = io.BytesIO()
        torch.save({"value": value}, file)
        file.seek(0)
        try:
            torch.load(file)
        except pickle.UnpicklingError:
            pass
        else:
            raise AssertionError(f"{type(value).__name__} was loaded as a weight")


_REDUCE = {"mean", "sum", "max", "min", "median", "std", "var", "nanmean", "average", "prod", "percentile",
           "trapz", "quantile"}  # fmt: skip
_CASTS = {"float32", "float64", "int64"}


def find(source: Source) -> Iterator[Hit]:
    trusting = any(
        tree.literal(tree.argument(one, None, "weights_only")) is False for one in source.calls("torch.load")
    )
    for call in source.calls("torch.save") if not trusting else ():
        for key, part in saved.contents(source, call).items:
            if key and _is_numpy(source, part):
                code = source.code(part)
                yield source.hit(
                    call,
                    f"`{code}` is a NumPy number, and torch.load refuses a file that holds one: save `float({code})`",
                )
            elif key and _is_namespace(source, part):
                code = source.code(part)
                yield source.hit(
                    call, f"`{code}` is a Namespace, and torch.load refuses a file that holds one: save `vars({code})`"
                )


def _is_numpy(source: Source, node: ast.expr, hops: int = 4) -> bool:
    if isinstance(node, ast.Call):
        head, _, tail = source.name(node.func).rpartition(".")
        if head in ("", "builtins") and source.name(node.func) in ("max", "min", "round"):
            return any(_is_numpy(source, one, hops) for one in node.args)
        if head == "numpy" and tail in _CASTS:  # of a list it gives an array
            return bool(node.args) and values.sure(source, node.args[0], "number")
        return head == "numpy" and tail in _REDUCE and tree.lacks(node, 1, "axis")
    if isinstance(node, ast.BinOp):
        return _is_numpy(source, node.left, hops) or _is_numpy(source, node.right, hops)
    if isinstance(node, ast.Name) and hops:
        found = [one for one in scopes.reaching(source, node) if one.how == "assign" and not one.path and one.value]
        return any(_is_numpy(source, one.value, hops - 1) for one in found if one.value is not None)
    return False


def _is_namespace(source: Source, node: ast.expr) -> bool:
    found = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    calls = [one.value.func for one in found if isinstance(one.value, ast.Call) and not one.path]
    return bool(calls) and all(isinstance(one, ast.Attribute) and one.attr == "parse_args" for one in calls)


def watch(call: Annotated[Call, "torch.save"]) -> Alarm | None:
    given = call.argument(0, "obj")
    for key, part in given.items() if isinstance(given, dict) else ():
        kind = type(part)
        if kind.__module__ == "numpy" and hasattr(part, "item") and getattr(part, "ndim", 1) == 0:
            return Alarm(
                f'"{key}" is a NumPy {kind.__name__}, and torch.load refuses a file that holds one; save float(...)'
            )
    return None

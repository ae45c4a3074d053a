"""torch.Tensor(3) is three numbers of garbage, torch.tensor(3) is the number 3.

With a capital T it is the class: integers are sizes and the memory is whatever was there; a list is data, and becomes
float32 whatever it held. So labels turn into floats, large integers lose digits, `torch.Tensor(n)` that was meant as a
value is n values of garbage, NaN among them now and then. `torch.FloatTensor`, `LongTensor` and the `torch.cuda` ones
do the same.

Say what you mean: `torch.tensor(data)` copies data and keeps their type, `torch.empty(sizes)` is uninitialised memory by
name, `torch.zeros(sizes)` is safe. With `dtype=` and `device=` they replace all the typed classes.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import tree, uses
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/47112", "https://github.com/kevinzakka/pytorch-goodies/issues/8")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import torch

    assert bad["largest"] == 16777216  # 2**24 + 1 does not fit a float32
    assert good["largest"] == 16777217
    assert torch.Tensor(3).shape == (3,)  # sizes
    assert torch.tensor(3).shape == ()  # a value
    assert torch.Tensor([1, 2]).dtype == torch.float32
    assert torch.tensor([1, 2]).dtype == torch.int64


_TYPED = {"FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "LongTensor": "int64",
          "IntTensor": "int32", "ByteTensor": "uint8", "BoolTensor": "bool", "Tensor": "float32"}  # fmt: skip

WORDS = ("|".join(_TYPED),)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls(*(f"torch.{name}" for name in _TYPED), *(f"torch.cuda.{name}" for name in _TYPED)):
        name = source.name(call.func).rpartition(".")[2]
        if not call.args or call.keywords or _filled(source, call):
            continue
        sizes = [tree.literal(arg) for arg in call.args]
        if all(isinstance(size, int) for size in sizes):
            what = f"uninitialised memory of shape {tuple(sizes)}: write `torch.empty` or `torch.zeros`"
        elif isinstance(call.args[0], ast.List | ast.Tuple | ast.ListComp):
            what = f"{_TYPED[name]}, whatever the list holds: write `torch.tensor({source.code(call.args[0])[:40]})` with a dtype"
        else:
            what = (
                f"sizes or data, as `{source.code(call.args[0])}` happens to be: write `torch.tensor` or `torch.empty`"
            )
        yield source.hit(call, f"`{source.code(call.func)}(...)` gives {what}")


def _filled(source: Source, call: ast.Call) -> bool:
    """`nn.Parameter(torch.Tensor(a, b))` is filled by the initialisation that follows, and `.fill_()` at once."""
    up = source.parents[call]
    if isinstance(up, ast.Attribute):
        return up.attr.endswith("_")
    if isinstance(up, ast.Assign) and isinstance(name := up.targets[0], ast.Name):
        return any(_is_given(source, use) for use in uses.names(source, name.id))
    return isinstance(up, ast.Call) and source.name(up.func) in {"torch.nn.Parameter", "isinstance"}


def _is_given(source: Source, use: ast.Name) -> bool:
    """`nn.Parameter(weight)` and `nn.init.normal_(weight)`."""
    up = source.parents[use]
    name = source.name(up.func) if isinstance(up, ast.Call) and use in up.args else ""
    return name == "torch.nn.Parameter" or name.startswith("torch.nn.init.")

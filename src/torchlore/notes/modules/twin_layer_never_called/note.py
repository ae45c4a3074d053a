"""`norm1` called twice and `norm2` never: the copied line kept its number, and nothing raises.

A block with `norm1` and `norm2`, `conv1` and `conv2` is written by copying a line. Where the number is not changed, one layer does the
work of both and the other is dead weight: it stands in `parameters()` and in the checkpoint, gets no gradient, and the network is
smaller than its paper. The sizes agree, so no shape complains; a shared batch norm even mixes the statistics of two places.

Call the layer that was made for the place: `self.norm2(x)`. Where one layer is to do both, make only one.
"""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from torchlore.check import classes, follow, tree, uses
from torchlore.check.classes import Attribute
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/inria-thoth/HySUPP/issues/3",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
WORDS = ("forward", "nn|torch")
_NUMBER = re.compile(r"\d+")
_WEIGHTS = re.compile(
    r"torch\.nn\.(Linear|Bilinear|Conv\w+|\w*Norm(\dd)?|Embedding|LSTM|GRU|RNN|\w+Cell|MultiheadAttention|Transformer\w+)$"
)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        layers = _layers(source, cls)
        for name, made in layers.items():
            stem = _NUMBER.sub("#", name)
            twins = [one for one in layers if one != name and _NUMBER.sub("#", one) == stem]
            if not twins or not _forgotten(source, cls, name):
                continue
            for twin in twins:
                again = _twice(source, cls, twin) if ast.dump(layers[twin]) == ast.dump(made) else None
                if again is not None:
                    told = f"`self.{twin}` is called a second time and `self.{name}`, made just like it, never: write `self.{name}`"
                    yield source.hit(again.func, told)
                    break


def _layers(source: Source, cls: Class) -> dict[str, ast.Call]:
    """The numbered layers with weights that `__init__` makes, each once."""
    numbered = {name: held for name, held in classes.own_attributes(cls).items() if _NUMBER.search(name)}
    found = {name: held[0].value for name, held in numbered.items() if len(held) == 1 and _plain(held[0])}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, ast.Call) and _WEIGHTS.match(source.name(value.func))
    }


def _plain(one: Attribute) -> bool:
    return one.method == "__init__" and one.how == "assign" and not one.path


def _forgotten(source: Source, cls: Class, name: str) -> bool:
    """Whether nobody ever reads it, by name or by a string."""
    read = any(
        isinstance(one.ctx, ast.Load) and not _looked_at(source, cls, one) for one in uses.attributes(source, name)
    )
    code = source.code(cls.node)
    quoted = f'"{name}"' in source.text or f"'{name}'" in source.text
    return not read and not quoted and not re.search(r"getattr|_modules|children\(|__dict__|vars\(", code)


def _looked_at(source: Source, cls: Class, use: ast.Attribute) -> bool:
    """`net.norm2.weight` outside of the class, and `nn.init.zeros_(self.fc2.weight)`: nobody computes with it there."""
    up = source.parents[use]
    call = source.parents[up]
    starts = isinstance(call, ast.Call) and source.name(call.func).startswith("torch.nn.init.")
    return isinstance(up, ast.Attribute) and (starts or not tree.inside(source, use, cls.node))


def _twice(source: Source, cls: Class, name: str) -> ast.Call | None:
    """The second call of a layer in one pass through a method."""
    reads = [one for one in uses.attributes(source, name) if tree.dotted(one) == f"self.{name}"]
    called = [up for one in reads if isinstance(up := source.parents[one], ast.Call) and up.func is one]
    mine = [one for one in called if tree.inside(source, one, cls.node) and not tree.loops(source, one)]
    for one, other in pairwise(mine):
        same = tree.function(source, one) is tree.function(source, other)
        if same and not follow.exclusive(source, one, other) and not tree.conditions(source, other):
            return other
    return None

"""The rule of twin-layer-never-called."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from torchlore.check import classes, follow, scopes, tree, uses
from torchlore.check.classes import Attribute
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

WORDS = ("forward", "nn|torch")
_NUMBER = re.compile(r"\d+")
_WEIGHTS = re.compile(
    r"torch\.nn\.(Linear|Bilinear|Conv\w+|\w*Norm(\dd)?|Embedding|LSTM|GRU|RNN|\w+Cell|MultiheadAttention|Transformer\w+)$"
)


def find(source: Source) -> Iterator[Hit]:
    yield from _half_lost(source)
    for cls in classes.all_classes(source):
        layers = _layers(source, cls)
        yield from _gaps(source, cls)
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


def _half_lost(source: Source) -> Iterator[Hit]:
    """`h, c = h[:, order], h[:, order]`, where the two came together: `c` is overwritten and was never read."""
    for one in uses.assigns(source, ast.Tuple, ast.Tuple):
        names, given = one.targets[0], one.value
        pair = isinstance(names, ast.Tuple) and isinstance(given, ast.Tuple) and len(names.elts) == len(given.elts) == 2
        if not pair or not isinstance(names, ast.Tuple) or not isinstance(given, ast.Tuple):
            continue
        kept, lost = names.elts
        alike = source.code(given.elts[0]) == source.code(given.elts[1]) and isinstance(
            given.elts[0], ast.Call | ast.Subscript
        )
        if not alike or not isinstance(kept, ast.Name) or not isinstance(lost, ast.Name) or tree.loops(source, one):
            continue
        read = [node for node in tree.under(source, given.elts[0], ast.Name) if node.id == kept.id]
        bound = scopes.reaching(source, read[0]) if read else []
        home = tree.function(source, one) or source.tree
        early = [node for node in tree.under(source, home, ast.Name) if node.id == lost.id and node.lineno < one.lineno]
        together = len(bound) == 1 and bool(bound[0].path) and any(isinstance(node.ctx, ast.Store) for node in early)
        if together and not any(isinstance(node.ctx, ast.Load) for node in early) and kept.id != lost.id:
            better = source.code(given.elts[0]).replace(kept.id, lost.id, 1)
            told = f"both are made of `{kept.id}`, and the `{lost.id}` that came with it is lost: write `{better}`"
            yield source.hit(given.elts[1], told)


def _gaps(source: Source, cls: Class) -> Iterator[Hit]:
    """`layer1`, `layer3` and `layer4` are called in `forward`, and `layer2` between them never."""
    forward = classes.methods(cls).get("forward") if classes.is_module(cls) else None
    rows: dict[str, dict[int, Attribute]] = {}
    for name, held in classes.own_attributes(cls).items() if forward is not None else ():
        stem, number = name.rstrip("0123456789"), name[len(name.rstrip("0123456789")) :]
        made = held[0].value if len(held) == 1 and held[0].how == "assign" and not held[0].path else None
        if number and isinstance(made, ast.Call) and _has_weights(source, made):
            rows.setdefault(stem, {})[int(number)] = held[0]
    for stem, row in rows.items():
        unread = [number for number in row if _forgotten(source, cls, f"{stem}{number}")]
        if (
            len(unread) != 1
            or not min(row) < unread[0] < max(row)
            or len(row) < 3
            or set(row) != {*range(min(row), max(row) + 1)}
        ):
            continue
        others = [number for number in row if number != unread[0]]
        if all(_called_in(source, forward, f"self.{stem}{number}") for number in others):
            told = f"`self.{stem}{unread[0]}` is never called, and the layers before and behind it are"
            yield source.hit(row[unread[0]].node, f"{told}: it stands in `parameters()` and learns nothing")


def _has_weights(source: Source, made: ast.Call) -> bool:
    """A layer with weights, or a `Sequential` with one."""
    inner = made.args if source.name(made.func) == "torch.nn.Sequential" else [made]
    return any(isinstance(one, ast.Call) and _WEIGHTS.match(source.name(one.func)) for one in inner)


def _called_in(source: Source, forward: tree.FunctionNode | None, name: str) -> bool:
    return forward is not None and any(tree.dotted(one.func) == name for one in tree.under(source, forward, ast.Call))


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

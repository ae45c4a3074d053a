"""The rule of arguments-exchanged."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, follow, tree
from torchlore.check.project import Function
from torchlore.check.source import Hit, Source

_LEAST = 4  # letters of a name that says something
_BOTH_WAYS = re.compile(
    r"swap|revers|invers|flip|backward|cross|transpos|symm|mirror|cycle|mutual|dual|bidir|pairwise|dist|sim|match|align|(^|_)order",
    re.IGNORECASE,
)


def find(source: Source) -> Iterator[Hit]:
    calls = _calls(source)
    for call in calls:
        pair = _exchanged(source, call)
        if pair is None or _given_back(source, call) or any(_in_order(source, other, call, pair) for other in calls):
            continue
        if _BOTH_WAYS.search(follow.comment(source, call)):
            continue
        one, other = pair
        told = f"`{one}` goes into `{other}` here and `{other}` into `{one}`: places decide, not names"
        yield source.hit(call, f"{told}; write `{one}={one}, {other}={other}`")


def _calls(source: Source) -> list[ast.Call]:
    """The calls with several arguments of what is called like a function or class of this file."""
    names = {one.name for one in source.all(ast.FunctionDef)} | {one.name for one in source.all(ast.ClassDef)}
    names |= {one.name for one in source.all(ast.AsyncFunctionDef)}
    several = [one for one in source.all(ast.Call) if len(one.args) > 1]
    spelled = [one for one in several if (getattr(one.func, "attr", "") or getattr(one.func, "id", "")) in names]
    return [one for one in spelled if tree.dotted(one.func)]


def _exchanged(source: Source, call: ast.Call) -> tuple[str, str] | None:
    """Two arguments that are called like each other's parameter."""
    given = [_last(one) for one in call.args]
    telling = {one for one in given if len(one) >= _LEAST}
    if len(telling) < 2 or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    home = tree.function(source, call)
    turned = tree.dotted(call.func) + (home.name if home is not None else "")  # a backward pass leads back as well
    function = flow.called(source, call) if not _BOTH_WAYS.search(turned) else None
    if function is None or function.node is home or _BOTH_WAYS.search(function.node.name):
        return None  # a call of itself may turn them round on purpose
    names = [one.arg for one in function.node.args.args]
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    wrong = [(one, place) for place, (one, name) in enumerate(zip(given, names, strict=False)) if one != name]
    swapped = []
    for one, place in wrong:
        other = names[place]
        if one in names and other in given and (other, names.index(one)) in wrong:
            swapped.append((one, other))
    if len(swapped) > 2:
        return None  # `match(points_b, points_a, values_b, values_a)`: both pairs are turned round, on purpose
    named = (one for one in swapped if min(map(len, one)) >= _LEAST and _bare(one[0]) != _bare(one[1]))
    return next((one for one in named if not _even(function, one)), None)


def _even(function: Function, pair: tuple[str, str]) -> bool:
    """A function that asks only for `(a - b).abs()` or `(a - b) ** 2`, which is the same the other way round."""
    used = [one for one in tree.under(function.source, function.node, ast.Name) if one.id in pair]
    for one in used:
        gap = function.source.parents[one]
        if not isinstance(gap, ast.BinOp) or not isinstance(gap.op, ast.Sub):
            return False
        up = function.source.parents[gap]
        squared = isinstance(up, ast.BinOp) and isinstance(up.op, ast.Pow) and tree.literal(up.right) == 2
        if not squared and not (isinstance(up, ast.Attribute) and up.attr in ("abs", "square")):
            return False
    return bool(used)


def _in_order(source: Source, other: ast.Call, call: ast.Call, pair: tuple[str, str]) -> bool:
    """Whether the same function is given the two the other way round beside this: it is asked both ways."""
    given, mine = [_last(one) for one in other.args], [_last(one) for one in call.args]
    same = _last(other.func) == _last(call.func) and tree.function(source, other) is tree.function(source, call)
    same = same and set(pair) <= set(given)
    return same and (given.index(pair[0]) < given.index(pair[1])) != (mine.index(pair[0]) < mine.index(pair[1]))


def _given_back(source: Source, call: ast.Call) -> bool:
    """`left, right = pad(left, right)`: what goes in comes out in that order, whatever the parameters are called."""
    held = source.parents[call]
    target = held.targets[0] if isinstance(held, ast.Assign) else None
    names = [_last(one) for one in target.elts] if isinstance(target, ast.Tuple) else []
    return len(names) > 1 and names == [_last(one) for one in call.args[: len(names)]]


def _bare(name: str) -> str:
    """`channels` of `in_channels` and `out_channels`, which a layer that leads back is given the other way round."""
    return re.sub(r"\d|(^|_)(in|input|out|output)(?=_)|_?(in|input|out|output)$", "", name).strip("_")


def _last(node: ast.expr) -> str:
    """`warmup_steps` of `args.warmup_steps`."""
    return tree.dotted(node).rpartition(".")[2]

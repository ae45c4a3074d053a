"""Two arguments in each other's places raise nothing when both are numbers or tensors.

`linear_schedule(optimizer, num_training_steps, num_warmup_steps)` for `def linear_schedule(optimizer, num_warmup_steps,
num_training_steps)` warms up during the whole run and never decays. The names in the call say what was meant, and Python does not read
them: places decide. It happens most where a signature was taken from another library that has the two the other way round.

Give such arguments by name: `linear_schedule(optimizer, num_warmup_steps=warmup, num_training_steps=total)`, and put a `*` before them in
the definition, so that nobody can give them by place.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/shirley-wu/cross-doc-misinfo-detection/issues/1",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_LEAST = 4  # letters of a name that says something
_BOTH_WAYS = re.compile(
    r"swap|revers|invers|flip|backward|cross|transpos|symm|mirror|cycle|mutual|dual|bidir|dist|sim", re.IGNORECASE
)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["rate_at_the_end"] == 1.0  # still warming up
    assert good["rate_at_the_end"] < 0.2


def find(source: Source) -> Iterator[Hit]:
    defined = {one.name for one in (*flow.functions(source), *source.all(ast.ClassDef))}
    calls = [one for one in source.all(ast.Call) if len(one.args) > 1 and _last(one.func) in defined]
    for call in calls:
        pair = _exchanged(source, call)
        if pair is None or _given_back(source, call) or any(_in_order(source, other, call, pair) for other in calls):
            continue
        one, other = pair
        told = f"`{one}` goes into `{other}` here and `{other}` into `{one}`: places decide, not names"
        yield source.hit(call, f"{told}; write `{one}={one}, {other}={other}`")


def _exchanged(source: Source, call: ast.Call) -> tuple[str, str] | None:
    """Two arguments that are called like each other's parameter."""
    given = [_last(one) for one in call.args]
    home = tree.function(source, call)
    turned = source.code(call.func) + (home.name if home is not None else "")  # a backward pass leads back as well
    if any(isinstance(one, ast.Starred) for one in call.args) or _BOTH_WAYS.search(turned):
        return None
    function = flow.called(source, call) if len(set(given)) > 1 else None
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
    return next((one for one in swapped if min(map(len, one)) >= _LEAST and _bare(one[0]) != _bare(one[1])), None)


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

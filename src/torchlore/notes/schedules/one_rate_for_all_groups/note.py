"""One rate written into every group of an optimizer takes away the rates that the groups were given.

`SGD([{"params": body, "lr": 1e-3}, {"params": head, "lr": 0.1}])` trains the body a hundred times slower than the head. The usual
`adjust_learning_rate`, `for group in optimizer.param_groups: group["lr"] = lr`, ends that at its first call: from there on the
pretrained body moves at the rate of the head, and nothing says so.

Keep each group's own rate and scale it: `group["lr"] = group["initial_lr"] * factor`, where `initial_lr` is what it was made with. A
scheduler (`LambdaLR` with the factor) does the same.
"""

import ast
from collections.abc import Iterator
from pathlib import PurePath

from torchlore.check import grouped, groups, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/JUGGHM/PENet_ICRA2021/issues/29",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
WORDS = ("param_groups", "lr")


def claim(bad: dict[str, list[float]], good: dict[str, list[float]]) -> None:
    assert bad["body"] == [0.1, 0.1, 0.05, 0.05]
    assert good["body"] == [0.001, 0.001, 0.0005, 0.0005]


def find(source: Source) -> Iterator[Hit]:
    rates = [one for one in grouped.stored(source) if tree.literal(one.slice) == "lr"]
    if "scheduler" in source.text or any("param_groups[" in source.code(one) for one in rates):
        return  # somebody gives the groups rates of their own again
    for store in rates:
        loop = next((one for one in tree.loops(source, store) if isinstance(one, ast.For)), None)
        over = loop.iter if loop is not None else None
        if not isinstance(over, ast.Attribute) or over.attr != "param_groups" or loop is None:
            continue
        same = tree.dotted(store.value) == tree.dotted(loop.target) and _same_for_all(source, store, loop)
        where = _made_apart(source, over.value) if same else ""
        if where:
            told = f"the groups of {where} were given rates of their own, and this gives all of them one"
            yield source.hit(store, f"{told}: keep each group's first rate in it and scale that")


def _same_for_all(source: Source, store: ast.Subscript, loop: ast.For) -> bool:
    """Whether what is written does not depend on the group: no name in it is one that the loop binds."""
    up = source.parents[store]
    if not isinstance(up, ast.Assign) or up not in loop.body or tree.literal(up.value) == 0:
        return False
    bound = {one.id for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    read = {one.id for one in ast.walk(up.value) if isinstance(one, ast.Name)}
    return not read & (bound | {"next"})


def _made_apart(source: Source, optimizer: ast.expr) -> str:
    """Where an optimizer is made that this can be, if its groups have rates of their own."""
    for made in source.values(optimizer):
        home, call = made.source, made.node
        if home is None or made.kind != "optimizer" or not isinstance(call, ast.Call):
            continue
        listed = [groups.keys(home, one) for one in groups.listed(home, call)]
        rest = tree.argument(call, 1, "lr")
        rates = [one["lr"][1] if "lr" in one else rest for one in listed]
        told = {home.code(rate) if rate is not None else "" for rate in rates}
        if all(listed) and len(told) > 1:
            return f"line {call.lineno}" if home is source else f"{PurePath(home.path).name}:{call.lineno}"
    return ""

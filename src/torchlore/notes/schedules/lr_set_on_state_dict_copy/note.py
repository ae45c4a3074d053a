"""`optimizer.state_dict()["param_groups"]` is a copy: a learning rate written there changes nothing.

`state_dict()` builds new dicts for the groups. Writing `lr` into them has no effect on the optimizer; the schedule that
the code describes never happens, and the printed rate (read from the copy) even agrees with it. The copy only counts if
it is loaded back with `load_state_dict`.

Write to the optimizer itself: `for group in optimizer.param_groups: group["lr"] = lr`.
"""

import ast
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import edits, scopes, tree
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/pytorch/examples/issues/64",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["used"] == [0.1, 0.1, 0.1]
    assert good["used"] == [0.1, 0.01, 0.001]


def watch(call: Annotated[Call, "Optimizer.state_dict", "Optimizer.load_state_dict", "backward"]) -> Alarm | None:
    kept = call.notes.setdefault(
        "kept", {}
    )  # id of the optimizer -> where it was asked, its groups as given out, as told
    if call.name == "backward":
        for place, groups, told in [one for one in kept.values() if call.run.steps]:
            changed = [new["lr"] for new, old in zip(groups, told, strict=True) if new.get("lr") != old]
            if changed:
                kept.clear()
                message = f"the rate {changed[0]:.3g} is set in a copy and never used; set it in optimizer.param_groups"
                return Alarm(message, at=place, evidence="state_dict() makes new groups at each call")
    elif call.name == "Optimizer.load_state_dict":
        kept.pop(id(call.owner), None)
    elif isinstance(call.result, dict):
        groups = call.result["param_groups"]
        kept[id(call.owner)] = (call.place, groups, [group.get("lr") for group in groups])
    return None


def find(source: Source) -> Iterator[Hit]:
    for state in source.methods("state_dict"):
        groups = source.parents[state]
        if not (isinstance(groups, ast.Subscript) and tree.literal(groups.slice) == "param_groups"):
            continue
        if _is_written(source, groups):
            code = source.code(tree.receiver(state))
            yield source.hit(
                groups,
                f"`{source.code(groups)}` is a copy, and what is written into it is lost: use `{code}.param_groups`",
                edits.replace(source, groups, f"{code}.param_groups"),
            )


def _walked(source: Source, loop: ast.For, name: ast.Name) -> bool:
    """Whether a loop goes over the variable and writes into what it is handed."""
    over = isinstance(loop.iter, ast.Name) and loop.iter.id == name.id
    same = over and [one.node for one in scopes.reaching(source, loop.iter)] == [name]  # type: ignore[arg-type]  # a Name, see above
    home = tree.function(source, loop) or loop
    turn = loop.target.id if isinstance(loop.target, ast.Name) else ""
    stores = [one for one in ast.walk(loop) if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]
    return same and any(tree.dotted(one.value) == turn for one in stores) and "load_state_dict" not in source.code(home)


def _is_written(source: Source, groups: ast.Subscript) -> bool:
    up: ast.AST = source.parents[groups]
    if isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Name):
        return any(_walked(source, loop, up.targets[0]) for loop in source.all(ast.For))
    if isinstance(up, ast.Subscript):
        up = source.parents[up]
        return (
            isinstance(source.parents[up], ast.Assign | ast.AugAssign)
            if isinstance(up, ast.Subscript)
            else (isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store))
        )
    if not isinstance(up, ast.For) or up.iter is not groups or not isinstance(up.target, ast.Name):
        return False
    return any(
        isinstance(one.ctx, ast.Store) and isinstance(one.value, ast.Name) and one.value.id == up.target.id
        for one in ast.walk(up)
        if isinstance(one, ast.Subscript)
    ) and bool(scopes.scope_of(source, up))

"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, follow, grouped, scopes, tree, uses
from torchlore.check.source import Hit, Source

WORDS = ("optim|param_groups",)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_first_group(source), *_number_alone(source))
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


def _first_group(source: Source) -> Iterator[Hit]:
    """`optimizer.param_groups[0]["lr"] = lr` of an optimizer that was built with two groups or more."""
    for store in grouped.stored(source) if "param_groups" in source.text else ():
        group = store.value
        if tree.literal(store.slice) != "lr" or not isinstance(group, ast.Subscript):
            continue
        groups = group.value
        if tree.literal(group.slice) != 0 or not isinstance(groups, ast.Attribute) or groups.attr != "param_groups":
            continue
        made = [value.node for value in source.values(groups.value)]
        lists = [follow.followed(source, one.args[0]) for one in made if isinstance(one, ast.Call) and one.args]
        found = [
            [part for part in one.elts if isinstance(part, ast.Dict)] if isinstance(one, ast.List) else []
            for one in lists
        ]
        rates = any(tree.literal(key) == "lr" for one in found for part in one for key in part.keys)
        rates = rates and not _decays(source, store)  # one group may well be given a rate of its own
        few = min((len(one) for one in found), default=0)
        if few > 1 and len(found) == len(made) and not rates and "param_groups[1]" not in source.text:
            told = f"the optimizer has {few} groups, and this sets the first one's rate only: write into each of `{source.code(groups)}`"
            yield source.hit(store, told)


def _decays(source: Source, store: ast.Subscript) -> bool:
    """`optimizer.param_groups[0]["lr"] *= 0.1`, and no rate is written anywhere else."""
    up = source.parents[store]
    stores = [one for one in grouped.stored(source) if tree.literal(one.slice) == "lr"]
    return isinstance(up, ast.AugAssign) and isinstance(up.op, ast.Mult) and len(stores) == 1


def _number_alone(source: Source) -> Iterator[Hit]:
    """`lr = lr * 0.1` in the loop, where `lr` was handed to the optimizer before it and is only printed afterwards."""
    for call, name in uses.calls_under(source, "torch.optim."):
        given = tree.argument(call, 1, "lr") if "lr_scheduler" not in name else None
        home = tree.function(source, call)
        if not isinstance(given, ast.Name) or tree.loops(source, call):
            continue
        mine = [
            one
            for one in uses.names(source, given.id)
            if tree.function(source, one) is home and one.lineno > call.lineno
        ]
        writes = [tree.statement(source, one) for one in mine if isinstance(one.ctx, ast.Store)]
        scaled = [one for one in writes if _scales(one, given.id) and tree.loops(source, one)]
        reads = [one for one in mine if isinstance(one.ctx, ast.Load) and tree.statement(source, one) not in writes]
        if not len(scaled) == len(writes) == 1:
            continue
        inner = any(
            one.id == given.id
            for node in source.all(ast.FunctionDef)
            if node is not home
            for one in tree.under(source, node, ast.Name)
        )
        if not inner and all(_shown(source, one) for one in reads):
            told = f"`{given.id}` is a number, and the optimizer of line {call.lineno} keeps the one that it was given"
            yield source.hit(
                scaled[0],
                f'{told}: write it into the groups too, `for group in optimizer.param_groups: group["lr"] = {given.id}`',
            )


def _scales(write: ast.stmt, name: str) -> bool:
    """`lr *= 0.1` and `lr = lr * 0.1`."""
    if isinstance(write, ast.AugAssign):
        return isinstance(write.op, ast.Mult | ast.Div)
    value = write.value if isinstance(write, ast.Assign) else None
    return (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, ast.Mult | ast.Div)
        and name in map(tree.dotted, (value.left, value.right))
    )


def _shown(source: Source, read: ast.Name) -> bool:
    """Whether a number is printed or logged here, or compared."""
    ups = [
        up for up in tree.ancestors(source, read) if isinstance(up, ast.Call | ast.JoinedStr | ast.Compare | ast.stmt)
    ]
    calls = [follow.word(source, one) or tree.dotted(one.func) for one in ups if isinstance(one, ast.Call)]
    return any(isinstance(one, ast.Compare | ast.JoinedStr) for one in ups) or any(
        re.search(r"print|format|info|write|log|scalar", one) for one in calls
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
        return isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store)
    if not isinstance(up, ast.For) or up.iter is not groups or not isinstance(up.target, ast.Name):
        return False
    return any(
        isinstance(one.ctx, ast.Store) and isinstance(one.value, ast.Name) and one.value.id == up.target.id
        for one in ast.walk(up)
        if isinstance(one, ast.Subscript)
    ) and bool(scopes.scope_of(source, up))

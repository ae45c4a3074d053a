"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, scopes, tree
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
    yield from _first_group(source)
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
    for store in source.all(ast.Subscript) if "param_groups" in source.text else ():
        group = store.value
        if (
            not isinstance(store.ctx, ast.Store)
            or tree.literal(store.slice) != "lr"
            or not isinstance(group, ast.Subscript)
        ):
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
        few = min((len(one) for one in found), default=0)
        if few > 1 and len(found) == len(made) and not rates and "param_groups[1]" not in source.text:
            told = f"the optimizer has {few} groups, and this sets the first one's rate only: write into each of `{source.code(groups)}`"
            yield source.hit(store, told)


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

"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, scopes, tree
from torchlore.check.source import Hit, Source


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
        return isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store)
    if not isinstance(up, ast.For) or up.iter is not groups or not isinstance(up.target, ast.Name):
        return False
    return any(
        isinstance(one.ctx, ast.Store) and isinstance(one.value, ast.Name) and one.value.id == up.target.id
        for one in ast.walk(up)
        if isinstance(one, ast.Subscript)
    ) and bool(scopes.scope_of(source, up))

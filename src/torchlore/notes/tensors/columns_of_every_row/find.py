"""The rule of columns-of-every-row."""

import ast
from collections.abc import Iterator

from torchlore.check import dims, follow, grouped, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_OWN = regex(r"(?:b|batch|batch_)?(?:actions?|acts?|labels|targets)(?:_?(?:b|batch|tensor|t))?")
_ACTIONS = regex(r"act(?:ion)?s(?:_\w+)?|act(?:ion)?_(?:b|batch)")  # of a parameter, one `label` may be all there is
_SAME = {"softmax", "log_softmax", "sigmoid", "exp", "log", "logsigmoid", "float", "detach"}

WORDS = ("*action*|*act*|*label*|*target*",)


def find(source: Source) -> Iterator[Hit]:
    for cell in grouped.indexed(source, ast.Tuple):
        parts = cell.slice.elts if isinstance(cell.slice, ast.Tuple) else []
        if (
            len(parts) != 2
            or not _is_all(parts[0])
            or not isinstance(parts[1], ast.Name)
            or not isinstance(cell.ctx, ast.Load)
        ):
            continue
        column = parts[1]
        run = _run(source, cell.value) if _OWN.fullmatch(column.id) else None
        if run is not None and _of_each(source, run, column) and not _is_diagonal(source, cell):
            code = source.code(cell.value)
            told = f"this takes all columns in `{column.id}` of every row, a table (batch, batch)"
            yield source.hit(cell, f"{told}: write `{code}[torch.arange(len({column.id})), {column.id}]`")


def _is_all(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None


def _run(source: Source, node: ast.expr, hops: int = 4) -> ast.Call | None:
    """The call of a network whose output this is, also through a softmax."""
    made = follow.followed(source, node)
    if not isinstance(made, ast.Call) or not hops:
        return None
    if follow.word(source, made) in _SAME:
        plain = bool(source.name(made.func)) and bool(made.args)
        return _run(source, made.args[0] if plain else tree.receiver(made), hops - 1)
    return made if values.sure(source, made.func, "module") else None


def _is_diagonal(source: Source, cell: ast.Subscript) -> bool:
    """`q[:, actions].diagonal()`, `torch.diag(q[:, actions])`: each row's own, the long way."""
    up = source.parents[cell]
    return "diag" in (up.attr if isinstance(up, ast.Attribute) else follow.word(source, up))


def _of_each(source: Source, run: ast.Call, column: ast.Name) -> bool:
    """Whether each row has a column of its own: the two came out of one batch, or are parameters of one function."""
    mine = scopes.reaching(source, column)
    if len(mine) != 1 or dims.dims(source, column) not in (None, 1):
        return False
    for row in (part for arg in run.args for part in ast.walk(arg) if isinstance(part, ast.Name)):
        its = scopes.reaching(source, row)
        together = len(its) == 1 and its[0].how == mine[0].how
        if together and mine[0].how == "parameter" and _ACTIONS.fullmatch(column.id):
            return its[0].node is not mine[0].node
        if together and mine[0].path and its[0].path != mine[0].path and its[0].statement is mine[0].statement:
            return True
    return False

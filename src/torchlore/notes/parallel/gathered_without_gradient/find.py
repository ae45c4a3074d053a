"""The rule of gathered-without-gradient."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, edits, grouped, losses, scopes, tensors, tree, uses, values
from torchlore.check.project import as_function, enclosing_class
from torchlore.check.source import Hit, Source

WORDS = ("all_gather",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.distributed.all_gather"):
        parts, own = tree.argument(call, 0, "tensor_list"), tree.argument(call, 1, "tensor")
        home = tree.function(source, call)
        if home is None or not isinstance(parts, ast.Name) or not isinstance(own, ast.Name):
            continue
        if not tree.is_statement(source, call) or _cut_on_purpose(source, call) or _put_back(source, call, parts, own):
            continue
        if _judged(source, home, {parts.id}, call.lineno) or _judged_by_callers(source, home, parts, own):
            told = f"`{parts.id}` gets copies without a graph, so no gradient comes back to `{own.id}`"
            whole = source.code(call.func.value) if isinstance(call.func, ast.Attribute) else ""
            back = f"{parts.id}[{whole or 'dist'}.get_rank()] = {own.id}"
            fix = (edits.insert_after(source, call, back),) if whole else ()
            yield source.hit(call, f"{told}: write `{back}` below", *fix)


def _cut_on_purpose(source: Source, call: ast.Call) -> bool:
    """Under `no_grad`, or in the forward of an `autograd.Function`, which has a backward of its own."""
    cls = enclosing_class(source, call)
    outside = source.project.bases(cls)[1] if cls is not None else set()
    return tensors.no_grad_around(source, call) or any(one.endswith("Function") for one in outside)


def _put_back(source: Source, call: ast.Call, parts: ast.Name, own: ast.Name) -> bool:
    """`parts[rank] = x`, `torch.cat([x, *parts])`: whether the list is written to or its own features are read behind it."""
    home = tree.function(source, call)
    later = [
        one for one in uses.names(source, own.id) if one.lineno > call.lineno and tree.function(source, one) is home
    ]
    stored = any(
        tree.dotted(one.value) == parts.id and tree.function(source, one) is home for one in grouped.stored(source)
    )
    return stored or bool(later) or values.attached(source, own) is False


def _judged(source: Source, home: ast.AST, names: set[str], line: int) -> bool:
    """Whether what these names hold comes into a loss of the function, below the line."""
    found = set(names)
    for held in tree.under(source, home, ast.Assign):
        read = {one.id for one in ast.walk(held.value) if isinstance(one, ast.Name)}
        if held.lineno >= line and read & found and "detach" not in source.code(held.value):
            found |= {one.id for target in held.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    for loss in losses.loss_calls(source):
        given = loss.input
        below = tree.inside(source, loss.call, home) and loss.call.lineno > line
        if given is None or not below or tensors.no_grad_around(source, loss.call):
            continue
        if found & {one.id for one in ast.walk(given) if isinstance(one, ast.Name)}:
            return True
    return False


def _judged_by_callers(source: Source, home: tree.FunctionNode, parts: ast.Name, own: ast.Name) -> bool:
    """`logits = gather(a) @ gather(b).T` in a function that asks for the loss of it, and reads `a` and `b` nowhere else."""
    function = as_function(source, home)
    back = " ".join(source.code(one) for one in calls.returned(function))
    arg = next((one for one in tree.parameters(home) if one.arg == own.id), None)
    joined = parts.id in back or any(tree.dotted(one.targets[0]) in back for one in _made_of(source, home, parts.id))
    for caller, call, skip in calls.callers(function) if arg is not None and joined else ():
        around, held = tree.function(caller, call), tree.statement(caller, call)
        given = calls.given_argument(function, call, arg, skip) if arg is not None else None
        if around is None or not isinstance(held, ast.Assign) or not isinstance(given, ast.Name):
            continue
        first = scopes.reaching(caller, given)
        same = (one for one in uses.names(caller, given.id) if isinstance(one.ctx, ast.Load) and one is not given)
        raw = [one for one in same if tree.function(caller, one) is around and scopes.reaching(caller, one) == first]
        names = {one.id for target in held.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
        if not raw and not tensors.no_grad_around(caller, call) and _judged(caller, around, names, held.lineno):
            return True
    return False


def _made_of(source: Source, home: ast.AST, name: str) -> list[ast.Assign]:
    """`whole = torch.cat(parts)`."""
    made = tree.under(source, home, ast.Assign)
    return [one for one in made if any(isinstance(x, ast.Name) and x.id == name for x in ast.walk(one.value))]

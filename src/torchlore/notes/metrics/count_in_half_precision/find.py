"""The rule of count-in-half-precision."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, follow, project, scopes, tree, uses
from torchlore.check.source import Hit, Source

_LAST = {"bfloat16": 256, "float16": 2048, "half": 2048}  # the last number to which one can be added
_MAKES = {f"torch.{name}" for name in ("zeros", "tensor", "ones", "full", "as_tensor")}
_COUNTS = ("sum", "count_nonzero", "numel")
_SAME = {"item", "float", "to", "cpu", "detach", "long", "double", "type_as"}
WORDS = ("*float16*|*half*",)


def find(source: Source) -> Iterator[Hit]:
    if not any(word in source.text for word in ("bfloat16", "float16", "half")):
        return
    seen = set[ast.AST]()
    for held, value in _sums(source):
        name, made = tree.dotted(held), list(_makers(source, held))
        kinds = [_half(where, one) for where, one in made] if _again(source, held) else []
        if (
            not kinds
            or not all(kinds)
            or not all(_single(where, one) or _compares(source, value) for where, one in made)
        ):
            continue
        where, first = made[0]
        if _is_count(source, value) and where is source and first is not None and first not in seen:
            seen.add(first)
            told = f"`{name}` is {kinds[0]}, where {_LAST[kinds[0]]} + 1 is {_LAST[kinds[0]]}, so what is added up in it stands still"
            yield source.hit(first, f"{told}: count in `torch.long`, add losses up in `torch.float32`")


def _sums(source: Source) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`n` and `more` of `n += more` and of `n = n + more`."""
    for grown in source.all(ast.AugAssign):
        if isinstance(grown.op, ast.Add) and tree.dotted(grown.target):
            yield grown.target, grown.value
    for assign in uses.assigns(source, None, ast.BinOp):
        whole, name = assign.value, tree.dotted(assign.targets[0])
        if isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Add) and name and tree.dotted(whole.left) == name:
            yield whole.left, whole.right


def _again(source: Source, held: ast.expr) -> bool:
    """Whether it is added to many times: in a loop, or in a method that is called for each batch."""
    home = tree.function(source, held)
    method = home is not None and home.name != "__init__" and tree.dotted(held).startswith("self.")
    return bool(tree.loops(source, held)) or method


def _makers(source: Source, held: ast.expr) -> Iterator[tuple[Source, ast.expr | None]]:
    """What the counter was before, with its file; None where it cannot be seen."""
    own = tree.statement(source, held)
    if isinstance(held, ast.Name):
        for one in scopes.reaching(source, held):
            if one.statement is not own:
                yield source, scopes.part(one) if one.how == "assign" else None
    elif isinstance(held, ast.Attribute) and tree.dotted(held) == f"self.{held.attr}":
        owner = project.enclosing_class(source, held)
        for kept in classes.assigned(owner, held.attr) if owner is not None else ():
            if kept.how != "aug" and kept.value is not getattr(own, "value", None):
                yield kept.source, kept.value


def _half(source: Source, made: ast.expr | None) -> str:
    """`bfloat16` of a tensor that is surely made so, "" of anything else."""
    while isinstance(made, ast.Call) and follow.method(made) in ("cuda", "to") and not source.name(made.func):
        if made.args and (found := _named(source, made.args[-1])):
            return found
        made = tree.receiver(made)
    if not isinstance(made, ast.Call):
        return ""
    if follow.method(made) in ("half", "bfloat16") and not made.args:
        return follow.method(made)
    given = tree.argument(made, None, "dtype") if source.name(made.func) in _MAKES else None
    return _named(source, given) if given is not None else ""


def _named(source: Source, dtype: ast.expr) -> str:
    found = source.values(dtype)
    names = {one.name.removeprefix("torch.") for one in found if one.kind == "dtype"}
    name = names.pop() if len(names) == 1 and all(one.kind == "dtype" for one in found) else ""
    return name if name in _LAST else ""


def _single(source: Source, made: ast.expr | None) -> bool:
    """`torch.zeros(())`, `torch.zeros(1)`, `torch.tensor(0.0)`, `torch.tensor([0.0])`."""
    while isinstance(made, ast.Call) and not source.name(made.func) and isinstance(made.func, ast.Attribute):
        made = made.func.value
    first = tree.literal(made.args[0]) if isinstance(made, ast.Call) and made.args else tree.UNKNOWN
    name = source.name(made.func) if isinstance(made, ast.Call) else ""
    one = isinstance(first, int | float) or (isinstance(first, tuple) and len(first) == 1)
    return one if name in ("torch.tensor", "torch.as_tensor") else first in ((), 1, (1,))


def _compares(source: Source, value: ast.expr) -> bool:
    """`per_class += (pred == y).sum(0)`."""
    whole = follow.followed(source, value)
    return any(isinstance(one, ast.Compare) for one in ast.walk(whole))


def _is_count(source: Source, value: ast.expr) -> bool:
    """A sum over a batch, its size, a number, or a loss."""
    whole = follow.followed(source, follow.peeled(value, _SAME))
    if isinstance(whole, ast.BinOp):
        return _is_count(source, whole.left) or _is_count(source, whole.right)
    counted = follow.word(source, follow.peeled(whole, _SAME)) in _COUNTS
    return counted or any(one.kind == "number" or one.state == "loss" for one in source.values(value))

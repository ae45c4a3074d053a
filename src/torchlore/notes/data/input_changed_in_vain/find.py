"""The rule of input-changed-in-vain."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree, values
from torchlore.check.source import Hit, Source

WORDS = ("__getitem__|backward|training_step",)
_CHANGES = re.compile(
    r"transform|augment|(?<!de)(?<!un)normali[sz]e|preprocess|resize|interpolate|crop|flip|mix_?up|cut_?mix|noise|jitter|whiten|standardi[sz]e",
    re.IGNORECASE,
)
_LOOKS = re.compile(r"^(get|load|read|plot|show|save|draw|visual\w*|print|log|inverse)_|inverse|_params", re.IGNORECASE)
_NETWORK = re.compile(r"(^|\.)_?(model|net|network|classifier|encoder|generator|unet|backbone)$", re.IGNORECASE)


def find(source: Source) -> Iterator[Hit]:
    for one in source.all(ast.Assign):
        target = one.targets[0]
        name = (
            target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
        )  # mixup gives the targets too
        if not isinstance(name, ast.Name) or len(one.targets) > 1 or name.id.startswith("_"):
            continue
        given = _changed(one.value)
        if given is None or given.id == name.id or not follow.unread(source, name):
            continue
        if _goes_on(source, one, given):
            told = f"`{name.id}` is never read, and the lines below go on with `{given.id}` as it was"
            yield source.hit(one, f"{told}: give them `{name.id}`")


def _changed(made: ast.expr) -> ast.Name | None:
    """`x` of `transform(x)` and of `(x - mean) / std`."""
    if isinstance(made, ast.Call):
        called = tree.dotted(made.func).rpartition(".")[2]
        first = made.args[0] if made.args else made.keywords[0].value if made.keywords else None
        changes = _CHANGES.search(called) and not _LOOKS.search(called)
        return first if changes and isinstance(first, ast.Name) else None
    while isinstance(made, ast.BinOp) and isinstance(made.op, ast.Add | ast.Sub | ast.Div | ast.Mult):
        made = made.left
        if isinstance(made, ast.Name):
            return made
    return None


def _goes_on(source: Source, one: ast.Assign, given: ast.Name) -> bool:
    """Whether what was changed is used below as it was: in a sample that is given back, or by the network that trains."""
    home = tree.function(source, one)
    seen = scopes.reaching(source, given)
    later = [
        use
        for use in tree.under(source, home or source.tree, ast.Name)
        if use.id == given.id and use.lineno > one.lineno and scopes.reaching(source, use) == seen
    ]
    if home is not None and home.name == "__getitem__":
        return isinstance(one.value, ast.Call) and isinstance(one.targets[0], ast.Name) and bool(later)
    trains = home is not None and home.name == "training_step"
    around: ast.AST | None = next(iter(tree.loops(source, one)), home)
    trains |= around is not None and any(tree.inside(source, call, around) for call in source.methods("backward"))
    return trains and any(_is_network(source, source.parents[use], use) for use in later)


def _is_network(source: Source, call: ast.AST, use: ast.Name) -> bool:
    if not isinstance(call, ast.Call) or call.args[:1] != [use]:
        return False
    return _NETWORK.search(tree.dotted(call.func)) is not None or values.sure(source, call.func, "module")

"""`target = net` makes no second network: both names train together.

A target network, a teacher, a frozen reference or the best model so far must stand still while the other one learns.
Bound by `=` it is the same module under another name: the target moves with every step, the distillation loss is 0, the
"old" policy ratio is always 1, and freezing the teacher freezes the student. `copy.copy(net)` is hardly better: it
copies the shell and shares every parameter.

Write `target = copy.deepcopy(net)`, then `target.requires_grad_(False)`; or build it a second time and
`target.load_state_dict(net.state_dict())`.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, follow, tree, uses, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/datawhalechina/easy-rl/issues/140",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import copy

    from torch import nn

    assert bad["target_moved"] > 0
    assert good["target_moved"] == 0
    net = nn.Linear(2, 2)
    assert copy.copy(net).weight is net.weight
    assert copy.deepcopy(net).weight is not net.weight


_SECOND = re.compile(r"(^|_)(target|tgt|teacher|ema|momentum|old|best|frozen|ref|reference|prev|previous|shadow|backup|copy|clone|snapshot|init|initial)(_|$|\d)", re.IGNORECASE)  # fmt: skip


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward", "step")):
        return
    for assign in source.all(ast.Assign):
        target, given = assign.targets[0], assign.value
        shallow = isinstance(given, ast.Call) and source.name(given.func) == "copy.copy"
        inner = given.args[0] if isinstance(given, ast.Call) and shallow and given.args else given
        while isinstance(inner, ast.Call) and follow.method(inner) in {"to", "cuda", "eval", "train", "requires_grad_"}:
            inner = tree.receiver(inner)  # a module gives itself back
        if not isinstance(target, ast.Name | ast.Attribute) or not isinstance(inner, ast.Name | ast.Attribute):
            continue
        if not _SECOND.search(target.id if isinstance(target, ast.Name) else target.attr):
            continue
        name, other = source.code(target), source.code(inner)
        if any(map(_SECOND.search, other.split("."))):
            continue  # a part of what is itself a copy
        if values.sure(source, inner, "module") and _both_live(source, assign, target, inner):
            edit = edits.replace(source, given if shallow else inner, f"copy.deepcopy({other})")
            imported = edits.add_import(source, "import copy")
            message = f"`{name}` is `{other}` itself and learns with it: write `copy.deepcopy({other})`"
            yield source.hit(assign, message, edit, *([imported] if imported else []))


def _both_live(source: Source, assign: ast.Assign, target: ast.expr, inner: ast.expr) -> bool:
    """Whether both names are used after this, and the file trains something."""
    if isinstance(source.parents[assign], ast.ClassDef):
        return False

    def used(node: ast.expr) -> bool:
        last = source.code(node).rpartition(".")[2]
        seen: list[ast.Name | ast.Attribute] = [*uses.names(source, last), *uses.attributes(source, last)]
        return any(isinstance(use.ctx, ast.Load) and use is not node and _after(source, use, assign) for use in seen)

    return used(target) and used(inner)


def _after(source: Source, use: ast.expr, assign: ast.Assign) -> bool:
    home = tree.function(source, assign)
    if tree.function(source, use) is not home:
        return isinstance(use, ast.Attribute) or home is None
    return use.lineno > assign.lineno or bool(tree.loops(source, assign))

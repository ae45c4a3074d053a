"""`model.state_dict()` holds the live tensors: a "best" state kept so follows every later step.

The dictionary is new, its tensors are the model's own storage. Kept in a variable while training goes on, `best` is at the
end the last epoch's weights, and loading it back changes nothing. `.copy()` and `dict(...)` copy the dictionary, not the
tensors; `best_model = model` copies nothing at all.

Copy the tensors, `best = copy.deepcopy(model.state_dict())`, or write the state to a file at once.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, flow, tree, values
from torchlore.check.identity import identity
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/WenjieDu/PyPOTS/issues/667",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["restored"] > bad["best"]
    assert good["restored"] == good["best"]


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("state_dict")) or not flow.may_train(source):
        return
    for loop in flow.loops(source):
        if not loop.of("step"):
            continue
        for event in loop.of("state"):
            if event.source is not source or not isinstance(event.node, ast.Call) or not _of_model(source, event.node):
                continue
            if event.loops[0] is not loop.node and tree.loops(source, loop.node):
                continue  # the outer loop says it
            kept, copied = _kept(source, event.node)
            if kept is not None and _read_later(source, kept, event.node):
                yield _hit(source, event.node, copied, kept)


def _of_model(source: Source, call: ast.Call) -> bool:
    model = tree.receiver(call)
    return values.sure(source, model, "module", weak=True) or not values.kind(source, model, weak=True)


def _kept(source: Source, call: ast.Call) -> tuple[ast.expr | None, ast.expr]:
    """The variable that holds the state, through a dictionary, a tuple or a shallow copy; and the whole kept value."""
    node: ast.expr = call
    up = source.parents[node]
    while True:
        attribute = source.parents.get(up)
        if isinstance(up, ast.Attribute) and up.attr == "copy" and isinstance(attribute, ast.Call):
            node, up = attribute, source.parents[attribute]
        elif (
            isinstance(up, ast.Call)
            and source.name(up.func) in ("dict", "copy.copy", "collections.OrderedDict")
            and node in up.args
        ) or isinstance(up, ast.Dict | ast.Tuple | ast.List):
            node, up = up, source.parents[up]
        else:
            break
    if isinstance(up, ast.Assign) and len(up.targets) == 1:
        target = up.targets[0]
        return (target.value if isinstance(target, ast.Subscript) else target), call
    if isinstance(up, ast.Call) and isinstance(up.func, ast.Attribute) and up.func.attr == "append" and node in up.args:
        return up.func.value, call
    return None, call


def _read_later(source: Source, kept: ast.expr, call: ast.Call) -> bool:
    """Whether somebody reads the variable after more steps: outside the block that fills it, or above it in a loop."""
    same, block = tree.dotted(kept), source.parents[tree.statement(source, call)]
    owner = identity(source, kept)
    places: list[ast.Name | ast.Attribute] = [*source.all(ast.Name), *source.all(ast.Attribute)]
    for node in places:
        if not isinstance(node.ctx, ast.Load) or tree.dotted(node).rpartition(".")[2] != same.rpartition(".")[2]:
            continue
        at_once = tree.inside(source, node, block) and node.lineno >= call.lineno
        asked = isinstance(source.parents[node], ast.Attribute | ast.Compare)
        if not at_once and not asked and (tree.dotted(node) == same or identity(source, node) == owner):
            return True
    return False


def _hit(source: Source, call: ast.Call, copied: ast.expr, kept: ast.expr) -> Hit:
    message = (
        f"`{source.code(kept)}` holds the live tensors and follows every later step: copy.deepcopy(...) keeps them"
    )
    imported = edits.add_import(source, "import copy") if "copy" not in source.names.imported else None
    return source.hit(call, message, *edits.wrap(source, copied, "copy.deepcopy("), *([imported] if imported else []))

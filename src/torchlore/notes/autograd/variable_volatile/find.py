"""The rule of variable-volatile."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, edits, follow, tensors, tree, uses, values
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

WORDS = ("Variable|volatile",)


def find(source: Source) -> Iterator[Hit]:
    said: set[ast.AST] = set()  # one `no_grad` for all that a statement makes
    for call in source.calls("torch.autograd.Variable"):
        volatile = tree.keyword(call, "volatile")
        if volatile is not None and tree.literal(volatile.value) is not False:
            name = source.code(call.args[0]) if call.args else "x"
            message = f"`volatile` is ignored and `{name}`'s graph is recorded: run the model under `torch.no_grad()`"
            home = tree.function(source, call) or source.tree
            trains = any(follow.method(node) == "backward" for node in tree.body_nodes(home))
            sure = not trains and _given_away(source, call) and not _unrecorded(source, call)
            first = sure and tree.statement(source, call) not in said
            said |= {tree.statement(source, call)} if sure else set()
            yield source.hit(call, message, severity=None if first else "hint")
        elif len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred):
            code = source.code(call.args[0])
            edit = edits.replace(source, call, code)
            yield source.hit(
                call, f"`Variable` has done nothing since torch 0.4: write `{code}`", edit, severity="hint"
            )
    for assign in uses.assigns(source, ast.Attribute) if "volatile" in source.text else ():
        target = assign.targets[0]
        if isinstance(target, ast.Attribute) and target.attr == "volatile" and tree.literal(assign.value) is True:
            yield source.hit(
                assign, f"`{source.code(target)} = True` has no effect: run the model under `torch.no_grad()`"
            )


def _given_away(source: Source, call: ast.Call) -> bool:
    """Whether a model may get it: it is an argument of a call, or a later call has its name among its arguments."""
    held = tree.statement(source, call)
    targets = held.targets if isinstance(held, ast.Assign) else []
    names = {tree.dotted(part) for target in targets for part in _held_by(target, held, call)}
    home = tree.function(source, call) or source.tree
    others = (
        one
        for one in tree.body_nodes(home)
        if isinstance(one, ast.Call) and one is not call and not source.name(one.func).startswith("torch.")
    )
    inputs = (given for one in others for given in (one.args if _is_net(source, one.func) else one.args[:1]))
    return any(follow.peeled(given, ("cuda", "to")) is call or tree.dotted(given) in names - {""} for given in inputs)


def _is_net(source: Source, called: ast.expr) -> bool:
    """A network, of which every input counts; a loss is handed labels too."""
    return values.maybe(source, called, "module") and not values.maybe(source, called, "loss")


def _held_by(target: ast.expr, held: ast.stmt, call: ast.Call) -> list[ast.expr]:
    """`b` of `a, b = Variable(a), Variable(b)` for the second call."""
    if not isinstance(target, ast.Tuple):
        return [target]
    made = held.value.elts if isinstance(held, ast.Assign) and isinstance(held.value, ast.Tuple) else []
    beside = [
        one for one, value in zip(target.elts, made, strict=False) if any(part is call for part in ast.walk(value))
    ]
    return beside or target.elts


def _unrecorded(source: Source, call: ast.Call) -> bool:
    """Whether it, or each call of its function, stands under `no_grad` already."""
    home = tree.function(source, call)
    if tensors.no_grad_around(source, call) or home is None:
        return home is not None
    callers = calls.callers(as_function(source, home))
    return bool(callers) and all(tensors.no_grad_around(where, one) for where, one, _ in callers)

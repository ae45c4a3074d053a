"""The rule of result-as-parameter."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

_SAME = {"requires_grad_", "retain_grad", "detach_", "backward", "register_hook"}

WORDS = ("requires_grad",)


def find(source: Source) -> Iterator[Hit]:
    asking = (one for one in uses.keywords(source, "requires_grad") if tree.literal(one.value) is True)
    for assign in dict.fromkeys(tree.statement(source, one) for one in asking):
        leaf = _leaf(source, assign.value) if isinstance(assign, ast.Assign) else None
        if not isinstance(assign, ast.Assign) or leaf is None or leaf is assign.value:
            continue
        name = assign.targets[0]
        if not (isinstance(name, ast.Name) and _wanted(source, name)) and not _own(source, name):
            continue
        given = tree.argument(leaf, None, "requires_grad")
        fix = [*edits.method(source, assign.value, "requires_grad_()")]
        if given is not None:
            fix.insert(0, edits.remove_argument(source, leaf, given))
        message = f"`{source.code(name)}` is a result and gets no `.grad`: leave `requires_grad` out and end in `.requires_grad_()`"
        moved = follow.method(assign.value) in ("to", "cpu") and isinstance(assign.value, ast.Call)
        moved = moved and isinstance(assign.value, ast.Call) and tree.receiver(assign.value) is leaf  # it may lie there
        yield source.hit(assign, message, *fix, severity="warning" if moved else None)


def _leaf(source: Source, node: ast.expr) -> ast.Call | None:
    """The call with `requires_grad=True` that the expression works on."""
    if isinstance(node, ast.BinOp):
        return _leaf(source, node.left) or _leaf(source, node.right)
    if not isinstance(node, ast.Call):
        return None
    asked = tree.literal(tree.argument(node, None, "requires_grad")) is True
    if asked and source.name(node.func).startswith("torch."):
        return node
    changes = isinstance(node.func, ast.Attribute) and node.func.attr not in _SAME and not source.name(node.func)
    leaf = _leaf(source, tree.receiver(node)) if changes else None
    return None if leaf is not None and tree.receiver(node) is leaf and _is_there(source, leaf, node) else leaf


def _is_there(source: Source, leaf: ast.Call, move: ast.Call) -> bool:
    """`torch.rand(1, device=device).to(device)` gives back the very tensor, and so may a move of what was given."""
    given = leaf.args[0] if source.name(leaf.func).endswith(".Variable") and leaf.args else None
    if (
        given is not None
        and follow.method(move) in ("to", "cuda")
        and not isinstance(follow.followed(source, given), ast.Call)
    ):
        return True
    kept = [tree.argument(leaf, None, one) for one in ("device", "dtype")]
    return len(move.args) == 1 and any(
        one is not None and source.code(one) == source.code(move.args[0]) for one in kept
    )


def _wanted(source: Source, name: ast.Name) -> bool:
    """Whether somebody reads its gradient or hands it to an optimizer, and nobody retains it."""
    names: set[str] = set()
    for use in uses.names(source, name.id):
        if use is name or all(one.node is not name for one in scopes.reaching(source, use)):
            continue
        up = source.parents[use]
        call = source.parents[up]
        if isinstance(up, ast.Attribute):
            names.add(up.attr)
        elif isinstance(up, ast.List) and isinstance(call, ast.Call) and values.sure(source, call, "optimizer"):
            names.add("grad")
    return "grad" in names and not names & {"retain_grad", "register_hook"}


def _own(source: Source, name: ast.expr) -> bool:
    """`self.patch`, which the class hands to an optimizer."""
    path, cls = tree.dotted(name), tree.class_of(source, name)
    if not path.startswith("self.") or cls is None:
        return False
    same = [one for one in tree.under(source, cls, ast.Attribute) if tree.dotted(one) == path and one is not name]
    held = [source.parents[one] for one in same]
    given = [source.parents[one] for one in held if isinstance(one, ast.List)]
    stored = any(isinstance(one.ctx, ast.Store) for one in same)
    return not stored and any(isinstance(one, ast.Call) and values.sure(source, one, "optimizer") for one in given)

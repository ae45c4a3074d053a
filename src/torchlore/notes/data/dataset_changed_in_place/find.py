"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, flow, follow, scopes, tree, values
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        method = classes.methods(cls).get("__getitem__")
        for node in tree.body_nodes(method) if method and classes.kind_of_instances(cls) == "dataset" else ():
            name = _written(node)
            view = _view(source, name) if name is not None else None
            if name is not None and view is not None and values.sure(source, view.value, "tensor", "ndarray"):
                message = (
                    f"`{name.id}` is a view of `{source.code(view.value)}`, so this changes the data set, again in every "
                    f"epoch: make a new one, `{name.id} = {name.id} - ...`, or copy it first"
                )
                yield source.hit(node, message)
            yield from _handed_on(source, node)


def _handed_on(source: Source, node: ast.AST) -> Iterator[Hit]:
    """A view that a function or method of the project changes in place."""
    function = flow.called(source, node) if isinstance(node, ast.Call) and node.args else None
    if not isinstance(node, ast.Call) or function is None or function.node.name == "__init__":
        return
    named = [one.arg for one in function.node.args.args][1 if function.owner else 0 :]
    for given, parameter in zip(node.args, named, strict=False):
        view = _view(source, given) if isinstance(given, ast.Name | ast.Subscript) else None
        if view is None or not values.sure(source, view.value, "tensor", "ndarray"):
            continue
        for inner in tree.body_nodes(function.node):
            name = _written(inner)
            bound = scopes.reaching(function.source, name) if name is not None and name.id == parameter else []
            if bound and all(one.how in ("parameter", "aug") for one in bound):
                yield source.hit(
                    node,
                    f"`{source.code(given)}` is a view of `{source.code(view.value)}`, and `{function.node.name}` changes it in place, the "
                    f"data set with it, again in every epoch: pass a copy",
                )
                return


def _written(node: ast.AST) -> ast.Name | None:
    """The name whose tensor a statement changes in place."""
    target: ast.AST | None = None
    method = follow.method(node)
    if isinstance(node, ast.AugAssign):
        target = node.target
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0]
    elif isinstance(node, ast.Call) and method.endswith("_") and not method.startswith("_"):
        target = tree.receiver(node)
    while isinstance(target, ast.Subscript):
        target = target.value
    return target if isinstance(target, ast.Name) else None


def _view(source: Source, given: ast.Name | ast.Subscript) -> ast.Subscript | None:
    """`self.data[i]`, or the same where that is what a name stands for."""
    found = [one for one in scopes.reaching(source, given) if one.how != "aug"] if isinstance(given, ast.Name) else []
    one = found[0] if len(found) == 1 and found[0].how in ("assign", "unpack") else None
    value: ast.expr | None = one.value if one is not None else given
    for place in one.path if one is not None else ():
        value = value.elts[place] if isinstance(value, ast.Tuple) and place < len(value.elts) else None
    if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Attribute):
        return None
    copies = isinstance(value.slice, ast.List | ast.Compare)
    return value if tree.dotted(value.value.value) == "self" and not copies else None

"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, classes, flow, follow, project, scopes, tree, values
from torchlore.check.source import Hit, Source

_CHANGES = ("mul_", "add_", "sub_", "div_", "pow_", "exp_", "log_", "sqrt_", "neg_", "lerp_")
WORDS = ("__getitem__|backward",)


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        method = classes.methods(cls).get("__getitem__")
        dataset = method is not None and classes.kind_of_instances(cls) == "dataset"
        homes = [method, *_helpers(source, cls, method)] if method is not None and dataset else []
        for node in (one for home in homes for one in tree.body_nodes(home)):
            name = _written(node)
            view = _view(source, name) if name is not None else None
            if name is not None and view is not None and _holds_numbers(source, view):
                message = (
                    f"`{name.id}` is a view of `{source.code(view.value)}`, so this changes the data set, again in every "
                    f"epoch: make a new one, `{name.id} = {name.id} - ...`, or copy it first"
                )
                yield source.hit(node, message)
            yield from _handed_on(source, node)
    yield from _by_forward(source)


def _helpers(source: Source, cls: project.Class, method: tree.FunctionNode) -> list[tree.FunctionNode]:
    """The methods of the class that `__getitem__` calls."""
    own, names = classes.methods(cls), {tree.dotted(one.func) for one in tree.under(source, method, ast.Call)}
    return [node for name, node in own.items() if f"self.{name}" in names and name != "__getitem__"]


def _by_forward(source: Source) -> Iterator[Hit]:
    """`x += noise` in a module's `forward`, or in a function whose result is used, called in a loop with the same data again."""
    if not any(source.methods("backward")):
        return
    told: set[ast.AST] = set()
    changes: list[ast.AST] = [*source.all(ast.AugAssign), *source.methods(*_CHANGES)]
    for node in changes:
        name = _written(node) if not isinstance(node, ast.AugAssign) or _adds_up(node) else None
        home = tree.function(source, node) if name is not None else None
        if name is None or home is None or home in told or home.name.endswith("_"):
            continue
        if tree.method_class(source, home) is not None and home.name != "forward":
            continue
        arg = _own_argument(source, name, {one.arg: one for one in tree.parameters(home)})
        given = _given_again(source, home, arg) if arg is not None else None
        if given is not None and arg is not None:
            told.add(home)
            changed = f"this changes `{source.code(given)}` of line {given.lineno} itself, again in every turn"
            yield source.hit(node, f"{changed}: work on a copy of `{arg.arg}`", severity="warning")


def _own_argument(source: Source, name: ast.Name, taken: dict[str, ast.arg], hops: int = 2) -> ast.arg | None:
    """The parameter that a name stands for, itself or by `h = x`."""
    bound = [one for one in scopes.reaching(source, name) if one.how != "aug"]
    if len(bound) != 1:
        return None
    one = bound[0]
    if one.how == "parameter":
        return taken.get(name.id)
    alias = one.value if one.how == "assign" and not one.path and hops else None
    return _own_argument(source, alias, taken, hops - 1) if isinstance(alias, ast.Name) else None


def _adds_up(node: ast.AugAssign) -> bool:
    """A change that a second time changes again; `mask &= other` does not."""
    return not isinstance(node.op, ast.BitAnd | ast.BitOr)


def _given_again(source: Source, forward: tree.FunctionNode, arg: ast.arg) -> ast.expr | None:
    """What a call in a loop gives, where it is a tensor from before the loop, or a slice of one."""
    function = project.as_function(source, forward)
    for other, call, skip in calls.callers(function):
        given = calls.given_argument(function, call, arg, skip) if other is source else None
        loops = tree.loops(source, call) if not tree.is_statement(source, call) else []
        root = given.value if isinstance(given, ast.Subscript) and _is_view(given.slice) else given
        if given is None or not loops or not isinstance(root, ast.Name):
            continue
        bound = scopes.reaching(source, root)
        old = bool(bound) and not any(tree.inside(source, one.statement, loops[-1]) for one in bound)
        if old and all(one.how in ("assign", "unpack") for one in bound) and values.sure(source, root, "tensor"):
            return given
    return None


def _is_view(index: ast.expr) -> bool:
    """`x[a:b]`, `x[0]`: the same memory; a list or a tensor of places copies."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(isinstance(one, ast.Slice | ast.Constant) for one in parts)


def _handed_on(source: Source, node: ast.AST) -> Iterator[Hit]:
    """A view that a function or method of the project changes in place."""
    args = node.args if isinstance(node, ast.Call) else ()
    views = [_view(source, one) if isinstance(one, ast.Name | ast.Subscript) else None for one in args]
    function = flow.called(source, node) if isinstance(node, ast.Call) and any(views) else None
    if not isinstance(node, ast.Call) or function is None or function.node.name == "__init__":
        return
    named = [one.arg for one in function.node.args.args][1 if function.owner else 0 :]
    for given, view, parameter in zip(node.args, views, named, strict=False):
        if view is None or not _holds_numbers(source, view):
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


def _holds_numbers(source: Source, view: ast.Subscript) -> bool:
    """A tensor or array, or a list of them, whose parts are no copies either."""
    if values.sure(source, view.value, "tensor", "ndarray"):
        return True
    found = source.values(view.value) if not isinstance(view.slice, ast.Slice) else ()
    kinds = [{one.kind for one in value.items[0]} if value.kind == "list" and value.items else set() for value in found]
    return bool(kinds) and all(bool(one) and one <= {"tensor", "ndarray"} for one in kinds)


def _given_back(source: Source, call: ast.Call) -> ast.expr:
    """What a method of the same file gives back, in the one place where it does."""
    inner = flow.called(source, call)
    own = inner is not None and inner.source is source and inner.owner is not None
    found = calls.returned(inner) if inner is not None and own else []
    return found[0] if len(found) == 1 else call


def _view(source: Source, given: ast.Name | ast.Subscript) -> ast.Subscript | None:
    """`self.data[i]`, or the same where that is what a name stands for."""
    found = [one for one in scopes.reaching(source, given) if one.how != "aug"] if isinstance(given, ast.Name) else []
    one = found[0] if len(found) == 1 and found[0].how in ("assign", "unpack") else None
    value: ast.expr | None = one.value if one is not None else given
    value = _given_back(source, value) if isinstance(value, ast.Call) else value
    for place in one.path if one is not None else ():
        value = value.elts[place] if isinstance(value, ast.Tuple) and place < len(value.elts) else None
    if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Attribute):
        return None
    copies = isinstance(value.slice, ast.List | ast.Compare)
    return value if tree.dotted(value.value.value) == "self" and not copies else None

"""The rule of inplace-on-tensor-used-again."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree, values
from torchlore.check.source import Hit, Source

_FLAG_AT = {"ReLU": 0, "ReLU6": 0, "SiLU": 0, "Mish": 0, "Hardswish": 0, "LeakyReLU": 1, "ELU": 1, "Dropout": 1}
_LOOKS = {"shape", "size", "device", "dtype", "dim", "ndim", "new_zeros", "is_cuda"}


def find(source: Source) -> Iterator[Hit]:
    for call in source.all(ast.Call):
        tensor = _changed(source, call)
        again = next(_uses(source, tensor, call), None) if tensor is not None else None
        if tensor is not None and again is not None:
            layer = _layer(source, call)
            where = f" of line {tensor.lineno}" if layer is not None else ""
            message = (
                f"this changes `{tensor.id}`{where} in place, and `{again.id}`, used again on line {again.lineno}, is the "
                "same tensor: leave `inplace` out"
            )
            yield source.hit(layer or call, message)


def _changed(source: Source, call: ast.Call) -> ast.Name | None:
    """The name whose tensor an activation or dropout overwrites."""
    given = call.args[0] if call.args else None
    if not isinstance(given, ast.Name):
        return None
    func = call.func
    attribute = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
    more = len(call.args) > 1 or bool(call.keywords)  # one of them may be `inplace`
    function = not attribute and more and source.name(func).startswith("torch.nn.functional.")
    if not (attribute or function) or tree.is_statement(source, call):
        return None  # alone on a line it is meant to change its argument
    if isinstance(tree.statement(source, call), ast.Return) and source.parents[call] is tree.statement(source, call):
        return None  # nothing runs after it
    if function:
        place = 1 if source.name(func) in ("torch.nn.functional.relu", "torch.nn.functional.silu") else None
        return given if tree.literal(tree.argument(call, place, "inplace")) is True else None
    made = values.values(source, func) if len(call.args) == 1 else ()
    return given if made and all(_in_place(_first(value)) for value in made) else None


def _first(value: values.Value) -> values.Value:
    """The layer that gets the tensor: of a Sequential its first, where that is one."""
    inner = value.items[0] if value.kind == "sequential" and value.items else ()
    return inner[0] if len(inner) == 1 else value


def _layer(source: Source, call: ast.Call) -> ast.AST | None:
    """The first layer of a Sequential of this file: there stands what to leave out."""
    made = values.values(source, call.func)
    first = _first(made[0]) if len(made) == 1 else None
    return first.node if first is not None and first is not made[0] and first.source is source else None


def _in_place(value: values.Value) -> bool:
    layer = value.name.removeprefix("torch.nn.")
    if layer not in _FLAG_AT or not isinstance(value.node, ast.Call):
        return False
    return tree.literal(tree.argument(value.node, _FLAG_AT[layer], "inplace")) is True


def _uses(source: Source, tensor: ast.Name, call: ast.Call) -> Iterator[ast.Name]:
    """Reads of the overwritten values after the call: by their own name, or by one bound to it before."""
    held = tree.statement(source, call)
    bound = isinstance(held, ast.Assign) and any(tree.dotted(one) == tensor.id for one in held.targets)
    bound &= sum(one.id == tensor.id for one in tree.under(source, held, ast.Name)) == 2  # itself, and what is given
    names = [] if bound else [tensor]  # `x = relu(x)`: from here on the name means the result
    for assign in source.all(ast.Assign):
        target, value = assign.targets[0], assign.value
        if isinstance(value, ast.Name) and value.id == tensor.id and isinstance(target, ast.Name):
            before = assign.lineno < call.lineno and tree.function(source, assign) is tree.function(source, call)
            if before and scopes.reaching(source, value) == scopes.reaching(source, tensor):
                names.append(target)
    for name in names:
        for use in follow.later_uses(source, name, call):
            up = source.parents[use]
            if not (isinstance(up, ast.Attribute) and up.attr in _LOOKS):
                yield use

"""The rule of inplace-on-tensor-used-again."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, follow, scopes, tree, uses, values
from torchlore.check.project import Class, enclosing_class
from torchlore.check.source import Hit, Source

_FLAG_AT = {"ReLU": 0, "ReLU6": 0, "SiLU": 0, "Mish": 0, "Hardswish": 0, "LeakyReLU": 1, "ELU": 1, "Dropout": 1}
_LOOKS = {"shape", "size", "device", "dtype", "dim", "ndim", "new_zeros", "is_cuda"}

WORDS = ("self|True",)


def find(source: Source) -> Iterator[Hit]:
    for call in (*_own(source), *_functions(source)):
        tensor = call.args[0] if call.args else None
        if not isinstance(tensor, ast.Name) or isinstance(source.parents[call], ast.Expr | ast.Return):
            continue  # alone on a line it is meant to change its argument, and nothing runs after a `return`
        again = next(_uses(source, tensor, call), None)
        if again is not None and _overwrites(source, call):
            layer = _layer(source, call)
            where = f" of line {tensor.lineno}" if layer is not None else ""
            message = (
                f"this changes `{tensor.id}`{where} in place, and `{again.id}`, used again on line {again.lineno}, is the "
                "same tensor: leave `inplace` out"
            )
            yield source.hit(layer or call, message)


def _own(source: Source) -> Iterator[ast.Call]:
    """`self.relu(x)`, where the class does not say that it is another layer."""
    for call in source.all(ast.Call):
        func, given = call.func, call.args
        if len(given) == 1 and given[0].__class__ is ast.Name and _is_own(func) and not _is_other(source, call):
            yield call


def _is_own(func: ast.expr) -> bool:
    return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"


def _functions(source: Source) -> Iterator[ast.Call]:
    """`F.relu(x, inplace=True)`, `F.relu(x, True)`."""
    for call in source.calls("torch.nn.functional.relu", "torch.nn.functional.silu"):
        if tree.literal(tree.argument(call, 1)) is True:
            yield call
    for keyword in uses.keywords(source, "inplace") if "inplace" in source.text else ():
        up = source.parents[keyword]
        asked = isinstance(up, ast.Call) and tree.literal(keyword.value) is True
        if isinstance(up, ast.Call) and asked and source.name(up.func).startswith("torch.nn.functional."):
            yield up


def _is_other(source: Source, call: ast.Call) -> bool:
    """Whether the class says that this is another layer, or a method of its own."""
    cls, name = enclosing_class(source, call), follow.method(call)
    own = classes.own_attributes(cls).get(name, ()) if cls is not None else ()
    made = [one.value for one in own if isinstance(one.value, ast.Call) and not one.path and one.how != "aug"]
    return any(_makes_other(source, one) for one in made) or (
        cls is not None and not own and name in classes.methods(cls)
    )


def _makes_other(source: Source, made: ast.Call) -> bool:
    """`nn.Conv2d(3, 8, 3)`, `nn.ReLU()`, `Block()` of a class of the file: surely nothing that works in place."""
    full = source.name(made.func)
    if full.startswith("torch.nn."):
        layer = full.removeprefix("torch.nn.")
        return layer != "Sequential" and not _has_flag(made, layer)
    return full.startswith(f"{source.module}.") and isinstance(source.project.resolve(source, made.func), Class)


def _has_flag(made: ast.Call, layer: str) -> bool:
    return layer in _FLAG_AT and tree.literal(tree.argument(made, _FLAG_AT[layer], "inplace")) is True


def _overwrites(source: Source, call: ast.Call) -> bool:
    """Whether what is called works in place, whichever layer it is."""
    made = values.values(source, call.func) if _is_own(call.func) else ()
    return all(_in_place(_first(value)) for value in made) if made else not _is_own(call.func)


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
    return isinstance(value.node, ast.Call) and _has_flag(value.node, value.name.removeprefix("torch.nn."))


def _uses(source: Source, tensor: ast.Name, call: ast.Call) -> Iterator[ast.Name]:
    """Reads of the overwritten values after the call: by their own name, or by one bound to it before."""
    held = tree.statement(source, call)
    bound = isinstance(held, ast.Assign) and any(tree.dotted(one) == tensor.id for one in held.targets)
    if bound:  # itself, and what is given
        bound = sum(one.id == tensor.id for one in tree.under(source, held, ast.Name)) == 2
    names = [] if bound else [tensor]  # `x = relu(x)`: from here on the name means the result
    for assign in uses.assigns(source, ast.Name, ast.Name):
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

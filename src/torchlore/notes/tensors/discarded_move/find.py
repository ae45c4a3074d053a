"""The rule of discarded-move."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, edits, follow, grouped, lessons, loaders, project, scopes, tree, values
from torchlore.check.source import Hit, Source

_MOVES = ("to", "cuda", "cpu", "float", "double", "half", "bfloat16", "long", "int", "bool", "short", "byte", "char", "type",
          "type_as", "xpu", "mps", "pin_memory")  # fmt: skip

_FRESH = {f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn", "tensor", "Tensor", "FloatTensor")}

_LIGHT = {"float", "int", "unsqueeze", "double", "long", "view", "permute", "transpose"}


def find(source: Source) -> Iterator[Hit]:
    alone = grouped.alone(source)
    for call in (call for name in _MOVES for call in alone.get(name, ())):
        tensor = tree.receiver(call)
        named = isinstance(tensor, ast.Name | ast.Attribute | ast.Subscript)
        shown = tree.is_shown(source, call)
        if shown and (not named or follow.method(call) not in ("to", "cuda") or _known(source, call)):
            continue  # a cell that ends in `x.cpu()` shows it
        asked = _asked_what(source, call)
        if asked is False:
            continue
        known = values.sure(source, tensor, "tensor") or asked is True
        likely = not known and loaders.hands_out(source, tensor) and not _asked_for(source, call)
        if not known and not likely:
            continue
        if (
            lessons.typed_in(source, call)
            or lessons.payload(source, call)
            or (not named and lessons.timed(source, call))
        ):
            continue
        if not _is_there(source, call) and not _quantised(source, tensor):
            code = source.code(call)
            name = source.code(tensor)
            place = _place(source, tensor) if named else ""
            write = f"write `{place} = {code}`" if place else "keep what it gives and use that"
            message = f"`{code}` gives back a new tensor and `{name}` stays as it is: {write}"
            fix = [edits.replace(source, call, f"{place} = {code}")] if place else []
            sure = known and (bool(tree.loops(source, call)) or _fresh(source, tensor))  # else it may lie there already
            yield source.hit(call, message, *fix, severity=None if sure else "warning")


def _asked_what(source: Source, call: ast.Call) -> bool | None:
    """What `if torch.is_tensor(x):` or `if isinstance(x, torch.Tensor):` around `x.to(device)` found; None where nobody asks."""
    code = source.code(tree.receiver(call))
    for test, branch in tree.conditions(source, call):
        given = test.args if isinstance(test, ast.Call) else []
        same = bool(given) and source.code(given[0]) == code
        full = source.name(test.func) if isinstance(test, ast.Call) else ""
        kind = source.name(given[1]) if len(given) == 2 else ""
        if same and (full == "torch.is_tensor" or (full == "isinstance" and kind == "torch.Tensor")):
            return branch
    return None


def _asked_for(source: Source, call: ast.Call) -> bool:
    """`if hasattr(data, "to"): data.to(device)`: a class of its own, whose `to` may move it in place."""
    asked = [
        part for test, branch in tree.conditions(source, call) if branch for part in tree.under(source, test, ast.Call)
    ]
    owner = source.code(tree.receiver(call))
    return any(source.name(one.func) == "hasattr" and one.args and source.code(one.args[0]) == owner for one in asked)


def _quantised(source: Source, tensor: ast.expr) -> bool:
    """`layer.weight = bnb.nn.Params4bit(...)`: moving it is what packs it, in place."""
    code = source.code(tensor)
    made = [one.value for one in source.all(ast.Assign) if source.code(one.targets[0]) == code]
    return any(
        isinstance(one, ast.Call) and tree.dotted(one.func).endswith(("Params4bit", "Int8Params")) for one in made
    )


def _fresh(source: Source, tensor: ast.expr) -> bool:
    """`x = torch.rand(3)`: made here, on the CPU, as single precision or integers."""
    made = _bare(source, follow.followed(source, tensor))
    here = isinstance(made, ast.Call) and source.name(made.func) in (*_FRESH, "torch.from_numpy", "torch.arange")
    return here and isinstance(made, ast.Call) and tree.keyword(made, "device") is None


def _bare(source: Source, made: ast.expr) -> ast.expr:
    """Without what changes its kind or shape alone: `torch.from_numpy(x)` of `torch.from_numpy(x).float()`."""
    while isinstance(made, ast.Call) and follow.method(made) in _LIGHT and not source.name(made.func):
        made = tree.receiver(made)
    return made


def _place(source: Source, tensor: ast.expr) -> str:
    """Where the result belongs: `batch[key]` for `value` of `for key, value in batch.items()`, "" for `for value in batch`."""
    bound = scopes.reaching(source, tensor) if isinstance(tensor, ast.Name) else []
    loop = bound[0].statement if len(bound) == 1 and bound[0].how == "for" else None
    whole = loaders.walked_parts(bound[0]) if isinstance(loop, ast.For) else None
    if whole is None or not isinstance(loop, ast.For):
        return source.code(tensor)
    if isinstance(loop.target, ast.Tuple) and isinstance(loop.iter, ast.Call):
        return f"{source.code(whole)}[{source.code(loop.target.elts[0])}]"
    return "" if loaders.hands_out(source, whole, part=True) else source.code(tensor)


def _known(source: Source, call: ast.Call) -> bool:
    """Whether the move is written with its assignment further down: a lesson that shows one, then the other."""
    below = (one for one in source.all(ast.Assign) if one.lineno > call.lineno)
    return any(source.code(one.value) == source.code(call) for one in below)


def _is_there(source: Source, call: ast.Call) -> bool:
    """A needless end of a line, not a wrong one: `x.zero_().float()`, or a move to where the tensor was made."""
    if follow.method(tree.receiver(call)).endswith("_") or _wakes_the_gpu(source, tree.receiver(call)):
        return True
    made = follow.followed(source, tree.receiver(call))
    if (
        _made_there(source, call)
        or _moved_before(source, call, made)
        or _on_the_cpu(source, call, made)
        or _single(source, call, made)
    ):
        return True
    kept = [tree.argument(made, None, one) for one in ("device", "dtype")] if isinstance(made, ast.Call) else []
    return bool(call.args) and any(one is not None and source.code(one) == source.code(call.args[0]) for one in kept)


def _moved_before(source: Source, call: ast.Call, made: ast.expr) -> bool:
    """`x.to(device)` or `x.cuda()` behind `x = y.to(device)`: it lies where it was put."""
    if follow.method(call) == "to" and _on_a_gpu(source, call):
        return True
    given = made.args if isinstance(made, ast.Call) and follow.method(made) == "to" else []
    if len(given) != 1 or tree.literal(given[0]) == "cpu" or source.name(given[0]).startswith("torch."):
        return False
    again = follow.method(call) == "to" and [source.code(one) for one in call.args] == [source.code(given[0])]
    return again or (follow.method(call) == "cuda" and not call.args)


def _on_a_gpu(source: Source, call: ast.Call) -> bool:
    """`x.to(device)` behind `if cuda: x = x.cuda()`: it lies where the device is, on either way."""
    tensor = tree.receiver(call)
    bound = scopes.reaching(source, tensor) if isinstance(tensor, ast.Name) else []
    brought = any(one.value is not None and follow.method(one.value) == "cuda" for one in bound)
    return (
        brought
        and len(call.args) == 1
        and isinstance(call.args[0], ast.Name | ast.Attribute)
        and not source.name(call.args[0]).startswith("torch.")
    )


def _on_the_cpu(source: Source, call: ast.Call, made: ast.expr) -> bool:
    """`.to("cpu")` of what NumPy or a list gave: it is there."""
    if follow.method(call) != "cpu" and [tree.literal(one) for one in call.args] != ["cpu"]:
        return False
    made = _bare(source, made)
    fresh = isinstance(made, ast.Call) and source.name(made.func) in (*_FRESH, "torch.from_numpy")
    brought = [one for one in ast.walk(made) if isinstance(one, ast.Name) and _was_brought(source, one)]
    return bool(brought) or (fresh and isinstance(made, ast.Call) and tree.keyword(made, "device") is None)


def _single(source: Source, call: ast.Call, made: ast.expr) -> bool:
    """`.float()` of what a network gave: it is float32 unless somebody speaks of another precision."""
    single = follow.method(call) == "float" or [source.name(one) for one in call.args] in (
        ["torch.float32"],
        ["torch.float"],
    )
    output = isinstance(made, ast.Call) and values.sure(source, made.func, "module", weak=True)
    return single and output and not re.search(r"half|float16|autocast|amp\b|double|float64", source.text)


def _was_brought(source: Source, name: ast.Name) -> bool:
    """`x = F.normalize(x).to("cpu")`: what is made of it is on the CPU as well."""
    made = follow.binding(source, name)
    to_cpu = (
        isinstance(made, ast.Call)
        and follow.method(made) == "to"
        and [tree.literal(one) for one in made.args] == ["cpu"]
    )
    return to_cpu or follow.method(made or name) == "cpu"


def _made_there(source: Source, call: ast.Call) -> bool:
    """`self.kernel.cuda()` behind `self.kernel = nn.Parameter(kernel)`, of a kernel that is made on the GPU, or on that device."""
    cls, held = project.enclosing_class(source, call), tree.receiver(call)
    found = classes.assigned(cls, held.attr) if cls is not None and isinstance(held, ast.Attribute) else []
    found = [one for one in found if one.source is source and not _is_none(one.value)]
    made = found[0].value if len(found) == 1 and isinstance(found[0].value, ast.Call) else None
    data = tree.argument(made, 0, "data") if made is not None and "Parameter" in source.code(made.func) else None
    given = follow.possible(source, data) if data is not None else []
    if follow.method(call) == "cuda":
        return any("cuda" in source.code(one) for one in given)
    devices = [tree.argument(one, None, "device") if isinstance(one, ast.Call) else None for one in given]
    wanted = [source.code(one) for one in call.args]
    return bool(devices) and all(one is not None and [source.code(one)] == wanted for one in devices)


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _wakes_the_gpu(source: Source, tensor: ast.expr) -> bool:
    """`torch.zeros(1).cuda()` alone: nobody wants these zeros, the device is taken or warmed up."""
    return isinstance(tensor, ast.Call) and source.name(tensor.func) in _FRESH

"""The rule of parameter-moved-on-creation."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, edits, follow, project, tree, values
from torchlore.check.source import Hit, Source

_MAKES_A_TENSOR = {"to", "cuda", "cpu", "half", "float", "double", "bfloat16", "type", "type_as", "clone", "mul", "div",
                   "t", "view", "reshape", "unsqueeze", "squeeze", "expand", "repeat", "transpose", "permute"}  # fmt: skip
_FROM_NUMBERS = {"torch.tensor", "torch.as_tensor"}
WORDS = ("Parameter",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.nn.Parameter"):
        top, chain = _top(source, call)
        assign = source.parents[top]
        if top is call or not isinstance(assign, ast.Assign | ast.AnnAssign) or assign.value is not top:
            continue
        if _there_already(source, call, top):
            continue  # nothing to convert: it gives the parameter itself back
        target = assign.targets[0] if isinstance(assign, ast.Assign) else assign.target
        if tree.dotted(target).startswith("self.") and _registers(source, call):
            name, fix = source.code(target), []
            if chain and len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred):
                ends = source.text[source.span(call)[1] : source.span(top)[1]]
                simple = isinstance(call.args[0], ast.Name | ast.Attribute | ast.Call | ast.Subscript)
                inner = source.code(call.args[0]) if simple else f"({source.code(call.args[0])})"
                fix = [edits.replace(source, top, f"{source.code(call.func)}({inner}{ends})")]
            message = f"`{name}` is a plain tensor, not registered and never trained: wrap in `nn.Parameter(...)` last"
            yield source.hit(top, message, *fix)


def _registers(source: Source, call: ast.Call) -> bool:
    """Whether the class may be a module: one that is known to be none registers nothing anyway."""
    owner, home = project.enclosing_class(source, call), tree.function(source, call)
    later = home is not None and home.name != "__init__" and "self." in source.code(call)
    if owner is None or later or source.code(call).endswith("(0))"):
        return False  # made of what is on its device already, or of no numbers: somebody asks it for its device
    return classes.is_module(owner) or bool(source.project.bases(owner)[1] - {"object"})


def _there_already(source: Source, call: ast.Call, top: ast.expr) -> bool:
    """`nn.Parameter(x.to(device)).to(device)`, one that was made with `device=device`, `.float()` of what is made so."""
    data = tree.argument(call, 0, "data")
    made = follow.followed(source, data) if data is not None else call
    if not isinstance(top, ast.Call) or source.parents[call] is not top.func:
        return False
    if follow.method(top) == "float":
        return not _may_be_double(source, made)
    where, code = source.code(top.args[0]) if len(top.args) == 1 else "", source.code(made).replace(" ", "")
    return bool(where) and any(part in code for part in (f".to({where})", f"device={where}", f"dtype={where}"))


def _may_be_double(source: Source, made: ast.expr) -> bool:
    """Whether `.float()` has something to do: NumPy's numbers, integers, a type that was asked for; a parameter is float32 else."""
    if not isinstance(made, ast.Call):
        return False
    if source.name(made.func) == "torch.from_numpy":
        return True
    if source.name(made.func) in _FROM_NUMBERS and tree.keyword(made, "dtype") is None:
        numbers = made.args[0] if made.args else None
        return numbers is not None and values.maybe(source, numbers, "ndarray")  # a number or a list makes float32
    return follow.method(made) in ("double", "half", "bfloat16") or tree.keyword(made, "dtype") is not None


def _top(source: Source, call: ast.Call) -> tuple[ast.expr, bool]:
    """The whole expression the parameter is worked on in, and whether it is a chain of methods only."""
    node: ast.expr = call
    chain = True
    while True:
        up = source.parents[node]
        method = source.parents.get(up)
        if isinstance(up, ast.Attribute) and isinstance(method, ast.Call) and up.attr in _MAKES_A_TENSOR:
            node = method
        elif isinstance(up, ast.BinOp):
            node, chain = up, False
        else:
            return node, chain

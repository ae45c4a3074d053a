"""The rule of tensor-not-parameter."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, edits, follow, tree, uses
from torchlore.check.classes import Attribute
from torchlore.check.project import as_class
from torchlore.check.source import Hit, Source

_BLANK = frozenset({"torch.empty", "torch.zeros", "torch.Tensor", "torch.FloatTensor"})
_CONSTANTS = ("mask", "one", "ones", "zero", "zeros", "dummy")
_SHOWS = re.compile(r"^on_|plot|show|draw|sampl|valid|test|log|image|vis|epoch_end")
_TELLS = ("float", "int", "round", "print", "str", "repr", "abs")
_DRAWS = tuple(f"{kind}_{way}_" for kind in ("xavier", "kaiming") for way in ("uniform", "normal"))
WORDS = ("register_buffer|zeros|ones|empty|Tensor|FloatTensor|requires_grad|requires_grad_",)


def find(source: Source) -> Iterator[Hit]:
    yield from _buffers(source)
    makers = {tree.class_of(source, one) for one in _candidates(source)} - {None}
    for cls in classes.all_classes(source) if makers else ():
        if cls.node not in makers or not classes.is_module(cls):
            continue
        for name, found in classes.own_attributes(cls).items():
            made = _tensor(source, found[0])
            number = _without_effect(source, cls.node, name, found[0]) if len(found) == 1 else ""
            if number and made is None:
                told = f"`self.{name}` is {number} for good, as no optimizer gets a plain tensor: write an `nn.Parameter` if it is to be learned"
                yield source.hit(found[0].node, told, severity="warning")
            if (
                made is None
                or len(found) != 1
                or "dummy" in name  # for `checkpoint`, which wants one input that asks for a gradient
                or not _only_read(source, cls.node, name)
                or _only_shown(source, cls.node, name)
            ):
                continue
            code = _bare(source, made)
            fixed = f"{edits.spelled(source, 'torch.nn.Parameter')}({code})"
            message = f"`self.{name}` is not registered, so no optimizer gets it: write `self.{name} = {fixed}`"
            yield source.hit(made, message, edits.replace(source, made, fixed))


def _candidates(source: Source) -> Iterator[ast.AST]:
    """What makes a tensor without numbers, or asks for its gradient."""
    yield from source.calls("torch.ones", *_BLANK)
    yield from source.methods("requires_grad_")
    yield from uses.keywords(source, "requires_grad") if "requires_grad" in source.text else ()


def _without_effect(source: Source, cls: ast.ClassDef, name: str, one: Attribute) -> str:
    """`self.alpha = torch.zeros(n)`, which `forward` multiplies by and nobody ever changes: it can only be meant to be learned."""
    made = one.value if one.method == "__init__" and one.how == "assign" and not one.path else None
    full = source.name(made.func) if isinstance(made, ast.Call) and not made.keywords else ""
    if full not in ("torch.zeros", "torch.ones"):
        return ""
    every = uses.attributes(source, name)
    reads = [use for use in every if isinstance(use.ctx, ast.Load)]
    own = [use for use in reads if tree.dotted(use) == f"self.{name}" and tree.inside(source, use, cls)]
    factor = [use for use in own if isinstance(up := source.parents[use], ast.BinOp) and isinstance(up.op, ast.Mult)]
    home = {getattr(tree.function(source, use), "name", "") for use in factor}
    alone = len(every) == len(reads) + 1 and len(own) == len(reads) == len(factor) and home == {"forward"}
    told = alone and name not in _CONSTANTS and not name.endswith(("_mask", "_masks"))
    return ("0" if full == "torch.zeros" else "1") if told else ""


def _buffers(source: Source) -> Iterator[Hit]:
    """`self.register_buffer("gate", torch.zeros(1, requires_grad=True))`: a buffer is never given to an optimizer."""
    for call in source.methods("register_buffer"):
        own = tree.dotted(call.func) == "self.register_buffer" and len(call.args) > 1
        made = call.args[1] if own and "dummy" not in source.code(call.args[0]) else None
        asked = isinstance(made, ast.Call) and tree.literal(tree.argument(made, None, "requires_grad")) is True
        plain = isinstance(made, ast.Call) and source.name(made.func) == "torch.nn.Parameter"
        learned = asked or (plain and isinstance(made, ast.Call) and tree.lacks(made, 1, "requires_grad"))
        if learned and _in_module(source, call):
            told = (
                f"parameters() leaves buffers out, so no optimizer gets {source.code(call.args[0])} and it never learns"
            )
            yield source.hit(call, f"{told}: assign an `nn.Parameter` instead")


def _in_module(source: Source, call: ast.Call) -> bool:
    """Whether a class around it is a module that does not say itself what is learned."""
    around = (as_class(source, up) for up in tree.ancestors(source, call) if isinstance(up, ast.ClassDef))
    return any(classes.is_module(cls) and source.project.method(cls, "parameters") is None for cls in around)


def _tensor(source: Source, one: Attribute) -> ast.Call | None:
    """`torch.ones(n, requires_grad=True)` or `torch.ones(n).requires_grad_()`, assigned in `__init__`."""
    value = one.value
    if one.method != "__init__" or one.how != "assign" or one.path or not isinstance(value, ast.Call):
        return None
    if isinstance(value.func, ast.Attribute) and value.func.attr == "requires_grad_" and not value.args:
        inner = follow.followed(source, value.func.value)
        return value if isinstance(inner, ast.Call) and source.name(inner.func).startswith("torch.") else None
    asked = tree.literal(tree.argument(value, None, "requires_grad")) is True
    full = source.name(value.func)
    if full.startswith("torch.nn.init.") and value.args and isinstance(value.args[0], ast.Call):
        return value if source.name(value.args[0].func) in _BLANK else None
    if full in _BLANK and any(_drawn(source, call, one.name) for call in source.methods(*_DRAWS)):
        return value
    known = full == "torch.autograd.Variable" or (full.count(".") == 1 and full.startswith("torch."))
    return value if asked and known else None


def _drawn(source: Source, call: ast.Call, name: str) -> bool:
    """`nn.init.xavier_uniform_(self.name)`: nobody draws weights for what is not to be trained."""
    given = call.args[0] if call.args and source.name(call.func).startswith("torch.nn.init.") else None
    return given is not None and tree.dotted(given) in (f"self.{name}", f"self.{name}.data")


def _only_read(source: Source, cls: ast.ClassDef, name: str) -> bool:
    """Whether nobody hands the tensor on: to a parameter, an optimizer, a list, or by its name to another object."""
    for use in uses.attributes(source, name):
        if not isinstance(use.ctx, ast.Load):
            continue
        up = source.parents[use]
        shown = isinstance(up, ast.Attribute | ast.BinOp) and not isinstance(source.parents[up], ast.Assign)
        shown |= isinstance(up, ast.FormattedValue) or (isinstance(up, ast.Call) and source.name(up.func) in _TELLS)
        taken = isinstance(up, ast.List | ast.Tuple | ast.Dict) or (
            isinstance(up, ast.Call) and "Param" in source.code(up.func)
        )
        if taken or (not tree.inside(source, use, cls) and not shown):
            return False
    return "setattr" not in source.code(cls) and "register_parameter" not in source.code(cls)


def _only_shown(source: Source, cls: ast.ClassDef, name: str) -> bool:
    """Fixed noise to draw pictures from: no method that trains or computes reads it."""
    reads = [one for one in tree.under(source, cls, ast.Attribute) if tree.dotted(one) == f"self.{name}"]
    homes = {getattr(tree.function(source, one), "name", "") for one in reads if isinstance(one.ctx, ast.Load)}
    return bool(homes) and all(_SHOWS.search(home) for home in homes)


def _bare(source: Source, made: ast.Call) -> str:
    """The call without what asks for gradients."""
    if isinstance(made.func, ast.Attribute) and made.func.attr == "requires_grad_":
        return source.code(made.func.value)
    given = [source.code(arg) for arg in made.args]
    given += [source.code(keyword) for keyword in made.keywords if keyword.arg != "requires_grad"]
    return f"{source.code(made.func)}({', '.join(given)})"

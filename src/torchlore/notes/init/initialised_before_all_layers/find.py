"""The rule of initialised-before-all-layers."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, project, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_LAYER = regex(r"torch\.nn\.(Linear|Conv\dd|ConvTranspose\dd|Embedding)$")
_WALKS = regex(r"self\.(?:modules|children|named_modules)\(")
WORDS = ("apply|modules|children|named_modules", "__init__")


def find(source: Source) -> Iterator[Hit]:
    for call in (*source.methods("apply"), *_own_initialisers(source)):
        given = call.args[0] if len(call.args) == 1 else call.func
        mine = tree.dotted(tree.receiver(call)) == "self" and tree.is_statement(source, call) and len(call.args) < 2
        home, owner = tree.function(source, call), project.enclosing_class(source, call) if mine else None
        if owner is None or getattr(home, "name", "") != "__init__" or tree.conditions(source, call):
            continue
        chosen = _chosen(source, owner, given)
        if not chosen:
            continue
        missed = [one.name for found in classes.own_attributes(owner).values() for one in found
                  if tree.function(source, one.node) is home and getattr(one.node, "lineno", 0) > call.lineno and _is_left(source, owner, one, chosen)]  # fmt: skip
        if missed and not _goes_on(source, home, call):
            yield source.hit(
                call,
                f"`self.{missed[0]}` is made below and keeps its own initialisation: move this to the end of `__init__`",
            )


def _goes_on(source: Source, home: ast.AST | None, call: ast.Call) -> bool:
    """Whether `__init__` initialises another layer by hand below: its author knows what this call does not reach."""
    fills = (one for one in tree.under(source, home, ast.Call) if one.lineno > call.lineno) if home is not None else ()
    return any(source.name(one.func).startswith("torch.nn.init.") and "self." in source.code(one) for one in fills)


def _own_initialisers(source: Source) -> Iterator[ast.Call]:
    """`self.init_weights()`, of a method that walks over the modules."""
    lines = [source.place(one.start())[0] for one in _WALKS.finditer(source.text)]
    for cls in classes.all_classes(source) if lines else ():
        own = classes.methods(cls).items()
        near = [(name, node) for name, node in own if any(node.lineno <= at <= (node.end_lineno or 0) for at in lines)]
        walks = {name for name, node in near if _WALKS.search(source.code(node))}
        inside = (call for call in source.methods(*sorted(walks - {"__init__", "forward"})) if not call.args)
        yield from (call for call in inside if tree.class_of(source, call) is cls.node and not call.keywords)


def _chosen(source: Source, owner: project.Class, given: ast.expr) -> str:
    """The text of the function that initialises, "" where it cannot be seen or fills nothing."""
    own = given.attr if isinstance(given, ast.Attribute) and tree.dotted(given.value) == "self" else ""
    found = source.project.method(owner, own) if own else source.project.resolve(source, given)
    code = found.source.code(found.node) if isinstance(found, project.Function) else ""
    return (
        code
        if re.search(
            r"init\.\w+_\(|\b(?:(?:trunc_)?normal_|uniform_|fill_|zeros?_|ones_|constant_|xavier_\w+|kaiming_\w+)\(",
            code,
        )
        else ""
    )


def _is_left(source: Source, owner: project.Class, one: classes.Attribute, chosen: str) -> bool:
    """Whether a layer of a kind that the function asks for is made there, and nobody initialises it by hand."""
    kinds = _kinds(source, one.value)
    asked = any(_LAYER.match(kind) and re.search(rf"\b{kind.rpartition('.')[2]}\b", chosen) for kind in kinds)
    by_hand = len(
        re.findall(rf"self\.{one.name}\.(?:weight|bias|apply)|init\w*\(self\.{one.name}\b", source.code(owner.node))
    )
    return asked and not by_hand


def _kinds(source: Source, value: ast.expr | None) -> list[str]:
    """The layer that is made, those in a `Sequential` or a `ModuleList`, and those of a class that initialises nothing itself."""
    if not isinstance(value, ast.Call):
        return []
    full = source.name(value.func)
    if full in ("torch.nn.Sequential", "torch.nn.ModuleList"):
        return [source.name(one.func) for one in tree.under(source, value, ast.Call)]
    cls = source.project.resolve(source, value.func) if full and not full.startswith("torch.") else None
    if not isinstance(cls, project.Class) or re.search(r"\binit\.|reset_|init_|_init\w*\(|\.data\b", _body(cls)):
        return [full]
    return [cls.source.name(one.func) for one in tree.under(cls.source, cls.node, ast.Call)]


def _body(cls: project.Class) -> str:
    return re.sub(r"super\([^)]*\)\.__init__|def __init__", "", cls.source.code(cls.node))

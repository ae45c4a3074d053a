"""Classes of the project: what kind their instances are, and what hangs on `self`."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, cast

from torchlore.check import api
from torchlore.check.project import Class, ambiguous, as_class, candidates
from torchlore.check.tree import FunctionNode, argument, class_of, function, literal
from torchlore.check.values import UNKNOWN, Value, Values, annotated, values

if TYPE_CHECKING:
    from torchlore.check.source import Source


class Attribute(NamedTuple):
    """One assignment to an attribute of `self` (or of the class)."""

    name: str
    node: ast.AST  # the target, or the call that registers it
    value: ast.expr | None
    path: tuple[int, ...]  # position in an unpacked tuple
    method: str  # the method it stands in, "" for the class body
    how: str  # assign, buffer, parameter, module, class
    source: Source
    annotation: ast.expr | None = None


_REGISTER = {"register_buffer": "buffer", "register_parameter": "parameter", "add_module": "module",
             "register_module": "module"}  # fmt: skip


def own_attributes(cls: Class) -> dict[str, list[Attribute]]:
    """Every assignment to an attribute in the class itself, by name, in the order of the text."""
    table: dict[ast.ClassDef, dict[str, list[Attribute]]] | None = cls.source.memo.get("attributes")
    if table is None:
        table = cls.source.memo["attributes"] = defaultdict(lambda: defaultdict(list))
        for owner, found in _collect(cls.source):
            table[owner][found.name].append(found)
        for attributes in table.values():
            for group in attributes.values():
                group.sort(key=lambda one: (getattr(one.node, "lineno", 0), getattr(one.node, "col_offset", 0)))
    return table.get(cls.node, {})


def attributes(cls: Class) -> dict[str, list[Attribute]]:
    """Assignments to attributes in the class and the project's classes it inherits from."""
    merged: dict[str, list[Attribute]] = defaultdict(list)
    for base in cls.source.project.bases(cls)[0]:
        for name, found in own_attributes(base).items():
            merged[name] += found
    return merged


def assigned(cls: Class, name: str) -> list[Attribute]:
    """Assignments to one attribute in the class and the project's classes it inherits from."""
    return [one for base in cls.source.project.bases(cls)[0] for one in own_attributes(base).get(name, ())]


def _collect(source: Source) -> list[tuple[ast.ClassDef, Attribute]]:
    found: list[tuple[ast.ClassDef, Attribute]] = []
    for node in source.all(ast.Attribute):
        if node.ctx.__class__ is ast.Store and isinstance(node.value, ast.Name) and node.value.id == "self":
            owner = class_of(source, node)
            if owner:
                found.append((owner, _assigned(source, node)))
    for call in source.methods(*_REGISTER):
        owner = class_of(source, call)
        name = call.args[0] if call.args else None
        if owner and isinstance(name, ast.Constant) and isinstance(name.value, str):
            value = call.args[1] if len(call.args) > 1 else None
            how = _REGISTER[cast("ast.Attribute", call.func).attr]
            found.append((owner, Attribute(name.value, call, value, (), _method(source, call), how, source)))
    for owner in source.all(ast.ClassDef):
        for statement in owner.body:
            for target, value, note in _class_level(statement):
                found.append((owner, Attribute(target.id, target, value, (), "", "class", source, note)))
    return found


def _class_level(statement: ast.stmt) -> list[tuple[ast.Name, ast.expr | None, ast.expr | None]]:
    if isinstance(statement, ast.Assign):
        return [(target, statement.value, None) for target in statement.targets if isinstance(target, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [(statement.target, statement.value, statement.annotation)]
    return []


def _method(source: Source, node: ast.AST) -> str:
    found = function(source, node)
    return found.name if found else ""


def _assigned(source: Source, node: ast.Attribute) -> Attribute:
    path: list[int] = []
    child: ast.AST = node
    up = source.parents[node]
    while isinstance(up, ast.Tuple | ast.List | ast.Starred):
        if isinstance(up, ast.Tuple | ast.List):
            path.append(-1 if isinstance(child, ast.Starred) else up.elts.index(cast("ast.expr", child)))
        child, up = up, source.parents[up]
    value = getattr(up, "value", None) if isinstance(up, ast.Assign | ast.AnnAssign | ast.AugAssign) else None
    note = up.annotation if isinstance(up, ast.AnnAssign) else None
    how = "aug" if isinstance(up, ast.AugAssign) else "assign"
    way = tuple(reversed(path))
    while way and isinstance(value, ast.Tuple | ast.List) and 0 <= way[0] < len(value.elts) and not _starred(value):
        value, way = value.elts[way[0]], way[1:]
    return Attribute(node.attr, node, value, way, _method(source, node), how, source, note)


def _starred(value: ast.Tuple | ast.List) -> bool:
    return any(isinstance(one, ast.Starred) for one in value.elts)


def kind_of_instances(cls: Class) -> str:
    """module, loss, dataset, optimizer, ... or object."""
    memo: dict[ast.AST, str] = cls.source.memo.setdefault("instances", {})
    if cls.node not in memo:
        memo[cls.node] = api.kind_of_bases(cls.source.project.bases(cls)[1])
    return memo[cls.node]


def is_module(cls: Class) -> bool:
    """Whether instances are torch Modules."""
    return api.is_kind(kind_of_instances(cls), "module")


def instance(cls: Class, call: ast.AST | None = None, source: Source | None = None) -> Value:
    """An instance of a class of the project."""
    home = source or cls.source
    known: dict[object, Class] = cls.source.project.state.setdefault("classes", {})
    known[cls.qualified] = known[cls.qualified, home.path] = cls
    return Value(kind_of_instances(cls), cls.qualified, call, home)


def class_behind(source: Source, value: Value) -> Class | None:
    """The project's class a value is an instance of."""
    if not value.name or value.name.startswith("torch."):
        return None
    project, near = source.project, value.source.path if value.source else source.path
    known = project.state.get("classes", {})
    found = known.get((value.name, near)) or (None if ambiguous(project, value.name) else known.get(value.name))
    found = found or project.find(value.name, near)
    return found if isinstance(found, Class) else None


def attribute_values(cls: Class, name: str, holder: Value) -> Values:  # noqa: ARG001  # a later version may tell instances apart
    """What `self.name` may be, from every assignment in the class and its bases; () if it is never assigned."""
    found: Values = ()
    for base in cls.source.project.bases(cls)[0]:
        for one in own_attributes(base).get(name, ()):
            found += _given(base, one) or _value_of(one)
    return found


def _given(cls: Class, one: Attribute) -> Values:
    """What those who make a dataclass give to one of its fields, where all of it is seen; an annotation says less."""
    if one.how != "class" or one.annotation is None or not _is_dataclass(cls):
        return ()
    from torchlore.check.calls import constructed

    fields = [target.id for statement in cls.node.body for target in _taken(cls.source, statement)]
    if one.name not in fields:
        return ()
    found: Values = ()
    for source, call in constructed(cls):
        given = argument(call, None if cls.node.bases else fields.index(one.name), one.name)
        found += values(source, given) if given is not None else _default(one)
    return found if all(value.kind for value in found) else ()


def _default(one: Attribute) -> Values:
    """What a field of a dataclass is where nobody gives it: its value, or what `field(default_factory=...)` makes."""
    from torchlore.check.calls import apply

    whole = one.value
    if not isinstance(whole, ast.Call) or one.source.name(whole.func) != "dataclasses.field":
        return values(one.source, whole) if whole is not None else (UNKNOWN,)
    plain, factory = argument(whole, None, "default"), argument(whole, None, "default_factory")
    if plain is not None:
        return values(one.source, plain)
    made = values(one.source, factory) if factory is not None else (UNKNOWN,)
    return tuple(value for each in made for value in apply(one.source, each, whole))


def _taken(source: Source, statement: ast.stmt) -> list[ast.Name]:
    """The field of a dataclass that a statement declares, where its constructor takes it."""
    found = [(target, value) for target, value, note in _class_level(statement) if note is not None]
    calls = [value for _, value in found if isinstance(value, ast.Call)]
    made = any(literal(argument(one, None, "init")) is False for one in calls)
    shared = isinstance(statement, ast.AnnAssign) and "ClassVar" in source.code(statement.annotation)
    return [] if made or shared else [target for target, _ in found]


def _is_dataclass(cls: Class) -> bool:
    """Whether the constructor is the one that `@dataclass` writes."""
    if "__init__" in methods(cls):
        return False
    decorators = (one.func if isinstance(one, ast.Call) else one for one in cls.node.decorator_list)
    return any(cls.source.name(one) == "dataclasses.dataclass" for one in decorators)


def _value_of(one: Attribute) -> Values:
    if one.how == "aug":
        return ()
    if one.value is None:
        return annotated(one.source, one.annotation) if one.annotation else (UNKNOWN,)
    found = values(one.source, one.value)
    for index in one.path:
        from torchlore.check.values import item

        found = tuple(part for value in found for part in item(value, index))
    if one.how == "buffer":
        return tuple(value if value.kind in ("tensor", "none") else Value("tensor", "buffer") for value in found)
    if one.annotation and all(not value.kind for value in found):
        return annotated(one.source, one.annotation)
    return found


def methods(cls: Class) -> dict[str, FunctionNode]:
    """The methods written in the class itself."""
    memo: dict[ast.AST, dict[str, FunctionNode]] = cls.source.memo.setdefault("methods", {})
    found = memo.get(cls.node)
    if found is None:
        found = memo[cls.node] = {node.name: node for node in cls.node.body if isinstance(node, FunctionNode)}
    return found


def all_classes(source: Source) -> list[Class]:
    """Every class of a file."""
    return [as_class(source, node) for node in source.all(ast.ClassDef)]


def read_by_workers(cls: Class) -> bool:
    """Whether a loader with worker processes stands in the class's file, or in one that imports it and makes an instance."""
    for source in candidates(cls.source.project, cls, cls.node.name):
        given = (argument(call, 5, "num_workers") for call in source.calls("torch.utils.data.DataLoader"))
        if any(one is not None and literal(one) != 0 for one in given):
            return True
    return False

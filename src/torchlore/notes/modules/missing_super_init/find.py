"""The static rule of missing-super-init."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, edits, follow, tree, values
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source
from torchlore.check.tree import FunctionNode

_DUNDERS = ("__init__", "__setstate__", "__dict__")
WORDS = ("__init__",)


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        init = classes.methods(cls).get("__init__") if cls.node.bases else None
        first = min(_mothers(source, init), default=None) if init is not None else None
        early = [one for one in init.body if first is None or one.lineno < first] if init is not None else []
        if init is None or not (first is None or any(isinstance(one, ast.Assign) for one in early)):
            continue
        if not early or not classes.is_module(cls) or source.code(init.body[-1]) == "..." or _is_planned(cls, init):
            continue
        layer = next((one for one in early if _registers(source, one)), None)
        if first is None and (
            _mixed_in(source, cls.node.name) or _made_otherwise(source, cls) or _in_a_method(source, cls, init)
        ):
            continue
        if first is None and (layer is not None or "forward" in classes.methods(cls)):
            plain = [source.name(base) for base in cls.node.bases] == ["torch.nn.Module"]
            fix = [edits.insert_first(source, init, "super().__init__()")] if plain else []
            mock = layer is None and follow.in_test(source, init)  # it is asked for its names, never trained
            told = f"`{cls.node.name}.__init__` never calls `super().__init__()`: call it first"
            yield source.hit(init, told, *fix, severity="hint" if mock else None)
        elif first is not None and layer is not None:
            yield source.hit(layer, "no layer can be assigned before `super().__init__()`: call it first")


def _is_planned(cls: Class, init: FunctionNode) -> bool:
    """`def __init__(self): pass` beside `def forward(self, x): pass`: nothing is written yet."""
    both = [init, classes.methods(cls).get("forward", init)]
    return all(isinstance(one.body[-1], ast.Pass) for one in both)


def _made_otherwise(source: Source, cls: Class) -> bool:
    """`class Module(nn.Module, metaclass=PreInit)` among its mothers: a metaclass may call the mother's `__init__`."""
    return any(one.arg == "metaclass" for each in source.project.bases(cls)[0] for one in each.node.keywords)


def _in_a_method(source: Source, cls: Class, init: FunctionNode) -> bool:
    """`self.make_weight(n)`, and it is `make_weight` that calls the mother."""
    called = [follow.word(source, one) for one in ast.walk(init) if isinstance(one, ast.Call)]
    own = classes.methods(cls)
    return any("super()" in source.code(own[name]) for name in called if name in own and name != "__init__")


def _mixed_in(source: Source, name: str) -> bool:
    """Whether a class of the file has it as one of several mothers, so that another one may be asked first."""
    several = (one.bases for one in source.all(ast.ClassDef) if len(one.bases) > 1)
    return any(tree.dotted(base) == name for bases in several for base in bases)


def _mothers(source: Source, init: FunctionNode) -> list[int]:
    """Lines of the first statement that may run the mother's `__init__`: `super()`, `Base.__init__(self)`, a call that is given `self`."""
    for statement in init.body:
        said = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(said, ast.Constant):
            continue
        if isinstance(said, ast.Call) and isinstance(said.func, ast.Attribute) and said.func.attr in _DUNDERS:
            return [statement.lineno]
        nodes: list[ast.Name | ast.Attribute | ast.Call] = tree.under(
            source, statement, ast.Name, ast.Attribute, ast.Call
        )
        if found := [one.lineno for one in nodes if _is_mother(one)]:
            return found
    return []


def _is_mother(node: ast.Name | ast.Attribute | ast.Call) -> bool:
    if isinstance(node, ast.Name):
        return node.id == "super"
    if isinstance(node, ast.Attribute):
        return node.attr in _DUNDERS
    return any(isinstance(one, ast.Name) and one.id == "self" for one in node.args)


def _registers(source: Source, statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign):
        return False
    on_self = any(tree.dotted(target).startswith("self.") for target in statement.targets)
    if re.search(r"class|cls|type", source.code(statement.value)):
        return False  # a class of modules, whatever its annotation says
    return on_self and values.sure(source, statement.value, "module", "parameter")

"""The rule of parameter-never-initialised."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, follow, tree, uses
from torchlore.check.classes import Attribute
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

_EMPTY = ("torch.empty", "torch.Tensor", "torch.FloatTensor")
_SIZED = ("torch.zeros", "torch.ones", "torch.randn", "torch.nn.Linear")
_FILLS = re.compile(
    r"\binit\b|\.parameters\(|named_parameters\(|state_dict|reset_|\.apply\(|_init|init_|__dict__|getattr|setattr|copy_\("
)
_ALL = re.compile(
    r"for [\w, ()]+ in [\w.()]+\.(?:named_)?(?:parameters|modules)\(\)\)?:(?:[^\n]*\n){1,6}?[^\n]*(?:uniform_|normal_|\binit\.|xavier|kaiming|fill_)"
)
_PARENT = re.compile(r"super\([^)]*\)\.__init__|(?:\w+\.)*Module\.__init__|def __init__|super\(")
_CALLED = re.compile(r"self\.(_?(?:reset|init)\w*)\(")
_EXPLICIT = re.compile(  # one parameter by its name, and the function that does so
    r"(?:\w+\.)*init\.\w+_\(\s*self\.\w+(?:\.data)?\s*[,)]|(?:def |self\.)_?(?:reset|init)_?(?:parameters|weights)?\("
)
WORDS = ("empty|Tensor|FloatTensor",)


def find(source: Source) -> Iterator[Hit]:
    yield from _added_to(source)
    made_empty = [call for call in source.calls("torch.nn.Parameter") if _is_empty(source, call)]
    if "Parameter(" not in source.text or not made_empty:
        return
    if re.search(r"def \w*init_weights", source.text):
        return  # one function for all layers
    homes = {tree.class_of(source, call) for call in made_empty}
    for cls in classes.all_classes(source):
        if cls.node not in homes or not classes.is_module(cls) or len(source.project.bases(cls)[0]) > 1:
            continue
        if follow.in_test(source, cls.node):
            continue
        own = classes.own_attributes(cls).items()
        empty = [
            (name, made) for name, found in own if len(found) == 1 and (made := _made(source, found[0])) is not None
        ]
        left = [(name, made) for name, made in empty if not _written(source, cls.node, name)]
        for name, made in left if left and not _filled(source, cls) else ():
            if not _filled_outside(source, name):
                yield source.hit(
                    made, f"nothing fills `self.{name}`, so it starts with whatever was in memory: initialise it, "
                    f"`nn.init.normal_(self.{name}, std=0.02)`", severity="hint" if _only_loaded(source, cls.node.name) else None
                )  # fmt: skip


def _filled(source: Source, cls: Class) -> bool:
    """Whether the class fills what it finds, or the whole of which it is a part goes over all parameters."""
    code = _PARENT.sub("", source.code(cls.node))
    inherited = set(_CALLED.findall(code)) - set(classes.methods(cls))
    if inherited or _FILLS.search(_EXPLICIT.sub("", code)) is not None:
        return True
    wholes = (source.code(one) for one in source.all(ast.ClassDef)) if "s()" in source.text else ()
    return any(cls.node.name in code and _ALL.search(code) for code in wholes)


def _filled_outside(source: Source, name: str) -> bool:
    """Whether a file that imports this one fills it, or any that asks `hasattr(m, "rw_bias")` of every module."""
    fills, project = re.compile(rf"init.*\.{name}\b"), source.project
    if any(fills.search(project.text(path) or "") for path in project.importers(source.module)):
        return True
    asked = re.compile(rf"hasattr\(\w+, ['\"]{name}['\"]\)")
    texts = [project.text(path) or "" for path in project.importers("torch")]
    return any(asked.search(one) and fills.search(one) for one in texts if name in one)


def _is_empty(source: Source, call: ast.Call) -> bool:
    """`nn.Parameter(torch.empty(n, m))`."""
    inner = call.args[0] if call.args else None
    return isinstance(inner, ast.Call) and source.name(inner.func) in _EMPTY and bool(inner.args)


def _added_to(source: Source) -> Iterator[Hit]:
    """`total = torch.empty(1)`, and the first thing that happens to it is `total = total + x` or `total += x`."""
    for call in source.calls(*_EMPTY):
        held, sizes = source.parents[call], [tree.literal(one) for one in call.args]
        target = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
        if not isinstance(target, ast.Name) or not sizes or not all(isinstance(one, int) for one in sizes):
            continue
        home = tree.function(source, call)
        later = [
            one
            for one in uses.names(source, target.id)
            if one.lineno > call.lineno and tree.function(source, one) is home
        ]
        first = tree.statement(source, min(later, key=lambda one: (one.lineno, one.col_offset))) if later else None
        grows = isinstance(first, ast.AugAssign) and isinstance(first.op, ast.Add)
        again = isinstance(first, ast.Assign) and tree.dotted(first.targets[0]) == target.id
        sums = (
            again
            and isinstance(first, ast.Assign)
            and isinstance(first.value, ast.BinOp)
            and isinstance(first.value.op, ast.Add)
        )
        if (grows and tree.dotted(first.target) == target.id) or (sums and target.id in {one.id for one in ast.walk(first) if isinstance(one, ast.Name)}):  # type: ignore[union-attr,arg-type]  # see above  # fmt: skip
            yield source.hit(
                call, f"`{target.id}` is added to and starts with whatever was in memory: write `torch.zeros`"
            )


def _only_loaded(source: Source, owner: str) -> bool:
    """Whether files use this one and none of them trains: in a library the numbers come from a checkpoint."""
    users = source.project.importers(source.module)
    packages = {path.rpartition("/")[0].rpartition("/")[2] for path in users if path.endswith("__init__.py")}
    further = [path for name in sorted(packages - {""}) for path in source.project.importers(name)]
    named = [path for path in further if re.search(rf"\b{owner}\b", source.project.text(path) or "")]
    texts = [source.text, *(source.project.text(path) or "" for path in dict.fromkeys([*users, *named]))]
    if "def from_pretrained(" in source.text:
        return True
    return bool(users) and not any(re.search(r"backward\(|\.fit\(|Trainer\(|\.step\(", text) for text in texts)


def _made(source: Source, one: Attribute) -> ast.Call | None:
    """`nn.Parameter(torch.empty(n, m))`, assigned in `__init__`; a single name may be data."""
    value = one.value if one.method == "__init__" and one.how == "assign" and not one.path else None
    if not isinstance(value, ast.Call) or source.name(value.func) != "torch.nn.Parameter":
        return None
    if tree.literal(tree.argument(value, 1, "requires_grad")) is False:
        return None  # filled from a file
    inner = value.args[0] if _is_empty(source, value) else None
    if not isinstance(inner, ast.Call):
        return None
    if any(tree.literal(one) == 0 for one in inner.args):
        return None  # it holds nothing, and tells the device
    sizes = (
        len(inner.args) > 1 or source.name(inner.func) == "torch.empty" or isinstance(tree.literal(inner.args[0]), int)
    )
    size = isinstance(inner.args[0], ast.Name) and re.search(
        r"size|dim|num|^[a-z]$|width|feat|channels|hid", inner.args[0].id
    )
    return value if sizes or size or _is_size(source, inner.args[0]) else None


def _is_size(source: Source, node: ast.expr) -> bool:
    """`out` of `torch.Tensor(out)`, which is one of several sizes of another tensor or layer of the same function."""
    home = tree.function(source, node)
    others = (one for one in source.calls(*_EMPTY, *_SIZED) if len(one.args) > 1 and tree.function(source, one) is home)
    return isinstance(node, ast.Name) and any(
        isinstance(arg, ast.Name) and arg.id == node.id for one in others for arg in one.args
    )


def _written(source: Source, owner: ast.ClassDef, name: str) -> bool:
    """Whether the parameter is used for anything but being read in sums and products."""
    for use in uses.attributes(source, name):
        other = tree.dotted(use.value) == "self" and tree.class_of(source, use) is not owner
        listed = isinstance(source.parents[use], ast.List | ast.Tuple) and tree.dotted(use.value) != "self"
        if listed and tree.class_of(source, use) is not owner:
            return True  # gone through in another function, such as one that is given to `apply`
        if other or isinstance(use.ctx, ast.Store) or _never_runs(source, use):
            continue
        up = source.parents[use]
        if isinstance(up, ast.Attribute) and (up.attr == "data" or up.attr.endswith("_")):
            return True
        given = isinstance(up, ast.Call) and use in up.args
        if given and isinstance(up, ast.Call) and (tree.is_statement(source, up) or _in_place(source, up)):
            return True
        if isinstance(up, ast.Subscript | ast.With | ast.List | ast.Tuple) and not isinstance(
            getattr(up, "ctx", None), ast.Load
        ):
            return True
    return False


def _never_runs(source: Source, use: ast.Attribute) -> bool:
    """`reset_parameters` of a plain module: nobody calls it unless the class does."""
    home, owner = tree.function(source, use), tree.class_of(source, use)
    if home is None or owner is None or not re.match(r"_?(reset|init)_?\w*$", home.name):
        return False
    plain = [source.name(base) for base in owner.bases] == ["torch.nn.Module"]
    other = (source.project.text(path) or "" for path in source.project.importers(source.module))
    named = (one for one in uses.attributes(source, home.name))
    mine = (tree.dotted(one.value) != "self" or tree.class_of(source, one) is owner for one in named)
    return plain and not any(mine) and not any(home.name in text for text in other) and not _inherited(source, owner)


def _inherited(source: Source, owner: ast.ClassDef) -> bool:
    """Whether a class of the file is made of this one, and may call what it does not."""
    return any(tree.dotted(base) == owner.name for one in source.all(ast.ClassDef) for base in one.bases)


def _in_place(source: Source, call: ast.Call) -> bool:
    return source.name(call.func).rpartition(".")[2].endswith("_")

"""Settings that a file keeps in one place, `CONFIG["lr"]`, `config.lr` and `args.lr`, put where a call is given them."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any, NamedTuple, cast

from torchlore.check.tree import argument, dotted, keyword

Nodes = dict[type, list[ast.AST]]
Parents = dict[ast.AST, ast.AST]
_CHANGES = {"update", "pop", "setdefault", "clear", "popitem", "__setitem__", "merge_from_file", "merge_from_list"}
_METHODS = {ast.FunctionDef, ast.AsyncFunctionDef}


class Setting(NamedTuple):
    """One setting: the name of what holds it, and its own."""

    holder: str
    name: str


def put(nodes: Nodes, parents: Parents) -> bool:
    """Put what each setting is into the calls that read it; whether anything was changed."""
    told = known(nodes, parents)
    if not told:
        return False
    reads: dict[Setting, list[ast.expr]] = {one: [] for one in told}
    for node in cast("list[ast.expr]", [*nodes.get(ast.Attribute, ()), *nodes.get(ast.Subscript, ())]):
        if (read := _read(node)) in reads:
            reads[read].append(node)
    changed = False
    for setting, found in reads.items():
        value = told[setting].value
        alone = len(found) == 1  # a number that is read twice may be compared with itself: as text it is the same
        for node in found if alone or isinstance(value, bool | str) else ():
            changed |= _replace(parents, node, value)
    return changed


def _replace(parents: Parents, node: ast.expr, value: Any) -> bool:
    """Put a constant where a call is given this expression."""
    up: Any = parents[node]
    new = ast.copy_location(ast.Constant(value), node)
    if up.__class__ is ast.keyword and up.arg:
        up.value = new
    elif up.__class__ is ast.Call and node in up.args and dotted(up.func).rpartition(".")[2][:1].isupper():
        up.args[up.args.index(node)] = new
    else:
        return False
    return True


def _read(node: ast.expr) -> Setting | None:
    """`CONFIG["lr"]` or `config.lr`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
        return Setting(node.value.id, node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return Setting(node.value.id, f"[{key!r}]") if isinstance(key, str) else None
    return None


def known(nodes: Nodes, parents: Parents) -> dict[Setting, ast.Constant]:
    """Every setting of the file that is one constant and stays it."""
    made = [one for one in cast("list[Any]", nodes.get(ast.Assign, ())) if _may_hold(one)]
    classes = {one.name: stated for one in cast("list[Any]", nodes.get(ast.ClassDef, ())) if (stated := _stated(one))}
    if not made and not classes:
        return {}
    found = {Setting(name, key): value for name, stated in classes.items() for key, value in stated.items()}
    bound = _bound(nodes)
    for one in made:
        name = one.targets[0].id
        if bound[name] == 1 and one.value.__class__ is ast.Dict and parents[one].__class__ is ast.Module:
            found.update({Setting(name, f"[{key!r}]"): value for key, value in _written(one.value).items()})
        elif one.value.__class__ is ast.Call and bound[name] == 1 and not one.value.args:
            given = {kw.arg for kw in one.value.keywords}
            stated_here = classes.get(dotted(one.value.func), {}) if None not in given else {}
            found.update({Setting(name, key): value for key, value in stated_here.items() if key not in given})
        if _is_parsed(one.value):
            found.update({Setting(name, key): value for key, value in _defaults(nodes, name).items()})
    changed = _changed(nodes) if found else set()
    return {one: value for one, value in found.items() if not changed & {one.holder, f".{one.name}"}}


def _may_hold(assign: Any) -> bool:
    """`CONFIG = {...}`, `config = Config()` or `args = parser.parse_args()`."""
    if len(assign.targets) != 1 or assign.targets[0].__class__ is not ast.Name:
        return False
    value = assign.value
    if value.__class__ is ast.Dict:
        return bool(value.values) and any(one.__class__ is ast.Constant for one in value.values)
    return value.__class__ is ast.Call and (_is_parsed(value) or value.func.__class__ is ast.Name)


def _is_parsed(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "parse_args"


def _bound(nodes: Nodes) -> Counter[str]:
    """How often each name is bound."""
    found = [one.id for one in cast("list[Any]", nodes.get(ast.Name, ())) if one.ctx.__class__ is not ast.Load]
    return Counter([*found, *(one.arg for one in cast("list[ast.arg]", nodes.get(ast.arg, ())))])


def _written(node: ast.Dict) -> dict[str, ast.Constant]:
    """The constants of a dictionary, by their keys."""
    pairs = zip(node.keys, node.values, strict=True)
    texts = [(key.value, value) for key, value in pairs if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return {key: value for key, value in texts if isinstance(value, ast.Constant) and value.value is not None}


def _stated(cls: ast.ClassDef) -> dict[str, ast.Constant]:
    """The constants that the body of a class states, where nothing computes its attributes."""
    if cls.bases or cls.keywords or any(one.__class__ in _METHODS for one in cls.body):
        return {}
    found: dict[str, ast.Constant] = {}
    for one in cls.body:
        target = (
            one.target if isinstance(one, ast.AnnAssign) else one.targets[0] if isinstance(one, ast.Assign) else None
        )
        value = getattr(one, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and value.value is not None:
            found[target.id] = value
    return found


def _defaults(nodes: Nodes, holder: str) -> dict[str, ast.Constant]:
    """What `add_argument("--lr", default=0.1)` says, in a file with one parser: what the program does unless it is told."""
    calls = [
        one for one in cast("list[Any]", nodes.get(ast.Call, ())) if one.func.__class__ in (ast.Attribute, ast.Name)
    ]
    words = [dotted(one.func).rpartition(".")[2] for one in calls]
    assigned = [one for one in cast("list[Any]", nodes.get(ast.Assign, ())) if dotted(one.targets[0]) == holder]
    if (
        words.count("ArgumentParser") != 1
        or "set_defaults" in words
        or "parse_known_args" in words
        or len(assigned) != 1
    ):
        return {}
    found: dict[str, ast.Constant | None] = {}
    for call in (one for one, word in zip(calls, words, strict=True) if word == "add_argument"):
        name, default = _option(call), argument(call, None, "default")
        plain = isinstance(default, ast.Constant) and default.value is not None and name not in found
        chosen = any(keyword(call, word) is not None for word in ("action", "required", "nargs"))
        found[name] = default if isinstance(default, ast.Constant) and plain and not chosen else None
    return {name: value for name, value in found.items() if value is not None}


def _option(call: ast.Call) -> str:
    """`batch_size` of `add_argument("-b", "--batch-size")`, or what `dest` says; "" for what has no dashes."""
    own = argument(call, None, "dest")
    names = [str(one.value) for one in call.args if isinstance(one, ast.Constant)]
    long = next((one for one in names if one.startswith("--")), "")
    return str(own.value) if isinstance(own, ast.Constant) else long[2:].replace("-", "_")


def _changed(nodes: Nodes) -> set[str]:
    """Names whose content is changed, and attributes (`.lr`) that are bound."""
    stores = [one for one in cast("list[Any]", nodes.get(ast.Attribute, ())) if one.ctx.__class__ is not ast.Load]
    found = {f".{one.attr}" for one in stores if dotted(one.value) != "self"}
    for one in cast("list[Any]", nodes.get(ast.Subscript, ())):
        if one.ctx.__class__ is not ast.Load:
            found.add(dotted(one.value))
    for call in cast("list[Any]", nodes.get(ast.Call, ())):
        if call.func.__class__ is ast.Attribute and call.func.attr in _CHANGES:
            inner = call.func.value
            found.add(dotted(inner.args[0]) if isinstance(inner, ast.Call) and inner.args else dotted(inner))
        elif call.func.__class__ is ast.Name and call.func.id == "setattr" and call.args:
            found.add(dotted(call.args[0]))
    return found | {
        dotted(one.value) for one in cast("list[Any]", nodes.get(ast.Attribute, ())) if one.attr == "__dict__"
    }

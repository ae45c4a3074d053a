"""Modules that a class keeps in plain lists and dicts: what is in them, and whether somebody registers it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import follow, scopes, tree, uses
from torchlore.check.calls import returned
from torchlore.check.flow import called
from torchlore.check.values import sure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.classes import Attribute
    from torchlore.check.project import Class
    from torchlore.check.source import Source

_LISTS = {"torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.Sequential"}
_WALKS = {"named_modules", "modules", "children", "named_children"}
_GROWS = ("append", "insert", "extend", "update")
_ADD = {"add_module", "register_module", "register_parameter", "setattr", "__setattr__"}
_SAYS = ast.Constant | ast.JoinedStr | ast.Name
_UNSEEN = {"exec", "eval"}  # `exec(f"self.layer{i} = layer")` may register whatever it likes


def is_container(node: ast.expr | None) -> bool:
    """Whether the expression is a list, dict or tuple as it stands."""
    if isinstance(node, ast.Call):
        plain = isinstance(node.func, ast.Name) and node.func.id in ("list", "dict", "tuple")
        return plain and (not node.args or isinstance(node.args[0], ast.ListComp | ast.GeneratorExp | ast.List))
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List)
    return isinstance(node, ast.List | ast.Dict | ast.ListComp | ast.DictComp | ast.Tuple)


def held(cls: Class, one: Attribute) -> Iterator[ast.expr]:
    """The expressions put into the container: in its assignment, by append or insert, by an index."""
    name = f"self.{one.name}"
    parts = (*begun(one), *added(cls.source, cls.node, name), *_stored(cls.source, cls.node, name))
    chosen = [part for part in parts if not _by_its_name(cls.source, part)]
    yield from chosen or parts


def begun(one: Attribute) -> list[ast.expr]:
    """The expressions that stand in its assignment."""
    return written(one.value.left if isinstance(one.value, ast.BinOp) else one.value)


def _by_its_name(source: Source, node: ast.expr) -> bool:
    """`getattr(nn, "ReLU")()`: an activation, beside layers that are known."""
    call = node.func if isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Call) else None
    named = call is not None and source.name(call.func) == "getattr" and bool(call.args)
    return named and call is not None and source.name(call.args[0]) == "torch.nn"


def _stored(source: Source, home: ast.AST, name: str) -> Iterator[ast.expr]:
    """What `name[key] = ...` puts in."""
    for assign in tree.under(source, home, ast.Assign):
        targets = (target for target in assign.targets if isinstance(target, ast.Subscript))
        moved = follow.peeled(assign.value, ("to", "cuda"))  # `name[i] = name[i].to(device)`
        again = isinstance(moved, ast.Subscript) and tree.dotted(moved.value) == name
        if not again and any(tree.dotted(target.value) == name for target in targets):
            yield from _parts(assign.value)


def built(cls: Class, call: ast.expr | None) -> list[ast.expr]:
    """What is in the plain list or dict that a variable holds, or that a method or function of the file makes and returns."""
    if isinstance(call, ast.Name):
        return _variable(cls.source, call)
    if not isinstance(call, ast.Call):
        return []
    if tree.dotted(call.func) in ("list", "tuple") and len(call.args) == 1:
        return _yielded(cls.source, call.args[0])
    home, back = _returned(cls, call) if _hands_out(cls.source) else (None, None)
    if home is None or back is None:
        return []
    if not isinstance(back, ast.Name):
        return written(back) if _is_plain(back) else []
    start = _start(cls.source, home, back.id)
    if start is None or not _is_plain(start):
        return []
    return written(start) + added(cls.source, home, back.id) + list(_stored(cls.source, home, back.id))


def _hands_out(source: Source) -> bool:
    """Whether any function of the file gives back a list or dict that it makes; asked before what a call runs."""
    known: bool | None = source.memo.get("containers.handed")
    if known is None:
        kinds = (ast.List, ast.Dict, ast.ListComp, ast.DictComp, ast.Call)
        held = {tree.dotted(one.targets[0]) for kind in kinds for one in uses.assigns(source, ast.Name, kind)
                if _is_plain(one.value)}  # fmt: skip
        backs = (one.value for one in source.all(ast.Return) if one.value is not None)
        known = any(one.id in held if isinstance(one, ast.Name) else _is_plain(one) for one in backs)
        source.memo["containers.handed"] = known
    return known


def _yielded(source: Source, call: ast.expr) -> list[ast.expr]:
    """What a generator of the file gives, of `list(self.make_layers(sizes))`."""
    made = called(source, call) if isinstance(call, ast.Call) and any(source.all(ast.Yield)) else None
    if made is None or made.source is not source or made.node.name == "__init__":
        return []
    given = [one.value for one in tree.body_nodes(made.node) if isinstance(one, ast.Yield) and one.value is not None]
    more = any(isinstance(one, ast.YieldFrom) for one in tree.body_nodes(made.node))
    return given if not more else []


def maps(cls: Class, value: ast.expr | None) -> bool:
    """Whether a container is a dict: as it stands, or in the function that makes it."""
    home, back = _returned(cls, value)
    if home is not None and back is not None:
        value = _start(cls.source, home, back.id) if isinstance(back, ast.Name) else back
    value = follow.followed(cls.source, value) if isinstance(value, ast.Name) else value
    named = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict"
    return named or isinstance(value, ast.Dict | ast.DictComp)


def _returned(cls: Class, call: ast.expr | None) -> tuple[ast.AST | None, ast.expr | None]:
    """The function of the file that a call runs, and the one expression it gives back."""
    made = called(cls.source, call) if isinstance(call, ast.Call) else None
    back = returned(made) if made is not None and made.source is cls.source else []
    if made is None or len(back) != 1 or made.node.name == "__init__":
        return None, None
    return made.node, back[0]


def _start(source: Source, home: ast.AST, name: str) -> ast.expr | None:
    """What the only assignment to a name in a function gives it."""
    bound = [one.value for one in tree.under(source, home, ast.Assign) if tree.dotted(one.targets[0]) == name]
    return bound[0] if len(bound) == 1 else None


def _is_plain(node: ast.expr) -> bool:
    return is_container(node) and not isinstance(node, ast.Tuple | ast.BinOp)


def _variable(source: Source, name: ast.Name, hops: int = 3) -> list[ast.expr]:
    """What was put into `layers` of `self.layers = layers` or of `self.stages.append(layers)`, where nobody else gets it."""
    found = scopes.reaching(source, name)
    value = scopes.part(found[0]) if len(found) == 1 and found[0].how == "assign" else None
    home = tree.function(source, name)
    if home is None or not is_container(value) or isinstance(value, ast.Tuple):
        return []
    for use in tree.under(source, home, ast.Name):
        up = source.parents[use]
        grows = isinstance(up, ast.Attribute) and up.attr in _GROWS
        grows = grows or (isinstance(up, ast.Subscript) and up.value is use and isinstance(up.ctx, ast.Store))
        if use.id == name.id and use is not name and isinstance(use.ctx, ast.Load) and not grows:
            return []
    return written(value) + added(source, home, name.id, hops) + list(_stored(source, home, name.id))


def added(source: Source, home: ast.AST, name: str, hops: int = 3) -> list[ast.expr]:
    """What comes into a list by append, insert, extend and `+=`."""
    found: list[ast.expr] = []
    for call in tree.under(source, home, ast.Call):
        grows = follow.method(call)
        if grows in _GROWS and call.args and tree.dotted(tree.receiver(call)) == name:
            several = grows in ("extend", "update")
            given = call.args[0] if several else call.args[-1]
            listed = isinstance(given, ast.Tuple | ast.List | ast.ListComp)  # stages.append((conv, norm))
            named = isinstance(given, ast.Name) and not several and hops > 0
            inner = _variable(source, given, hops - 1) if named and isinstance(given, ast.Name) else []
            parts = _parts(given)
            if isinstance(given, ast.Tuple):  # stages.append((block, scale))
                parts = [one for one in parts if sure(source, one, "module")] or parts
            found += parts if several or listed else inner or [given]
    for more in tree.under(source, home, ast.AugAssign):
        if tree.dotted(more.target) == name:
            found += _parts(more.value)
    return found


def _parts(node: ast.expr) -> list[ast.expr]:
    """What a list that is added is made of; itself, of which nobody knows the kind, where it is none."""
    return written(node) if isinstance(node, ast.List | ast.Tuple | ast.ListComp | ast.Dict) else [node]


def written(node: ast.expr | None, *, paired: bool = False) -> list[ast.expr]:
    """What a list, tuple or dict is made of, and what the lists in it are made of; `dict` is given pairs."""
    inner: list[ast.expr] = []
    if isinstance(node, ast.Call) and is_container(node) and node.args:
        return written(node.args[0], paired=tree.dotted(node.func) == "dict")
    if isinstance(node, ast.List | ast.Tuple):
        inner = [one for one in node.elts if not isinstance(one, ast.Constant | ast.JoinedStr)] or node.elts
    elif isinstance(node, ast.Dict):
        inner = node.values
    elif isinstance(node, ast.ListComp | ast.GeneratorExp):
        inner = [node.elt]
    elif isinstance(node, ast.DictComp):
        inner = [node.value]
    pairs = [one for one in inner if isinstance(one, ast.Tuple) and len(one.elts) == 2]
    if paired and len(pairs) == len(inner):
        inner = [one.elts[1] for one in pairs]
    deeper = ast.List | ast.ListComp | ast.Dict
    tuples = (_named(one) if isinstance(one, ast.Tuple) else one for one in inner)
    return [part for one in tuples for part in (written(one) if isinstance(one, deeper) else [one])]


def _named(pair: ast.Tuple) -> ast.expr:
    """`conv(8, 8)` of `("rate1", conv(8, 8))`: the one call of a tuple whose other parts say which it is."""
    calls = [one for one in pair.elts if isinstance(one, ast.Call)]
    return (
        calls[0]
        if len(calls) == 1 and all(isinstance(one, _SAYS) for one in pair.elts if one is not calls[0])
        else pair
    )


def _taken_out(node: ast.AST, name: str) -> bool:
    """`self.net = self.nets[key]`, or a method other than forward that hands one of them out."""
    if isinstance(node, ast.Assign):
        own = any(tree.dotted(target).startswith("self.") for target in node.targets)
        return own and isinstance(node.value, ast.Subscript) and tree.dotted(node.value.value) == name
    if not isinstance(node, ast.FunctionDef) or node.name in ("forward", "__call__"):
        return False
    backs = [part.value for part in tree.body_nodes(node) if isinstance(part, ast.Return)]
    bound = {tree.dotted(part.targets[0]): part.value for part in tree.body_nodes(node) if isinstance(part, ast.Assign)}
    given = [bound.get(tree.dotted(back), back) for back in backs if back is not None]
    return any(isinstance(back, ast.Subscript) and tree.dotted(back.value) == name for back in given)


def registered(cls: Class, name: str, inside: list[ast.expr]) -> bool:
    """Whether the container `self.name`, or a thing in it, is handed to something that registers it."""
    if any(
        tree.dotted(gone) == f"self.{name}"
        for one in tree.under(cls.source, cls.node, ast.Delete)
        for gone in one.targets
    ):
        return True  # it was there for a moment: its weights are stacked into one parameter
    picked = tree.under(cls.source, cls.node, ast.Subscript)
    looked_up = any(tree.dotted(one.value) == f"self.{name}" for one in picked)
    taken = tree.under(cls.source, cls.node, ast.Assign, ast.FunctionDef) if looked_up else []
    if any(_taken_out(node, f"self.{name}") for node in taken):
        return True
    added = {node.id for node in inside if isinstance(node, ast.Name)}
    if added and _kept_beside(cls, name, added):
        return True
    for loop in tree.under(cls.source, cls.node, ast.For):
        if any(tree.dotted(part) == f"self.{name}" for part in ast.walk(loop.iter)):
            added |= {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
    for call in tree.under(cls.source, cls.node, ast.Call):
        full, last = cls.source.name(call.func), tree.dotted(call.func).rpartition(".")[2]
        given = [arg.value if isinstance(arg, ast.Starred) else arg for arg in call.args]
        if isinstance(call.func, ast.Name) and last in _UNSEEN:
            return True
        if full in _LISTS and any(tree.dotted(_all_of(arg)) == f"self.{name}" for arg in given):
            return True
        parts = [part for arg in given for part in ast.walk(arg)] if last in _ADD else []
        if any(
            tree.dotted(part) == f"self.{name}" or (isinstance(part, ast.Name) and part.id in added) for part in parts
        ):
            return True
    return False


def _kept_beside(cls: Class, name: str, added: set[str]) -> bool:
    """`self.blocks.append(block)` or `self.blocks[i] = block` of an `nn.ModuleList`, or `self.last = block`, beside `self.pairs.append((block, i))`."""
    for call in tree.under(cls.source, cls.node, ast.Call):
        holder = tree.receiver(call) if follow.method(call) in _GROWS else None
        given = any(isinstance(one, ast.Name) and one.id in added for one in call.args)
        if (
            holder is not None
            and given
            and tree.dotted(holder) != f"self.{name}"
            and sure(cls.source, holder, "modulelist", "moduledict")
        ):
            return True
    for assign in tree.under(cls.source, cls.node, ast.Assign):
        target = assign.targets[0]
        own = target.value if isinstance(target, ast.Subscript) else target
        moved = isinstance(assign.value, ast.Name) and assign.value.id in added
        beside = moved and tree.dotted(own).startswith("self.") and tree.dotted(own) != f"self.{name}"
        if beside and (isinstance(target, ast.Attribute) or sure(cls.source, own, "modulelist", "moduledict")):
            return True
    return False


def _all_of(node: ast.expr) -> ast.expr:
    """`self.parts` of `list(self.parts.values())`."""
    while isinstance(node, ast.Call) and not node.keywords:
        if tree.dotted(node.func) in ("list", "tuple", "sorted") and len(node.args) == 1:
            node = node.args[0]
        elif follow.method(node) in ("values", "items") and not node.args:
            node = tree.receiver(node)
        else:
            break
    return node


def borrowed(node: ast.expr | None) -> bool:
    """`{name: part for name, part in self.encoder.named_modules()}`: parts of what is registered already."""
    turn = node.generators[0] if isinstance(node, ast.ListComp | ast.DictComp) else None
    over = turn.iter if turn is not None else None
    if isinstance(over, ast.Call) and follow.method(over) in _WALKS:
        return tree.dotted(tree.receiver(over)).startswith("self.")
    made = node.elt if isinstance(node, ast.ListComp) else None
    given = made.args if isinstance(made, ast.Call) else [made]  # `[nn.Sequential(part) for part in self.features]`
    own = turn is not None and isinstance(over, ast.Attribute) and tree.dotted(over).startswith("self.")
    return own and turn is not None and bool(given) and all(_same(one, turn.target) for one in given)


def _same(one: ast.expr | None, other: ast.expr) -> bool:
    return isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id


def by_hand(cls: Class, name: str) -> bool:
    """Whether the class, or one it comes from, asks each module of the container for its parameters itself."""
    for base in cls.source.project.bases(cls)[0]:
        for call in tree.under(base.source, base.node, ast.Call):
            held = tree.receiver(call) if follow.method(call) == "parameters" else None
            if isinstance(held, ast.Subscript) and tree.dotted(held.value) == f"self.{name}":
                return True
        for loop in tree.under(base.source, base.node, ast.For):
            mine = any(tree.dotted(part) == f"self.{name}" for part in ast.walk(loop.iter))
            if mine and any(follow.method(part) == "parameters" for part in ast.walk(loop)):
                return True
    return False

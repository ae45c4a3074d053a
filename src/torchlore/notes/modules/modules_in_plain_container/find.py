"""The rule of modules-in-plain-container."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import api, classes, containers, edits, follow, modules, scopes, tree, uses, values
from torchlore.check.classes import Attribute
from torchlore.check.pattern import regex
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source
from torchlore.check.values import Value

_NO_WEIGHTS = regex(r"loss|criteri|metric", re.IGNORECASE)  # seldom with weights
_NO_LAYER = (ast.Constant, ast.JoinedStr, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp,
             ast.GeneratorExp, ast.Lambda, ast.BinOp, ast.UnaryOp, ast.Compare)  # fmt: skip
_MEANT = regex(r"\b(hack|hide|ddp|not? (show|register|train)\w*|avoid)\b")  # the author wants it so
_NUMBERS = ("int", "float", "bool", "str")
WORDS = ("class", "self")


def find(source: Source) -> Iterator[Hit]:
    made = [cls for cls in classes.all_classes(source) if classes.is_module(cls) and not _shows_only(cls)]
    unregistered = [one.node for one in classes.all_classes(source) if _makes_layers(source, one)] if made else []
    adds, short = list(source.methods("add_module", "register_module")), any(source.all(ast.Lambda))
    for cls in made:
        yield from _one_name(source, cls) if adds else ()
        yield from _plain_class(source, cls, unregistered) if unregistered else ()
        yield from (*_given_list(source, cls), *(_in_lambda(source, cls) if short else ()))
        for name, assigned in classes.own_attributes(cls).items():
            given = [_alone(one) for one in assigned if one.how == "assign"]
            if len(given) != 1 or given[0].path:
                continue  # wrapped later
            plain = containers.is_container(given[0].value)
            if plain and any(isinstance(node, _NO_LAYER) for node in containers.begun(given[0])):
                continue
            built = containers.built(cls, given[0].value)
            if not built and not plain:
                continue
            held = [*containers.held(cls, given[0]), *built]
            found = _hidden(source, cls, name, given[0], held)
            if found is None or containers.registered(cls, name, held) or _elsewhere(source, cls, name, held):
                continue
            if not _MEANT.search(follow.comment(source, given[0].node)) and _read(source, cls, name):
                yield found


def _read(source: Source, cls: Class, name: str) -> bool:
    """Whether anybody looks into the container: layers that a trial left behind need no place."""
    if any(isinstance(one.ctx, ast.Load) for one in uses.attributes(source, name)):
        return True
    others = [source.project.text(path) or "" for path in source.project.importers(source.module)]
    known = bool(others) or cls.node.name in _outside(source, cls)  # who makes one is in sight
    return not known or any(name in text for text in others)


def _hidden(source: Source, cls: Class, name: str, one: Attribute, held: list[ast.expr]) -> Hit | None:
    """What there is to say of a container that holds these, if nobody registers them elsewhere."""
    if not held or any(isinstance(node, _NO_LAYER) for node in held):
        return None
    if _matter(source, held) and not _put_aside(source, held) and not _in_place(source, held):
        if containers.borrowed(one.value) or containers.by_hand(cls, name):
            return None
        sure = any(modules.has_parameters(part) for node in held for part in source.values(node))
        filters = _fixed(source, one.node)
        unsure = not sure or _handled(source, cls, name) or bool(filters)
        there = bool(filters) and all("cuda" in source.code(part) for part in filters)  # and where they belong
        return _hit(source, cls, name, one, "Module", "hint" if there else "warning" if unsure else None)
    if all(isinstance(node, ast.Call) and values.sure(source, node, "parameter") for node in held):
        return _hit(source, cls, name, one, "Parameter")
    return None


def _shows_only(cls: Class) -> bool:
    """`def forward(self): pass`: a lesson that shows what is registered."""
    forward = classes.methods(cls).get("forward")
    return forward is not None and all(isinstance(one, ast.Pass) for one in forward.body)


def _set_by_path(source: Source, held: ast.expr) -> bool:
    """`set_module(net, path, wrapper)`, `setattr(...)` or `block.qkv = LoRA(block.qkv, layer)`: it has a place in a net."""
    same = uses.names(source, held.id) if isinstance(held, ast.Name) else ()
    calls = [up for one in same if isinstance(up := source.parents[one], ast.Call) and one in up.args]
    homes = [up.targets[0] for one in calls if isinstance(up := source.parents[one], ast.Assign)]
    placed = any("." in tree.dotted(one) and not tree.dotted(one).startswith("self.") for one in homes)
    return placed or any(tree.dotted(one.func).rpartition(".")[2].startswith("set") for one in calls)


def _parameters_kept(source: Source, cls: Class) -> bool:
    """`self.all = nn.ParameterList(found)`, where `found += list(layer.parameters())`."""
    lists = [one for one in source.calls("torch.nn.ParameterList") if tree.inside(source, one, cls.node)]
    taken = (one for one in source.methods("parameters") if tree.inside(source, one, cls.node))
    homes = {tree.function(source, one) for one in lists}
    return bool(lists) and any(tree.function(source, one) in homes for one in taken)


def _elsewhere(source: Source, cls: Class, name: str, held_parts: list[ast.expr]) -> bool:
    """`add_module(name=..., module=...)`, `nn.Sequential(self.parts[0])`, or handed to a module that is made here."""
    if any(_set_by_path(source, node) for node in held_parts) or _parameters_kept(source, cls):
        return True
    for call in tree.under(source, cls.node, ast.Call):
        given = [*call.args, *(one.value for one in call.keywords)]
        if follow.method(call) in ("add_module", "register_module") and call.keywords and tree.loops(source, call):
            return True
        whole = [one for one in given if tree.dotted(one) == f"self.{name}"]
        parts = [one for one in given if isinstance(one, ast.Subscript) and tree.dotted(one.value) == f"self.{name}"]
        held = source.parents.get(call)
        kept = isinstance(held, ast.Assign) and tree.dotted(held.targets[0]).startswith("self.")
        if (whole or parts) and kept and values.sure(source, call, "module"):
            return True
    return False


def _put_aside(source: Source, held: list[ast.expr]) -> bool:
    """`[teacher.requires_grad_(False)]`, or one with `net.eval()` above: a list keeps it out of the module on purpose."""
    asleep = [tree.receiver(one) for one in source.methods("eval")]
    if all(isinstance(one, ast.Name) and any(_same(source, one, other) for other in asleep) for one in held):
        return True
    frozen = (one for one in held if isinstance(one, ast.Call) and follow.method(one) == "requires_grad_" and one.args)
    return any(tree.literal(one.args[0]) is False for one in frozen)


def _same(source: Source, one: ast.Name, other: ast.expr) -> bool:
    """Whether both are the same name of one function."""
    return tree.dotted(other) == one.id and tree.function(source, other) is tree.function(source, one)


def _in_place(source: Source, held: list[ast.expr]) -> bool:
    """`SpectralLoss(n).to(device)`: without weights, as far as is known, and where it belongs."""
    moved = all(follow.method(one) in ("to", "cuda") for one in held)
    return moved and not any(modules.has_parameters(one) for node in held for one in source.values(node))


def _fixed(source: Source, held: ast.AST) -> list[ast.Call]:
    """`layer.weight = nn.Parameter(table, requires_grad=False)` where the list is filled: filters that nobody trains."""
    home = tree.function(source, held)
    made = source.calls("torch.nn.Parameter") if home is not None else ()
    return [
        one
        for one in made
        if tree.literal(tree.argument(one, 1, "requires_grad")) is False
        and tree.function(source, one) is home
        and isinstance(source.parents[one], ast.Assign)
        and not tree.dotted(source.parents[one].targets[0]).startswith("self.")  # type: ignore[attr-defined]  # an assignment
    ]


def _handled(source: Source, cls: Class, name: str) -> bool:
    """Whether another method than `forward` has the container in its hands: it may know what it does."""
    used = (one for one in uses.attributes(source, name) if tree.dotted(one) == f"self.{name}")
    homes = {getattr(tree.function(source, one), "name", "") for one in used if tree.inside(source, one, cls.node)}
    return bool(homes - {"__init__", "forward", "__call__", ""})


def _makes_layers(source: Source, inner: Class) -> bool:
    """Whether a class is surely no module, makes layers, and does not speak of their parameters."""
    if source.project.bases(inner)[1] - {"object"} or not _layers(source, inner):
        return False  # a class of a library may be a module
    return re.search(r"parameters\(|add_module|register_module|Module(List|Dict)", source.code(inner.node)) is None


def _plain_class(source: Source, cls: Class, unregistered: list[ast.ClassDef]) -> Iterator[Hit]:
    """`self.heads = Heads(...)`, an object that makes layers and is no module, and that `forward` calls."""
    forward = classes.methods(cls).get("forward")
    for name, assigned in classes.own_attributes(cls).items() if forward is not None else ():
        made = assigned[0].value if len(assigned) == 1 and assigned[0].method == "__init__" else None
        found = source.values(made) if isinstance(made, ast.Call) and not assigned[0].path else ()
        inner = classes.class_behind(source, found[0]) if len(found) == 1 and found[0].kind == "object" else None
        if inner is None or inner.source is not source or inner.node not in unregistered:
            continue
        used = [one for one in tree.under(source, forward, ast.Attribute) if tree.dotted(one) == f"self.{name}"]  # type: ignore[arg-type]  # asked above
        if used and f"{name}." not in _outside(source, cls):
            told = f"`{inner.node.name}` is no nn.Module, so `self.{name}` hides its layers from parameters(), to(), eval() and state_dict(): derive it from nn.Module"
            yield source.hit(tree.statement(source, assigned[0].node), told)


def _given_list(source: Source, cls: Class) -> Iterator[Hit]:
    """`def __init__(self, heads: list[Head]): self.heads = heads`, and `forward` calls them."""
    forward = classes.methods(cls).get("forward")
    for name, assigned in classes.own_attributes(cls).items() if forward is not None else ():
        given = assigned[0].value if len(assigned) == 1 and assigned[0].how == "assign" else None
        if not isinstance(given, ast.Name) or _NO_WEIGHTS.search(name):
            continue
        used = (one for one in uses.attributes(source, name) if tree.dotted(one) == f"self.{name}")
        if not any(tree.inside(source, one, forward) for one in used):  # type: ignore[arg-type]  # asked above
            continue
        bound = scopes.reaching(source, given)
        promise = (
            getattr(bound[0].node, "annotation", None) if len(bound) == 1 and bound[0].how == "parameter" else None
        )
        if promise is not None and source.name(promise) in _NUMBERS:
            continue
        found = values.annotated(source, promise) if isinstance(promise, ast.Subscript) else ()
        seen = source.values(given) if bound and bound[0].how == "parameter" and not found else ()
        found = found or (seen if seen and all(one.kind == "list" and not _own_parts(one.node) for one in seen) else ())
        parts = [part for one in found if one.kind == "list" for part in _filled(one)]
        nets = bool(parts) and all(api.is_kind(part.kind, "module") and part.kind != "loss" for part in parts)
        if not nets or any(_bare(source, part) for part in parts):
            continue
        if "add_module" not in source.code(cls.node) and not containers.by_hand(cls, name):
            told = f"`self.{name}` is a list, which hides its layers from parameters(), to(), eval() and state_dict()"
            write = f"write `nn.ModuleList({source.code(given)})`"
            yield source.hit(tree.statement(source, assigned[0].node), f"{told}: {write}", severity="warning")


def _own_parts(node: ast.AST | None) -> bool:
    """`[self.first, self.second]`: whoever hands it in holds them already."""
    return (
        isinstance(node, ast.List)
        and node.elts != []
        and all(tree.dotted(one).startswith("self.") for one in node.elts)
    )


def _bare(source: Source, part: Value) -> bool:
    """Whether the class that was promised, and whatever stands beside it, makes no layers."""
    owner = classes.class_behind(source, part)
    return owner is not None and not any(_layers(owner.source, one) for one in classes.all_classes(owner.source))


def _filled(box: values.Value) -> list[values.Value]:
    """What a list holds where it is written, or what its function appends to it."""
    home, held = (
        box.source,
        box.source.parents.get(box.node) if box.source is not None and box.node is not None else None,
    )
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    if box.items or not name or home is None or held is None:
        return [part for group in box.items for part in group]
    adds = [one for one in home.methods("append") if tree.dotted(tree.receiver(one)) == name and one.args]
    mine = [one.args[0] for one in adds if tree.function(home, one) is tree.function(home, held)]
    return [value for one in mine for value in home.values(one)]


def _layers(source: Source, inner: Class) -> bool:
    """Whether a class makes layers with parameters in its `__init__`."""
    own = [one for found in classes.own_attributes(inner).values() for one in found if one.method == "__init__"]
    made = [value for one in own if isinstance(one.value, ast.Call) for value in source.values(one.value)]
    return any(api.is_kind(one.kind, "module") and modules.has_parameters(one) for one in made)


def _outside(source: Source, cls: Class) -> str:
    """The text of the file without the class."""
    return source.text.replace(source.code(cls.node), "")


def _alone(one: Attribute) -> Attribute:
    """`self.a = [...]` of `self.a, self.b = [...], [...]`."""
    several = isinstance(one.value, ast.Tuple) and len(one.path) == 1 and one.path[0] < len(one.value.elts)
    return one._replace(value=one.value.elts[one.path[0]], path=()) if several else one  # type: ignore[union-attr]  # a tuple


def _in_lambda(source: Source, cls: Class) -> Iterator[Hit]:
    """`proj = nn.Conv2d(...)`, `self.skip = lambda x: proj(x)`: a layer that only the lambda holds."""
    for name, found in classes.own_attributes(cls).items():
        made = found[0].value if len(found) == 1 and found[0].method == "__init__" else None
        for call in tree.under(source, made, ast.Call) if isinstance(made, ast.Lambda) else ():
            layer = call.func if isinstance(call.func, ast.Name) else None
            bound = scopes.reaching(source, layer) if layer is not None else []
            fresh = layer is not None and len(bound) == 1 and isinstance(bound[0].value, ast.Call)
            seen = [one for one in uses.names(source, layer.id) if tree.inside(source, one, cls.node)] if layer else []
            alone = sum(isinstance(one.ctx, ast.Load) for one in seen) == 1
            if fresh and layer is not None and alone and any(map(modules.has_parameters, source.values(layer))):
                told = f"`{layer.id}` is held by the lambda `self.{name}` alone, which hides it from parameters(), to() and state_dict()"
                yield source.hit(made or call, f"{told}: keep it as `self.{layer.id}`")


def _one_name(source: Source, cls: Class) -> Iterator[Hit]:
    """`add_module("head", head)` in a loop: each turn throws out the head of the turn before."""
    for call in source.methods("add_module", "register_module"):
        if tree.dotted(tree.receiver(call)) != "self" or not tree.inside(source, call, cls.node):
            continue
        name, around = tree.literal(tree.argument(call, 0, "name")), tree.loops(source, call)
        if isinstance(name, str) and around and not follow.seldom(source, call, around[0]) and not _once(around[0]):
            told = f'every turn of the loop registers under one name, "{name}", and throws out the one before: number the names'
            yield source.hit(call, told)


def _once(loop: tree.Loop) -> bool:
    return any(isinstance(node, ast.Break | ast.Return) for node in tree.body_nodes(loop))


def _matter(source: Source, held: list[ast.expr]) -> bool:
    """Whether all of it are modules made here, and one of them has parameters or drops."""
    if not all(values.sure(source, node, "module") for node in held) or any(_handed(source, node) for node in held):
        return False
    made = [value for node in held for value in source.values(node)]
    behind = [classes.class_behind(source, one) for one in made]
    if any(one is not None and ".backward(" in one.source.code(one.node) for one in behind):
        return False  # the clients of a server train themselves
    parts = [[part for group in one.items for part in group] if one.kind == "sequential" else [one] for one in made]
    if any(parts) and not any(part.kind for inner in parts for part in inner):
        return False  # `nn.Sequential(Rearrange(...))`: layers of a library that may well have no weights
    drops = any("Dropout" in one.name and modules.mode_layers(source, one) for one in made)
    return drops or not all(modules.parameterless(value) for value in made)


def _handed(source: Source, node: ast.expr) -> bool:
    """Whether it was made elsewhere or for reading only: `[teacher]` and `[teacher.eval()]` hide a net on purpose."""
    while isinstance(node, ast.Call) and follow.method(node) in api.SELF_METHODS:
        if follow.method(node) == "eval":
            return True
        node = tree.receiver(node)
    while isinstance(node, ast.Subscript):
        node = node.value  # `self.norms[i]` is registered with `self.norms`
    if not isinstance(node, ast.Name):
        return isinstance(node, ast.Attribute)
    bound = scopes.reaching(source, node)
    given = any(one.how == "parameter" or (one.how in ("for", "comprehension") and _own(one.value)) for one in bound)
    return given or not any(value.node for value in source.values(node))


def _own(node: ast.expr | None) -> bool:
    """`self.blocks` of `[one for one in self.blocks]`, and `self.children()`."""
    made = tree.receiver(node) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
    return made is not None and tree.dotted(made).partition(".")[0] == "self"


def _hit(source: Source, cls: Class, name: str, one: Attribute, what: str, severity: str | None = None) -> Hit:
    mapping = containers.maps(cls, one.value)
    wrapper = edits.spelled(source, f"torch.nn.{what}{'Dict' if mapping else 'List'}")
    message = f"`self.{name}` hides its {'layers' if what == 'Module' else 'parameters'} from parameters(), to(), eval() and state_dict(): use `{wrapper}`"
    assert one.value is not None
    if any(
        isinstance(part, ast.Tuple) for part in tree.under(source, one.value, ast.Tuple)
    ):  # pairs of a name and a layer
        return source.hit(tree.statement(source, one.node), message, severity=severity)
    empty = source.code(one.value) in ("[]", "{}", "list()", "dict()")
    fix = (edits.replace(source, one.value, f"{wrapper}()"),) if empty else edits.wrap(source, one.value, f"{wrapper}(")
    return source.hit(tree.statement(source, one.node), message, *fix, safe=not mapping, severity=severity)

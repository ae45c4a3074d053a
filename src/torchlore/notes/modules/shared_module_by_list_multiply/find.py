"""The static rule of shared-module-by-list-multiply."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, follow, project, scopes, tree, uses, values
from torchlore.check.calls import default_of
from torchlore.check.modules import parameterless
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_MEANT = regex("shared|sharing|tied|universal|recurr|albert|looped|unrolled")
_CLASS = regex("shared|sharing|tied|tying|universal|albert|looped|unrolled")
_BOXES = ("torch.nn.ModuleList", "torch.nn.Sequential")


def find(source: Source) -> Iterator[Hit]:
    for box in source.all(ast.List):
        node = source.parents[box]
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult) or len(box.elts) != 1:
            continue
        if box is node.right and isinstance(node.left, ast.List):
            continue
        one, count = box.elts[0], node.right if box is node.left else node.left
        if _learns(source, one) and not _chosen(source, node) and not _is_flag(source, count):
            fixed = f"[{source.code(one)} for _ in range({source.code(count)})]"
            fix = [edits.replace(source, node, fixed)] if isinstance(one, ast.Call) else []
            message = (
                f"this is one `{source.code(one)}` several times, with one set of weights: make one for each place"
            )
            yield source.hit(node, message, *fix)
    for call in source.calls(*_BOXES):
        for given in call.args:
            many = given.value if isinstance(given, ast.Starred) else given
            if isinstance(many, ast.ListComp | ast.GeneratorExp) and isinstance(many.elt, ast.Name):
                own = {n.id for part in many.generators for n in ast.walk(part.target) if isinstance(n, ast.Name)}
                if many.elt.id not in own and _learns(source, many.elt) and not _chosen(source, many):
                    name = many.elt.id
                    yield source.hit(
                        many, f"every entry is the same `{name}`, one set of weights: `copy.deepcopy({name})`"
                    )
    yield from _same_list(source)
    yield from _appended(source)


def _is_flag(source: Source, count: ast.expr) -> bool:
    """`with_norm * [Norm()]` of `def __init__(self, with_norm=True)`: one or none."""
    bound = scopes.reaching(source, count) if isinstance(count, ast.Name) else []
    home = tree.function(source, count)
    arg = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None
    default = (
        default_of(project.as_function(source, home), arg) if home is not None and isinstance(arg, ast.arg) else None
    )
    return default is not None and isinstance(tree.literal(default), bool)


def _chosen(source: Source, node: ast.AST) -> bool:
    """Whether a flag says so, or another branch makes one for each place: the author knows both."""
    if any("share" in source.code(test) for test, _ in tree.conditions(source, node)):
        return True
    owner = project.enclosing_class(source, node)
    if owner is not None and _CLASS.search(f"{owner.node.name} {ast.get_docstring(owner.node) or ''}".lower()):
        return True  # `class SharedEncoder`
    held = tree.statement(source, node)
    name = source.code(held.targets[0]) if isinstance(held, ast.Assign) else ""
    others = (one for one in source.all(ast.Assign) if one is not held and source.code(one.targets[0]) == name)
    return bool(name) and any(
        follow.exclusive(source, one, held)
        and (any(tree.under(source, one, ast.ListComp, ast.GeneratorExp)) or "clones(" in source.code(one))
        for one in others
    )


def _learns(source: Source, node: ast.expr) -> bool:
    found = values.values(source, node)
    unknown = isinstance(node, ast.Call) and all(not one.kind for one in found)
    if not unknown and (not values.sure(source, node, "module") or any(parameterless(one) for one in found)):
        return False
    told = " ".join(source.code(test) for test, _ in tree.conditions(source, node)) + source.code(node)
    held = tree.statement(source, node)
    named = " ".join(source.code(one) for one in held.targets) if isinstance(held, ast.Assign) else ""
    made = follow.binding(source, node)
    said = follow.comment(source, node) + (follow.comment(source, made) if made is not None else "")
    if _MEANT.search(named.lower()) or re.search(
        r"weight.?shar|shar\w* (the )?weights|same (block|weights|instance)", said
    ):
        return False
    if not isinstance(node, ast.Call) and re.search("shar|tie|same|recurr", told.lower()):
        return False  # one set of weights is what the author wants
    if any(one.name.endswith("Env") for one in found):
        return False  # a world to play in
    return not unknown or (bool(named) and _asked_for_weights(source, named))


def _asked_for_weights(source: Source, name: str) -> bool:
    """`for m in members: SGD(m.parameters())`: whatever made them, they are networks."""
    asked = (tree.receiver(one) for one in source.methods("parameters"))
    bound = (one for held in asked if isinstance(held, ast.Name) for one in scopes.reaching(source, held))
    over = (source.code(one.value) for one in bound if one.how in ("for", "comprehension") and one.value is not None)
    return any(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", code) for code in over)


def _same_list(source: Source) -> Iterator[Hit]:
    """`decoder = encoder`, where it is a list of layers that is put into a ModuleList."""
    given = uses.assigns(source, ast.Name, ast.Name) if any(source.calls(*_BOXES)) else []
    boxed = {arg.id for call in source.calls(*_BOXES) for arg in tree.under(source, call, ast.Name)} if given else set()
    for assign in given:
        name, other = assign.targets[0], assign.value
        if not isinstance(name, ast.Name) or not isinstance(other, ast.Name) or not {name.id, other.id} <= boxed:
            continue
        if not values.sure(source, other, "list"):
            continue
        inside = [one for value in values.values(source, other) for group in value.items for one in group]
        layers = bool(inside) and all(one.kind in ("module", "sequential") and not parameterless(one) for one in inside)
        home = tree.function(source, assign)
        used = {
            arg.id
            for call in source.calls(*_BOXES)
            if tree.function(source, call) is home and call.lineno > assign.lineno
            for arg in ast.walk(call)
            if isinstance(arg, ast.Name)
        }
        if layers and {name.id, other.id} <= used:
            better = f"{name.id} = copy.deepcopy({other.id})"
            yield source.hit(assign, f"both lists hold the same layers, with one set of weights: write `{better}`")


def _appended(source: Source) -> Iterator[Hit]:
    """`members.append(base)` in every turn of a loop, where `base` is made before it."""
    for call in source.methods("append"):
        one = call.args[0] if len(call.args) == 1 else None
        around = tree.loops(source, call) if isinstance(one, ast.Name) else []
        if not isinstance(one, ast.Name) or not around or not isinstance(around[0], ast.For):
            continue
        many = isinstance(around[0].iter, ast.Call) and source.name(around[0].iter.func) == "range"
        box = tree.dotted(tree.receiver(call))
        if not many or not box or _MEANT.search(f"{box} {one.id}".lower()) or tree.conditions(source, call):
            continue
        bound = scopes.reaching(source, one)
        inside = any(tree.inside(source, made.statement, around[0]) for made in bound)
        if inside or not bound or any(made.how != "assign" for made in bound) or not _learns(source, one):
            continue
        if "same" not in follow.comment(source, call):
            told = f"every turn appends the same `{one.id}`, one set of weights: append `copy.deepcopy({one.id})`, or make it in the loop"
            yield source.hit(call, told)

"""The rule of strict-false-unchecked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, follow, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.saved import contents
from torchlore.check.source import Hit, Source

_WRAPPERS = ("torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel")
_SAID = regex(r"compatib|strict|miss|skip|ignor|unexpected|partial|\bkeys?\b|not match|head|classifier|backbone|frozen")
WORDS = ("load_state_dict|save", "load_state_dict|load", "load_state_dict|state_dict")


def find(source: Source) -> Iterator[Hit]:
    yield from _picked(source)
    for call in source.methods("load_state_dict"):
        loose = tree.literal(tree.argument(call, 1, "strict")) is False
        if loose and tree.is_statement(source, call) and call.args and _as_it_was_saved(source, call.args[0]):
            model = source.code(tree.receiver(call))
            message = f"keys that do not fit `{model}` are skipped in silence: read the lists that this returns"
            given = source.code(follow.followed(source, call.args[0]))
            # its author knows which keys are left out: a published net, or the body of another one
            published = (
                re.search(r"load_state_dict_from_url|pretrained|imagenet", given + source.code(call)) is not None
            )
            told = any("DataParallel" in source.code(test) for test, _ in tree.conditions(source, call))
            meant = (
                published or told or _explained(source, call) or follow.in_test(source, call) or _told_so(source, call)
            )
            if (other := _stranger(source, call)) and not follow.in_test(source, call):
                nothing = f"no key of `{other}`, which was saved, begins with a name of `{model}`, so nothing is loaded: rename the keys, and leave `strict=False` out"
                yield source.hit(call, nothing)
                continue
            if _whole(source, call.args[0]) and not follow.in_test(source, call):
                given = source.code(call.args[0])
                nothing = f"`{given}` is the whole checkpoint, whose keys are no layers, so nothing is loaded into `{model}`: take the weights out of it"
                yield source.hit(call, nothing)
                continue
            yield source.hit(
                call, message, severity=None if _prefixed(source, tree.receiver(call)) and not meant else "hint"
            )


def _picked(source: Source) -> Iterator[Hit]:
    """`{k: v for k, v in saved.items() if k in own}` of a file with the state of another net, none of whose keys is in `own`."""
    if not any(source.calls("torch.save")) or not any(source.calls("torch.load")):
        return
    walks: list[ast.DictComp | ast.For] = [*source.all(ast.DictComp), *source.all(ast.For)]
    for node in walks:
        saved, own = _kept_if_known(node)
        net = _state_of(source, own) if own is not None else None
        if saved is None or net is None or not _from_file(source, saved) or follow.in_test(source, node):
            continue
        if other := _strange_to(source, net):
            told = f"no key of `{other}`, which was saved, begins with a name of `{source.code(net)}`, so this keeps none: put the prefix before the keys"
            yield source.hit(node, told)


def _kept_if_known(node: ast.DictComp | ast.For) -> tuple[ast.expr | None, ast.expr | None]:
    """`saved` and `own` of `{k: v for k, v in saved.items() if k in own}`, or of the loop that does the same."""
    over = node.generators[0].iter if isinstance(node, ast.DictComp) else node.iter
    if not isinstance(over, ast.Call) or follow.method(over) != "items":
        return None, None
    if isinstance(node, ast.DictComp):
        target, tests = node.generators[0].target, node.generators[0].ifs
        plain = isinstance(target, ast.Tuple) and tree.dotted(node.key) == tree.dotted(target.elts[0])
    else:
        target, tests = node.target, [one.test for one in node.body if isinstance(one, ast.If)]
        plain = isinstance(target, ast.Tuple) and not any(
            isinstance(one, ast.Assign) and tree.dotted(one.targets[0]) == tree.dotted(target.elts[0])
            for one in ast.walk(node)
        )
    if not plain or not isinstance(target, ast.Tuple):
        return None, None
    key = tree.dotted(target.elts[0])
    for test in (part for one in tests for part in (one.values if isinstance(one, ast.BoolOp) else [one])):
        asked = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In) and tree.dotted(test.left) == key
        if asked and isinstance(test, ast.Compare):
            own = test.comparators[0]
            return tree.receiver(over), tree.receiver(own) if follow.method(own) == "keys" and isinstance(
                own, ast.Call
            ) else own
    return None, None


def _state_of(source: Source, own: ast.expr) -> ast.expr | None:
    """`net` of `net.state_dict()`, here or by its name."""
    made = follow.followed(source, own)
    return tree.receiver(made) if isinstance(made, ast.Call) and follow.method(made) == "state_dict" else None


def _from_file(source: Source, saved: ast.expr) -> bool:
    made = follow.followed(source, saved)
    while isinstance(made, ast.Subscript) and isinstance(tree.literal(made.slice), str):
        made = follow.followed(source, made.value)
    return isinstance(made, ast.Call) and source.name(made.func) == "torch.load"


def _told_so(source: Source, call: ast.Call) -> bool:
    """The second attempt, where the first one failed and a line is printed about it."""
    handler = next((up for up in tree.ancestors(source, call) if isinstance(up, ast.ExceptHandler)), None)
    calls = tree.under(source, handler, ast.Call) if handler is not None else []
    return any(
        tree.dotted(one.func).rpartition(".")[2] in ("print", "warning", "warn", "info", "error") for one in calls
    )


def _explained(source: Source, call: ast.Call) -> bool:
    """Whether the author says why, here or where the same net is loaded in another branch."""
    home, net = tree.function(source, call), source.code(tree.receiver(call))
    loads = (one for one in source.methods("load_state_dict") if tree.function(source, one) is home)
    same = (one for one in loads if one is call or source.code(tree.receiver(one)) == net)
    return any(_SAID.search(follow.comment(source, one)) for one in same)


def _whole(source: Source, given: ast.expr) -> bool:
    """Whether this comes straight from a file, and every file that is written here has the weights under a key."""
    made = follow.followed(source, given)
    if not isinstance(made, ast.Call) or source.name(made.func) != "torch.load":
        return False
    kept = [contents(source, one) for one in source.calls("torch.save")]
    boxed = [any(key and follow.method(expr) == "state_dict" for key, expr in one.items) for one in kept]
    return bool(boxed) and all(boxed) and all(one.whole for one in kept)


def _stranger(source: Source, call: ast.Call) -> str:
    """The net whose state this file saves, where its layers have other names than those of the one that is loaded."""
    return _strange_to(source, tree.receiver(call))


def _strange_to(source: Source, net: ast.expr) -> str:
    kept = [expr for one in source.calls("torch.save") for _, expr in contents(source, one).items]
    nets = [tree.receiver(expr) for expr in kept if isinstance(expr, ast.Call) and follow.method(expr) == "state_dict"]
    if len(nets) != 1 or "optim" in tree.dotted(nets[0]).lower():
        return ""
    theirs, ours = _names(source, nets[0]), _names(source, net)
    return source.code(nets[0]) if theirs and ours and not theirs & ours else ""


def _names(source: Source, net: ast.expr) -> set[str]:
    """The first parts of the keys of a net's state: of the layers of a class, or the numbers of a Sequential."""
    names = set[str]()
    for one in source.values(net):
        owner = classes.class_behind(source, one)
        if one.name in _WRAPPERS:
            names.add("module")
        elif owner is not None:
            held = classes.attributes(owner).items()
            names |= {name for name, all_of in held if any(_is_part(two) for two in all_of)}
        elif one.kind == "sequential" and one.items and one.source is not None:
            names |= {str(place) for place in range(len(one.items))}
        else:
            return set()
    return names


def _is_part(one: classes.Attribute) -> bool:
    """A layer or a weight, or something that may be one."""
    if one.value is None:
        return True
    kinds = {value.kind for value in one.source.values(one.value)}
    return not kinds or bool(kinds & {"module", "sequential", "modulelist", "moduledict", "parameter", "", "tensor"})


def _prefixed(source: Source, model: ast.expr) -> bool:
    """Whether names here are known to get a prefix that the model does not have; else one may want a part of them."""
    wraps = any(one.attr.endswith("DataParallel") for one in source.all(ast.Attribute)) or any(source.calls(*_WRAPPERS))
    bare = re.search(
        r"(\.module|_module|without_ddp|unwrapped\w*)\.state_dict\(", source.text
    )  # what is saved has no prefix
    found = source.values(model) if wraps and bare is None else ()
    return bool(found) and all(one.name not in _WRAPPERS for one in found)


def _as_it_was_saved(source: Source, state: ast.expr, depth: int = 4) -> bool:
    """Straight from a file or another model: nobody has picked or renamed its keys."""
    if isinstance(state, ast.Subscript):
        return isinstance(tree.literal(state.slice), str) and _as_it_was_saved(source, state.value, depth)
    if isinstance(state, ast.Call):
        full = source.name(state.func)
        saved = not full and isinstance(state.func, ast.Attribute) and state.func.attr == "state_dict"
        return saved or full in ("torch.load", "torch.hub.load_state_dict_from_url")
    if not isinstance(state, ast.Name) or not depth:
        return False
    home = tree.function(source, state)
    for other in uses.names(source, state.id):
        up = source.parents[other]
        touched = isinstance(up, ast.Attribute) and up.attr in ("pop", "update", "items", "keys", "copy")
        stored = isinstance(up, ast.Subscript) and not isinstance(up.ctx, ast.Load)
        if (touched or stored) and tree.function(source, other) is home:
            return False
    bindings = scopes.reaching(source, state)
    kept = [one.value for one in bindings if one.value is not None and one.how == "assign" and not one.path]
    return bool(kept) and len(kept) == len(bindings) and all(_as_it_was_saved(source, one, depth - 1) for one in kept)

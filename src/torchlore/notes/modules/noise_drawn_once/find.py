"""The rule of noise-drawn-once."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, flow, follow, frameworks, scopes, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.project import Function, as_function
from torchlore.check.source import Hit, Source

_DRAWS = ("torch.randn", "torch.rand", "torch.normal", "torch.randn_like", "torch.rand_like")
_SCALE = regex(r"exp\(|(^|[._])(std|sigma|stddev|scale)\w*$", re.IGNORECASE)
_NOISE = regex(r"^(z|noise|latents?|latent_\w+|z_\w+|gen_(input|noise))$", re.IGNORECASE)
_RANDOM = regex(r"Random(?!Apply|Order|Choice)\w+|ColorJitter|RandAugment|TrivialAugmentWide")
_AUGMENTS = regex(r"augment|jitter|distort|perturb|random_?(flip|crop|erase|rotate|shift)", re.IGNORECASE)
_KEPT = regex(r"fix|test|eval|sample|static|const|vis", re.IGNORECASE)
WORDS = ("__getitem__|randn|rand|normal|randn_like|rand_like", "__init__|*backward*")


def find(source: Source) -> Iterator[Hit]:
    yield from _pictures(source)
    if not any(source.calls(*_DRAWS)):
        return
    for cls in classes.all_classes(source):
        for name, found in classes.own_attributes(cls).items():
            one = found[0]
            if len(found) == 1 and one.method == "__init__" and one.value is not None and _drawn(source, one.value):
                if _KEPT.search(name) or not classes.is_module(cls) or not _scaled(source, cls.node, name):
                    continue
                told = f"`self.{name}` is drawn once, so every step adds the same noise: draw it where it is used"
                yield source.hit(one.value, told)
    yield from _before_loop(source)


def _pictures(source: Source) -> Iterator[Hit]:
    """`self.x = [augment(one) for one in images]` in a dataset's `__init__`: every epoch sees the same draw."""
    for cls in classes.all_classes(source) if "Dataset" in source.text else ():
        own = classes.methods(cls)
        init, reads = own.get("__init__"), own.get("__getitem__")
        if init is None or reads is None or classes.kind_of_instances(cls) != "dataset":
            continue
        for call in tree.under(source, init, ast.Call):
            name = _kept_in(source, call)
            drawing = _draws_anew(source, init, call.func) if name else ""
            again = (source.code(one.func) for one in tree.under(source, reads, ast.Call)) if drawing else ()
            if drawing and source.code(call.func) not in again:
                told = (
                    f"{drawing} draws once for each sample here, so every epoch sees the same: do it in `__getitem__`"
                )
                yield source.hit(call, f"`{name}`: {told}", severity="warning")


def _kept_in(source: Source, call: ast.Call) -> str:
    """`self.x` of `self.x = augment(x)`, of a list of such, and of `self.x.append(augment(one))`."""
    up = source.parents[call]
    up = source.parents[up] if isinstance(up, ast.ListComp) and up.elt is call else up
    if isinstance(up, ast.Call) and follow.method(up) == "append" and call in up.args:
        name = tree.dotted(tree.receiver(up))
    else:
        name = tree.dotted(up.targets[0]) if isinstance(up, ast.Assign) else ""
    return name if name.startswith("self.") else ""


def _draws_anew(source: Source, init: tree.FunctionNode, func: ast.expr) -> str:
    """The name of what draws: a random transform, also one that every caller hands in, or a function that augments."""
    made = follow.followed(source, func)
    found = _RANDOM.search(source.code(made)) if isinstance(made, ast.Call) else None  # the transform, not its class
    if found is not None:
        return found[0]
    named = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
    inner = source.project.resolve(source, func) if isinstance(func, ast.Name) else None
    if isinstance(inner, Function):
        runs = tree.under(inner.source, inner.node, ast.Call)
        draws = any(inner.source.name(one.func) in _DRAWS or "random" in inner.source.code(one.func) for one in runs)
        return f"`{named}`" if draws and _AUGMENTS.search(named) else ""
    own = as_function(source, init)
    arg = next((one for one in tree.parameters(init) if one.arg == named), None)
    given = [(at, calls.given_argument(own, call, arg, skip)) for at, call, skip in calls.callers(own)] if arg else []
    codes = [at.code(follow.followed(at, one)) for at, one in given if one is not None]
    handed = [one[0] for one in map(_RANDOM.search, codes) if one is not None]
    return handed[0] if handed else ""


def _drawn(source: Source, value: ast.expr) -> bool:
    while follow.method(value) in ("to", "cuda", "float", "unsqueeze") and not source.name(
        getattr(value, "func", value)
    ).startswith("torch."):
        value = tree.receiver(value)  # type: ignore[arg-type]  # a method call
    return isinstance(value, ast.Call) and source.name(value.func) in _DRAWS


def _scaled(source: Source, cls: ast.ClassDef, name: str) -> bool:
    """Whether it is only read, and somewhere multiplied by a deviation and added to a mean."""
    found = uses.attributes(source, name)
    if not all(tree.inside(source, use, cls) for use in found):
        return False  # somebody else has a hand in it
    added = False
    for use in found:
        up = source.parents[use]
        cut = up if isinstance(up, ast.Subscript) else use  # self.eps[: len(x)]
        up = source.parents[cut]
        if isinstance(up, ast.Attribute) and up.attr.endswith("_"):
            return False  # `self.eps.normal_()` draws anew
        if isinstance(up, ast.BinOp) and isinstance(up.op, ast.Mult):
            other, outer = up.right if up.left is cut else up.left, source.parents[up]
            scale = _SCALE.search(source.code(other)) or _SCALE.search(source.code(follow.followed(source, other)))
            added = added or bool(scale and isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Add))
    return added


def _before_loop(source: Source) -> Iterator[Hit]:
    """`z = torch.randn(n, d)` before the loop, `judge(maker(z))` in it."""
    if not uses.says(source, "backward"):
        return
    for assign in uses.assigns(source, ast.Name, ast.Call):
        target = assign.targets[0] if len(assign.targets) == 1 else None
        if not isinstance(target, ast.Name) or not _NOISE.match(target.id) or _KEPT.search(target.id):
            continue
        if not _drawn(source, assign.value) or tree.loops(source, assign):
            continue
        home = tree.function(source, assign)
        for loop in flow.backward_loops(source):
            if tree.function(source, loop.node) is not home or frameworks.owned(source, loop.node):
                continue
            if any(_judged(source, use, target, loop.node) for use in uses.names(source, target.id)):
                told = f"`{target.id}` is drawn once, before the loop, so the generator sees one batch of noise: draw it in each step"
                yield source.hit(assign, told)
                break


def _judged(source: Source, use: ast.Name, target: ast.Name, loop: ast.AST) -> bool:
    """Whether a network makes something of the noise that another one judges, in the loop and with gradients."""
    call = source.parents[use]
    if not isinstance(call, ast.Call) or call.args != [use] or not tree.inside(source, call, loop):
        return False
    bound = scopes.reaching(source, use)
    if len(bound) != 1 or bound[0].node is not target or not values.sure(source, call.func, "module", weak=True):
        return False
    if any("no_grad" in source.code(one) or "inference" in source.code(one) for one in tree.contexts(source, call)):
        return False
    up = source.parents[call]
    held = up.targets[0] if isinstance(up, ast.Assign) and len(up.targets) == 1 else None
    places: list[ast.expr] = [*uses.names(source, held.id)] if isinstance(held, ast.Name) else [call]
    judges = [source.parents[one] for one in places if tree.inside(source, one, loop)]
    return any(isinstance(one, ast.Call) and one.func is not call.func and source.code(one.func) != source.code(call.func)
               and values.sure(source, one.func, "module", weak=True) for one in judges)  # fmt: skip

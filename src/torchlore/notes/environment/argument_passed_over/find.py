"""The rule of argument-passed-over."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, classes, tree, uses
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_TAKES = (ast.Attribute, ast.IfExp, ast.BoolOp)  # what may give a name a default

WORDS = ("self",)


def find(source: Source) -> Iterator[Hit]:
    yield from _not_handed_on(source)
    for held in (one for kind in _TAKES for one in uses.assigns(source, ast.Name, kind)):
        name = held.targets[0]
        given = _default(held.value, name.id) if isinstance(name, ast.Name) and len(held.targets) == 1 else ""
        home = tree.function(source, held) if given else None
        if home is None or not isinstance(name, ast.Name):
            continue
        if name.id not in {arg.arg for arg in tree.parameters(home)} or not _asked(source, held, name.id):
            continue
        below = [one for one in tree.under(source, home, ast.Name) if one.id == name.id and one.lineno > held.lineno]
        own = [
            one
            for one in tree.under(source, home, ast.Attribute)
            if tree.dotted(one) == given and isinstance(one.ctx, ast.Load) and one.lineno > held.lineno
        ]
        hidden = any(one.id in ("locals", "vars", "eval", "exec") for one in tree.under(source, home, ast.Name))
        if own and not below and not hidden and not tree.loops(source, held):
            yield source.hit(
                held,
                f"`{name.id}` is filled here and never read: the lines below read `{given}`, whatever is passed in",
            )


def _not_handed_on(source: Source) -> Iterator[Hit]:
    """`def forward(self, x, mask): return self.body(x)`, where the body takes a mask too."""
    for cls in classes.all_classes(source) if "forward" in source.text else ():
        forward = classes.methods(cls).get("forward") if classes.is_module(cls) else None
        if forward is None:
            continue
        names = {one.id for one in tree.under(source, forward, ast.Name)}
        unread = [arg for arg in tree.parameters(forward)[1:] if arg.arg not in names and not arg.arg.startswith("_")]
        if not unread or names & {"locals", "vars", "eval", "exec", "kwargs"}:
            continue
        inside = tree.under(source, forward, ast.Call)
        for arg in unread:
            sites = (call for call in inside if _takes(source, call, arg.arg))
            given = arg.arg == "attention_mask" or _is_given(source, forward, arg)
            call = next(sites, None) if given else None
            if call is not None:
                told = f"`{arg.arg}` is never read here, so whatever is passed in changes nothing: hand it on to `{source.code(call.func)}`"
                yield source.hit(call, told, severity="warning")


def _takes(source: Source, call: ast.Call, name: str) -> bool:
    """Whether what is called has an argument of that name, reads it, and is not given it; the models of transformers take a mask."""
    if tree.spread(call):
        return False
    if name == "attention_mask":
        models = source.values(call.func)
        known = bool(models) and all(one.name.startswith("transformers.") and one.kind == "module" for one in models)
        return known and tree.lacks(call, 1, name) and tree.lacks(call, None, "inputs_embeds")
    found = source.values(call.func)
    cls = classes.class_behind(source, found[0]) if len(found) == 1 else None
    own = classes.methods(cls).get("forward") if cls is not None else None
    if own is None or cls is None:
        return False
    inner = as_function(cls.source, own)
    for arg in tree.parameters(inner.node)[1:]:
        default = calls.default_of(inner, arg)
        same = arg.arg == name or (len(arg.arg) > 4 and arg.arg in name)
        if same and default is not None and calls.given_argument(inner, call, arg, 1) in (None, default):
            return any(one.id == arg.arg for one in tree.under(inner.source, inner.node, ast.Name))
    return False


def _is_given(source: Source, forward: tree.FunctionNode, arg: ast.arg) -> bool:
    """Whether a call of the project gives something for it that is not None."""
    function = as_function(source, forward)
    own = calls.default_of(function, arg)
    given = [calls.given_argument(function, call, arg, skip) for _, call, skip in calls.callers(function)]
    return any(one is not None and one is not own and tree.literal(one) is not None for one in given)


def _default(value: ast.expr, name: str) -> str:
    """`self.tau` of `self.tau if tau is None else tau`, `tau or self.tau` and `self.tau`."""
    parts = [value]
    if isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    elif isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
        parts = value.values
    same = [one for one in parts if isinstance(one, ast.Attribute) and tree.dotted(one) == f"self.{name}"]
    rest = [one for one in parts if one not in same]
    return f"self.{name}" if len(same) == 1 and all(tree.dotted(one) == name for one in rest) else ""


def _asked(source: Source, held: ast.Assign, name: str) -> bool:
    """Alone it stands under `if tau is None:`."""
    if not isinstance(held.value, ast.Attribute):
        return True
    return any(
        source.code(test).replace(" ", "") == f"{name}isNone"
        for test, branch in tree.conditions(source, held)
        if branch
    )

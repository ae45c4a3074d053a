"""The rule of closure-over-loop-variable."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree
from torchlore.check.source import Hit, Source

_HOOKS = ("register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_backward_hook",
          "register_full_backward_pre_hook", "register_hook", "register_post_accumulate_grad_hook")  # fmt: skip
_KEEP = {"torch.optim.lr_scheduler.LambdaLR", "torchvision.transforms.Lambda", "torchvision.transforms.v2.Lambda"}
Closure = ast.Lambda | tree.FunctionNode
WORDS = ("|".join(("lambda", *_HOOKS)),)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods(*_HOOKS):
        loop = next(iter(tree.loops(source, call)), None)
        made = _made(source, tree.argument(call, 0, "hook"), loop)
        if loop is not None and made is not None and not _within_the_turn(source, call, loop):
            yield from _late(source, made, _changing(loop))
    for node in source.all(ast.Lambda):
        kept = _listed(source, node)
        if isinstance(kept, ast.For):
            yield from _late(source, node, _changing(kept))
        elif kept is not None:
            yield from _late(source, node, {one for part in kept.generators for one in _names(part.target)})


def _late(source: Source, made: Closure, changing: set[str]) -> Iterator[Hit]:
    """The first name in a function's body that the loop gives another value, and no parameter does."""
    own = {one.arg for one in tree.parameters(made)} | _stored(made)
    body = made.body if isinstance(made.body, list) else [made.body]
    reads = [one for part in body for one in ast.walk(part) if isinstance(one, ast.Name) and one.id not in own]
    name = next((one.id for one in reads if one.id in changing and not _engine(source, one)), "")
    if name:
        told = f"`{name}` is looked up when this runs, so every turn's function sees the last one: bind it by a default, `{name}={name}`"
        yield source.hit(made, told)


def _engine(source: Source, name: ast.Name) -> bool:
    """`param._execution_engine`, which is one for all."""
    up = source.parents[name]
    return isinstance(up, ast.Attribute) and up.attr == "_execution_engine"


def _made(source: Source, hook: ast.expr | None, loop: tree.Loop | None) -> Closure | None:
    """The lambda, or the function that the loop defines in each turn."""
    if isinstance(hook, ast.Lambda):
        return hook
    bound = scopes.reaching(source, hook) if isinstance(hook, ast.Name) else []
    node = bound[0].node if len(bound) == 1 else None
    inside = isinstance(node, tree.FunctionNode) and loop is not None and tree.inside(source, node, loop)
    return node if inside and isinstance(node, tree.FunctionNode) else None


def _within_the_turn(source: Source, call: ast.Call, loop: tree.Loop) -> bool:
    """`with layer.register_forward_hook(...)`, `handle.remove()` or the pass itself in the same turn; a `break` ends the loop."""
    done = {follow.method(one) for one in tree.under(source, loop, ast.Call)}
    passes = "backward" in done and follow.method(call) in ("register_hook", "register_post_accumulate_grad_hook")
    ends = any(isinstance(one, ast.Break | ast.Return) for one in tree.body_nodes(loop))
    return "remove" in done or passes or ends or isinstance(source.parents[call], ast.withitem)


def _listed(source: Source, node: ast.Lambda) -> ast.For | ast.ListComp | ast.DictComp | None:
    """The loop or the comprehension that collects a lambda: as it stands, or in what keeps it for later."""
    up: ast.AST = source.parents[node]
    whole: ast.expr = node
    while isinstance(up, ast.keyword) or (
        isinstance(up, ast.Call) and up.func is not whole and source.name(up.func) in _KEEP
    ):
        whole, up = (whole, source.parents[up]) if isinstance(up, ast.keyword) else (up, source.parents[up])
    if isinstance(up, ast.ListComp | ast.DictComp):
        return up if whole is (up.elt if isinstance(up, ast.ListComp) else up.value) else None
    box = _box(up, whole)
    loop = next((one for one in tree.loops(source, node)), None)
    if box is None or not isinstance(loop, ast.For):
        return None
    bound = scopes.reaching(source, box) if isinstance(box, ast.Name) else []
    again = any(tree.inside(source, one.statement, loop) for one in bound) or (isinstance(box, ast.Name) and not bound)
    read = [one for one in tree.under(source, loop, ast.Name, ast.Attribute) if tree.dotted(one) == tree.dotted(box)]
    ends = any(isinstance(one, ast.Break | ast.Return) for one in tree.body_nodes(loop))
    return loop if tree.dotted(box) and not again and len(read) == 1 and not ends else None


def _box(up: ast.AST, kept: ast.expr) -> ast.expr | None:
    """`fns` of `fns.append(kept)` and of `fns[key] = kept`."""
    if isinstance(up, ast.Call) and follow.method(up) == "append" and kept in up.args:
        return tree.receiver(up)
    target = up.targets[0] if isinstance(up, ast.Assign) and up.value is kept else None
    return target.value if isinstance(target, ast.Subscript) else None


def _changing(loop: tree.Loop) -> set[str]:
    """The names that each turn of a loop gives a value."""
    target = _names(loop.target) if isinstance(loop, ast.For | ast.AsyncFor) else set()
    stored = {one.id for one in tree.body_nodes(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return target | stored


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _stored(made: Closure) -> set[str]:
    """The names that a function gives a value itself."""
    return {one.id for one in ast.walk(made) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}

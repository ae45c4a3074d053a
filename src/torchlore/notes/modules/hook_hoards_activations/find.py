"""The rule of hook-hoards-activations."""

import ast
from collections.abc import Iterator

from torchlore.check import calls as flow_calls
from torchlore.check import flow, follow, iteration, scopes, tree, values
from torchlore.check.project import Function, as_function
from torchlore.check.source import Hit, Source
from torchlore.check.tree import FunctionNode

_WALKS = ("modules", "named_modules", "children", "named_children", "parameters", "named_parameters")
_PILED = "each turn adds one hook more to"
_ON_MODULES = (
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_backward_hook",
)
WORDS = ("|".join((*_ON_MODULES, "register_hook")),)


def find(source: Source) -> Iterator[Hit]:
    removes = any(source.methods("remove"))
    calls = [
        *source.methods(*_ON_MODULES),
        *(one for one in source.methods("register_hook") if _on_weight(source, one)),
    ]
    registered = [call for call in calls if tree.is_statement(source, call) or not removes]
    for added in registered:
        place = _again(source, added)
        if place is not None:
            told = f"{_PILED} `{source.code(tree.receiver(added))}`, and all of them run in every pass: add it once above the loop, or keep the handle and call `handle.remove()`"
            yield source.hit(place, told)
    calls = list(source.methods("register_forward_hook"))
    if not calls or not any(source.methods("backward")):
        return
    emptied = {_root(tree.receiver(call)) for call in source.methods("clear", "pop", "popleft")}
    emptied |= {_root(one) for gone in source.all(ast.Delete) for one in gone.targets if isinstance(one, ast.Subscript)}
    removed = {tree.function(source, one) for one in source.methods("remove")}
    calls = [one for one in calls if tree.function(source, one) not in removed]  # for a few passes
    for hook in _hooks(source, calls):
        given = [arg.arg for arg in tree.parameters(hook)]
        for call in ast.walk(hook):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
                continue
            box, kept = call.func.value, call.args[0] if len(call.args) == 1 else None
            stores = [n for n in source.all(ast.Name) if n.id == _root(box) and isinstance(n.ctx, ast.Store)]
            own = given[1:] if given[:1] == ["self"] else given
            whole = isinstance(kept, ast.Name) and len(own) in (3, 4) and kept.id == own[-1]
            if (
                whole
                and _root(box) not in emptied
                and len(stores) <= 1
                and not any(tree.loops(source, n) for n in stores)
            ):
                message = f"`{source.code(box)}` keeps the graph of every batch: append `{given[-1]}.detach()`, or better a number"
                yield source.hit(call, message)


def _on_weight(source: Source, call: ast.Call) -> bool:
    """A hook on the gradient of a weight, which stays; the other tensors are gone with their step."""
    on = tree.receiver(call)
    bound = scopes.reaching(source, on) if isinstance(on, ast.Name) else []
    over = bound[0].value if len(bound) == 1 and bound[0].how in ("for", "comprehension") else None
    walked = isinstance(over, ast.Call) and follow.method(over) in ("parameters", "named_parameters")
    return walked or values.sure(source, on, "parameter")


def _again(source: Source, call: ast.Call) -> ast.Call | None:
    """What runs in every turn of a loop for the same net: over a loader, over steps, or in a function that such a loop calls."""
    over = [one.iter for one in tree.loops(source, call) if isinstance(one, ast.For)]
    if any(values.sure(source, iteration.unwrapped(source, one), "loader", weak=True) for one in over):
        return call
    root, loops, asked = _net(source, call)
    bound = scopes.reaching(source, root) if isinstance(root, ast.Name) and not asked else []
    if loops:
        same = bool(bound) and not any(tree.inside(source, one.statement, loop) for one in bound for loop in loops)
        return call if same and not _each_another(source, call.args, loops) else None
    home = tree.function(source, call)
    arg = bound[0].node if bound and all(one.how == "parameter" for one in bound) else None
    if home is None or not isinstance(arg, ast.arg):
        return None
    own = arg.arg == "self" and tree.method_class(source, home) is not None
    if own and home.name in ("forward", "__call__"):
        return call
    sites = [] if own and home.name == "__init__" else _sites(as_function(source, home), arg, own=own)
    again = [at for where, at, given in sites if _turns(where, at, given) and where is source
             and not _each_another(source, _given_hooks(source, home, call, at), tree.loops(source, at))]  # fmt: skip
    given = (part for one in tree.under(source, home, ast.Call) for part in (one.func, *one.args))
    runs = any(isinstance(one, ast.Name) and one.id == arg.arg for one in given)  # or hands it on
    return (call if runs else again[0]) if again else None


def _sites(function: Function, arg: ast.arg, *, own: bool) -> Iterator[tuple[Source, ast.Call, ast.expr | None]]:
    """Where a function is called, and what it is given there: the object itself for `self`."""
    for where, at, skip in flow_calls.callers(function):
        if not own:
            yield where, at, flow_calls.given_argument(function, at, arg, skip)
        elif isinstance(at.func, ast.Attribute):
            yield where, at, at.func.value


def _net(source: Source, call: ast.Call) -> tuple[ast.expr, list[tree.Loop], bool]:
    """The net whose layer gets the hook, the loops around and whether an `if` is; those over the net's own layers do not count."""
    root, loops = tree.receiver(call), tree.loops(source, call)
    inner: ast.AST | None = None
    for _ in range(4):
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        bound = scopes.reaching(source, root) if isinstance(root, ast.Name) else []
        drawn = bound[0].value if len(bound) == 1 and bound[0].how == "comprehension" else None
        if isinstance(drawn, ast.Call) and follow.method(drawn) in _WALKS:
            root, inner = tree.receiver(drawn), inner or tree.statement(source, call)
            continue
        walk = bound[0].statement if len(bound) == 1 and bound[0].how == "for" else None
        over = walk.iter if isinstance(walk, ast.For) else None
        if walk not in loops or not isinstance(over, ast.Call) or follow.method(over) not in _WALKS:
            break
        root, inner = tree.receiver(over), walk
        loops = loops[loops.index(walk) + 1 :]  # type: ignore[arg-type]  # a loop, see above
    return root, loops, bool(tree.conditions(source, inner or call))


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return tree.dotted(node)


def _hooks(source: Source, calls: list[ast.Call]) -> Iterator[FunctionNode | ast.Lambda]:
    """The functions given to the calls: named, a lambda, or what a maker of hooks returns."""
    for call in calls:
        node = call.args[0] if call.args else None
        if isinstance(node, ast.Lambda):
            yield node
        elif isinstance(node, ast.Attribute) and tree.dotted(node.value) == "self":
            here = tree.class_of(source, call)
            yield from (
                one for one in ast.walk(here or source.tree) if isinstance(one, FunctionNode) and one.name == node.attr
            )
        elif isinstance(node, ast.Name | ast.Call):
            made = flow.called(source, node) if isinstance(node, ast.Call) else None  # `self.make_hook(name)`
            target = made or source.project.resolve(source, node.func if isinstance(node, ast.Call) else node)
            inside = list(ast.walk(target.node)) if target is not None and target.source is source else []
            yield from (
                one
                for one in inside
                if isinstance(one, FunctionNode) and (one is not inside[0]) == isinstance(node, ast.Call)
            )


def _turns(source: Source, call: ast.Call, given: ast.expr | None) -> bool:
    """Whether a loop calls it with a net that was made outside."""
    loops = tree.loops(source, call)
    while isinstance(given, ast.Attribute):
        given = given.value
    bound = scopes.reaching(source, given) if isinstance(given, ast.Name) and not tree.conditions(source, call) else []
    return bool(loops) and bool(bound) and not any(tree.inside(source, one.statement, loops[-1]) for one in bound)


def _each_another(source: Source, hooks: list[ast.expr], loops: list[tree.Loop]) -> bool:
    """`for place, hook in hooks: attach(place, hook)`: each turn adds another hook, in a loop that trains nothing."""
    turns = _names([loop.target for loop in loops if isinstance(loop, ast.For)])
    trains = any(follow.method(one) == "backward" for loop in loops for one in tree.under(source, loop, ast.Call))
    return bool(_names(hooks) & turns) and not trains


def _given_hooks(source: Source, home: FunctionNode, call: ast.Call, at: ast.Call) -> list[ast.expr]:
    """What a call of a function gives it for the hook that it adds."""
    function, inside = as_function(source, home), _names(call.args)
    mine = [one for one in tree.parameters(home) if one.arg in inside and one.arg != "self"]
    skip = int(function.owner is not None)
    given = [flow_calls.given_argument(function, at, one, skip) for one in mine]
    return [one for one in given if one is not None]


def _names(nodes: list[ast.expr]) -> set[str]:
    return {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}

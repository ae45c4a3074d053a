"""The rule of exhausted-parameter-generator."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, edits, flow, follow, project, scopes, tree, values
from torchlore.check.source import Hit, Source

_LISTS = ("parameters", "named_parameters", "buffers", "named_buffers")
_LAZY = {"filter", "map", "iter", "zip", "itertools.chain"}
_EAT = {"list", "tuple", "set", "dict", "sum", "sorted", "max", "min", "torch.nn.utils.parameters_to_vector",
        "torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"}  # fmt: skip
WORDS = ("|".join(_LISTS),)


def find(source: Source) -> Iterator[Hit]:
    seen: set[ast.AST] = set()
    for call in source.methods(*_LISTS):
        whole = _whole(source, call)
        if whole in seen:
            continue  # `chain(a.parameters(), b.parameters())`
        seen.add(whole)
        for made in _handed_out(source, whole):
            told = _read_twice(source, made)
            if told is not None and values.sure(source, tree.receiver(call), "module", weak=True):
                message = f"`{told[0]}` is a generator and used up by its first reader{told[1]}: make it a list"
                yield source.hit(made, message, *edits.wrap(source, made, "list("))


def _handed_out(source: Source, made: ast.expr) -> list[ast.expr]:
    """The generator, or each call of the function that gives back it alone: `def trainable(net)`."""
    back = source.parents[made]
    home = tree.function(source, back) if isinstance(back, ast.Return) else None
    if home is None:
        return [made]
    function = project.as_function(source, home)
    sites = calls.callers(function) if len(calls.returned(function)) == 1 else []
    return [call for at, call, _ in sites if at is source]


def _read_twice(source: Source, made: ast.expr) -> tuple[str, str] | None:
    """What a generator is called that two readers walk, and where the second one finds it empty."""
    assign = source.parents[made]
    if isinstance(assign, ast.Assign) and isinstance(assign.targets[0], ast.Name):
        name = assign.targets[0]
        use = _second(source, name) or _handed_to_self(source, name) or (made if _handed_back(source, name) else None)
        later = f", and line {use.lineno} finds it empty" if use is not None and use is not made else ""
        return (name.id, later) if use is not None else None
    if isinstance(assign, ast.Assign) and tree.dotted(assign.targets[0]).startswith("self."):
        again = _in_class(source, assign)
        return (source.code(again), "") if again is not None else None
    return None


def _handed_to_self(source: Source, name: ast.Name) -> ast.expr | None:
    """`self.params = params`, read in another method, of a generator that this one has used up."""
    for held in source.all(ast.Assign):
        if not isinstance(held.value, ast.Name) or held.value.id != name.id:
            continue
        if not tree.dotted(held.targets[0]).startswith("self."):
            continue
        if [one.node for one in scopes.reaching(source, held.value)] != [name]:
            continue
        home = tree.function(source, name)
        used = [one for one in source.all(ast.Name) if one.id == name.id and tree.function(source, one) is home]
        eaten = any(
            _eats(source, one) and scopes.reaching(source, one)[0].node is name for one in used if one is not name
        )
        if _in_class(source, held, eaten=eaten) is not None:
            return held.value
    return None


def _handed_back(source: Source, name: ast.Name) -> bool:
    """`return model, params, optimizer`: the optimizer has used it up, and a caller reads it again."""
    home = tree.function(source, name)
    uses = [n for n in source.all(ast.Name) if n.id == name.id and n is not name and tree.function(source, n) is home]
    uses = [n for n in uses if [one.node for one in scopes.reaching(source, n)] == [name]]
    backs = [one.value for one in source.all(ast.Return) if home is not None and tree.function(source, one) is home]
    if home is None or len(backs) != 1 or not any(_eats(source, one) for one in uses):
        return False
    parts = backs[0].elts if isinstance(backs[0], ast.Tuple) else [backs[0]]
    at = next((number for number, one in enumerate(parts) if one in uses), None)
    for other, call, _ in calls.callers(project.as_function(source, home)) if at is not None else ():
        up = other.parents[call]
        target = up.targets[0] if isinstance(up, ast.Assign) else None
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        given = names[at] if at is not None and len(names) == len(parts) else None
        read = other.all(ast.Name) if isinstance(given, ast.Name) else ()
        same = [n for n in read if n.id == given.id and n is not given and _eats(other, n)]  # type: ignore[union-attr]  # a name
        if any([one.node for one in scopes.reaching(other, n)] == [given] for n in same):
            return True
    return False


def _in_class(source: Source, assign: ast.Assign, *, eaten: bool = False) -> ast.expr | None:
    """A reader in another method of a generator that was used up before: `self.params`; clipping comes again in each step."""
    made, home = assign.targets[0], tree.function(source, assign)
    cls = tree.method_class(source, home) if home is not None else None
    if not isinstance(made, ast.Attribute) or cls is None or tree.conditions(source, assign):
        return None
    same = [one for one in tree.under(source, cls, ast.Attribute) if tree.dotted(one) == tree.dotted(made)]
    readers = [one for one in same if _eats(source, one)]
    if sum(isinstance(one.ctx, ast.Store) for one in same) != 1:
        return None
    first = eaten or any(tree.function(source, one) is home and one.lineno > made.lineno for one in readers)
    others = [one for one in readers if tree.function(source, one) is not home]
    return next((one for one in others if first or "clip_grad" in source.code(source.parents[one])), None)


def _whole(source: Source, node: ast.expr) -> ast.expr:
    """The lazy expression around `model.parameters()`: a filter, a map, a generator."""
    up = source.parents[node]
    if isinstance(up, ast.comprehension) and up.iter is node:
        up = source.parents[up]
        return _whole(source, up) if isinstance(up, ast.GeneratorExp) else node
    if isinstance(up, ast.Call) and node in up.args and source.name(up.func) in _LAZY:
        return _whole(source, up)
    return node


def _second(source: Source, name: ast.Name) -> ast.Name | None:
    """The first use that finds the generator used up."""
    home, around = tree.function(source, name), tree.loops(source, name)
    uses = [n for n in source.all(ast.Name) if n.id == name.id and n is not name and tree.function(source, n) is home]
    uses = [n for n in uses if _eats(source, n) and [one.node for one in scopes.reaching(source, n)] == [name]]
    for index, use in enumerate(uses):
        inner = [loop for loop in tree.loops(source, use) if loop not in around]
        turns = inner and not any(isinstance(n, ast.Break | ast.Return) for n in tree.body_nodes(inner[0]))
        if turns or any(_then(source, one, use) for one in uses[:index]):
            return use
    return None


def _eats(source: Source, use: ast.expr) -> bool:
    up = source.parents[use]
    if isinstance(up, ast.For | ast.comprehension):
        return up.iter is use and not any(isinstance(n, ast.Break) for n in tree.body_nodes(up))
    if isinstance(up, ast.Starred):
        return not isinstance(source.parents[up], ast.Call)  # `[*params]`
    if not isinstance(up, ast.Call) or use not in up.args:
        return _optimised(source, use)
    return source.name(up.func) in _EAT or values.sure(source, up, "optimizer") or _walked(source, up, use)


def _optimised(source: Source, use: ast.expr) -> bool:
    """`Adam([{"params": params}])`, `Adam(params=params)`: the optimizer walks what its groups hold."""
    up = source.parents[use]
    if isinstance(up, ast.Dict):
        at = next((number for number, one in enumerate(up.values) if one is use), None)
        key = up.keys[at] if at is not None else None
        named = key is not None and tree.literal(key) == "params"
    else:
        named = isinstance(up, ast.keyword) and up.arg == "params"
    while named and isinstance(up, ast.Dict | ast.List | ast.Tuple | ast.keyword):
        up = source.parents[up]
    held = up.targets[0] if isinstance(up, ast.Assign) else None  # `groups = [{"params": params}]`
    reads = [one for one in source.all(ast.Name) if isinstance(held, ast.Name) and one.id == held.id]
    reads = [one for one in reads if [way.node for way in scopes.reaching(source, one)] == [held]]
    given = (source.parents[one] for one in reads)
    return named and any(isinstance(one, ast.Call) and values.sure(source, one, "optimizer") for one in (up, *given))


def _walked(source: Source, call: ast.Call, use: ast.expr) -> bool:
    """`grad_norm(params)`, where the first thing done with the parameter is to walk it to its end."""
    inner = flow.called(source, call)
    if inner is None or any(isinstance(one, ast.Starred) for one in call.args):
        return False
    names = tree.parameters(inner.node)
    index = call.args.index(use) + (inner.owner is not None and bool(names) and names[0].arg == "self")
    read = [
        one
        for one in tree.under(inner.source, inner.node, ast.Name)
        if index < len(names) and one.id == names[index].arg and tree.function(inner.source, one) is inner.node
    ]
    first = read[0] if read else None
    if first is None or not isinstance(first.ctx, ast.Load) or tree.conditions(inner.source, first):
        return False
    up = inner.source.parents[first]
    walks = isinstance(up, ast.For | ast.comprehension) and up.iter is first
    eats = isinstance(up, ast.Call) and first in up.args and inner.source.name(up.func) in _EAT
    ends = (
        any(isinstance(one, ast.Break | ast.Return) for one in tree.body_nodes(up))
        if isinstance(up, ast.For)
        else False
    )
    return (walks and not ends) or eats


def _then(source: Source, first: ast.Name, second: ast.Name) -> bool:
    """Whether the second may run after the first: not in another branch, not after a `return`."""
    way = scopes.chain(source, first)
    for depth, (mine, theirs) in enumerate(zip(way, scopes.chain(source, second), strict=False)):
        if mine != theirs:
            same = mine[0] is theirs[0] and mine[1] == theirs[1]
            ended = any(tree.ends(getattr(owner, field)) for owner, field, _ in way[depth + 1 :])
            return same and not ended and not follow.exclusive(source, first, second)
    return False

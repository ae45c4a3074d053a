"""The rule of reused-numpy-buffer."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, edits, flow, follow, scopes, tree, uses
from torchlore.check.source import Hit, Source

_FRESH = {"clone", "copy", "cuda", "double", "half", "long", "int", "bfloat16", "contiguous", "sum", "mean", "item"}

WORDS = ("append|appendleft|from_numpy|as_tensor",)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_handed_out(source), *_put_away(source))
    for call in source.calls("torch.from_numpy", "torch.as_tensor"):
        array = call.args[0] if call.args else None
        loops = tree.loops(source, call)
        if not isinstance(array, ast.Name) or not loops or call.keywords or not _kept(source, call):
            continue
        loop = loops[0]
        bound = scopes.reaching(source, array)
        outside = bound and not any(tree.inside(source, one.statement, loop) for one in bound)
        if outside and _refilled(source, array.id, loop):
            edit = edits.replace(source, call, f"torch.tensor({array.id})")
            message = (
                f"every tensor kept here shares the memory of `{array.id}`, which is filled again in the next turn: "
                f"write `torch.tensor({array.id})`"
            )
            yield source.hit(call, message, edit)


def _handed_out(source: Source) -> Iterator[Hit]:
    """`states.append(torch.from_numpy(env.step(a)))`, where the class hands out the one array it works in; also in a tuple."""
    seen = set[ast.AST]()
    shares = "from_numpy" in source.text or "as_tensor" in source.text
    for call in source.methods("append"):
        whole = call.args[0] if len(call.args) == 1 and tree.loops(source, call) else None
        for kept in whole.elts if isinstance(whole, ast.Tuple | ast.List) else [whole]:
            array, inner = _shared(source, kept) if kept is not None and shares else (kept, None)
            name = array if isinstance(array, ast.Name) else kept
            bound = scopes.reaching(source, array) if isinstance(array, ast.Name) else []
            own = bool(bound) and all(_is_own_array(source, one) for one in bound)
            own = own and (kept is whole or inner is not None)  # a tuple of arrays: same-tensor-appended
            own = own or (isinstance(array, ast.Call) and inner is not None and _hands_out(source, array, ()))
            if own and name is not None and (inner or call) not in seen:
                seen.add(inner or call)
                code = source.code(name)
                told = f"`{code}` is the array that the next call writes into again, so everything kept here ends up equal: keep `{code}.copy()`"
                if inner is not None and tree.function(source, inner) is not tree.function(source, call):
                    told = f"this shares the memory of an array that the next call writes into again, so everything kept in `{source.code(tree.receiver(call))}` ends up equal: give it `.copy()`"
                yield source.hit(inner or call, told)


def _put_away(source: Source) -> Iterator[Hit]:
    """`memory.push(env.step(a)[0])`, whose `push` appends `torch.from_numpy(obs)`: the memory holds one array many times."""
    for call in (
        source.methods("append", "appendleft") if "from_numpy" in source.text or "as_tensor" in source.text else ()
    ):
        home, whole = tree.function(source, call), call.args[0] if len(call.args) == 1 else None
        for kept in whole.elts if isinstance(whole, ast.Tuple | ast.List) else [whole]:
            array, inner = _shared(source, kept) if home is not None and kept is not None else (None, None)
            named = {one.arg: one for one in tree.parameters(home)} if home is not None else {}
            arg = named.get(array.id) if isinstance(array, ast.Name) else None
            if inner is None or arg is None or tree.function(source, inner) is not home:
                continue
            bound = scopes.reaching(source, array) if isinstance(array, ast.Name) else []
            if [one.how for one in bound] == ["parameter"] and _gets_own_array(source, arg):
                code = source.code(inner.args[0])
                told = f"this shares the memory of `{code}`, an array that its maker writes into again, so everything kept here ends up equal: give it `{code}.copy()`"
                yield source.hit(inner, told, edits.append(source, inner.args[0], ".copy()"))


def _gets_own_array(source: Source, arg: ast.arg) -> bool:
    """Whether some caller in a loop gives a parameter the one array that another object works in."""
    for at, given in calls.given(source, arg):
        bound = scopes.reaching(at, given) if isinstance(given, ast.Name) else []
        looped = given is not None and bool(tree.loops(at, given))
        if looped and bound and all(_is_own_array(at, one) for one in bound):
            return True
    return False


def _shared(source: Source, kept: ast.expr, hops: int = 3) -> tuple[ast.expr, ast.Call | None]:
    """The array behind `torch.from_numpy(array)`, and that call, through names and functions of the file."""
    inner = follow.followed(source, kept)
    if not isinstance(inner, ast.Call) or not hops:
        return kept, None
    if source.name(inner.func) in ("torch.from_numpy", "torch.as_tensor") and inner.args and not inner.keywords:
        return inner.args[0], inner
    made = flow.called(source, inner)
    given = calls.returned(made) if made is not None and made.owner is None and made.source is source else []
    array, call = _shared(source, given[0], hops - 1) if len(given) == 1 else (kept, None)
    arg = next((one for one in tree.parameters(made.node) if one.arg == tree.dotted(array)), None) if made else None
    outer = calls.given_argument(made, inner, arg, 0) if made is not None and arg is not None and call else None
    return (outer, call) if outer is not None else (kept, None)


def _is_own_array(source: Source, one: scopes.Binding) -> bool:
    """Whether a method of the project returns an attribute that other calls change in place and nobody binds anew."""
    return isinstance(one.value, ast.Call) and one.how == "assign" and _hands_out(source, one.value, one.path)


def _hands_out(source: Source, call: ast.Call, path: tuple[int, ...]) -> bool:
    made = flow.called(source, call)
    if made is None or made.owner is None or len(path) > 1:
        return False
    given = calls.returned(made)
    if path:
        given = [two.elts[path[0]] for two in given if isinstance(two, ast.Tuple) and path[0] < len(two.elts)]
    names = {tree.dotted(two) for two in given}
    name = names.pop() if len(names) == 1 else ""
    if not name.startswith("self.") or name.count(".") > 1:
        return False
    used = [two for two in uses.attributes(made.source, name[5:]) if tree.class_of(made.source, two) is made.owner]
    ups = [(two, made.source.parents[two]) for two in used]
    writes = [up for two, up in ups if isinstance(up, ast.AugAssign) or _is_stored(up, two)]
    anew = [two for two, up in ups if isinstance(up, ast.Assign) and isinstance(two.ctx, ast.Store)]
    homes = [tree.function(made.source, two) for two in anew]
    return bool(writes) and all(home is not None and home.name == "__init__" for home in homes)


def _is_stored(up: ast.AST, node: ast.AST) -> bool:
    return isinstance(up, ast.Subscript) and up.value is node and isinstance(up.ctx, ast.Store)


def _kept(source: Source, call: ast.Call) -> bool:
    """Whether the tensor, or a view of it, is stored in something that outlives the turn."""
    node: ast.AST = call
    while isinstance(up := source.parents[node], ast.Attribute) and isinstance(source.parents[up], ast.Call):
        if up.attr in _FRESH or up.attr == "to":
            return False
        node = source.parents[up]
    if isinstance(up, ast.Call) and isinstance(up.func, ast.Attribute):
        return up.func.attr in {"append", "add", "put", "insert"}
    return isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Subscript)


def _refilled(source: Source, name: str, loop: ast.AST) -> bool:
    """Whether the loop writes into the array in place."""
    for node in tree.body_nodes(loop):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and source.code(node.value) == name:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            into = node.func.attr in {"readinto", "copyto", "read_direct"} and node.args
            if (into and name in (source.code(arg) for arg in node.args)) or source.code(node.func) == f"{name}.fill":
                return True
    return False

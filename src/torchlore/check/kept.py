"""What is kept from turn to turn: sums, lists and meters that a value is added to."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from torchlore.check import flow, follow, scopes, tree, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.source import Source

_CUTS = {"item", "detach", "tolist"}
KEEPS = ("update", "add", "append", "log", "record", "push", "store", "track", "log_metrics", "add_scalar", "report", "collect",
         "keep", "remember", "observe", "accumulate")  # fmt: skip
PASS = {"mean", "sum", "clone", "cpu", "float", "cuda", "to", "view", "squeeze", "reshape", "unsqueeze", "flatten", "softmax",
         "sigmoid", "log_softmax", "exp", "tanh", "abs", "pow", "sqrt", "square", "log", "norm"}  # fmt: skip
_KEEPING = {ast.AugAssign, ast.Assign, ast.Call}
_JOINS = ("torch.cat", "torch.concat", "torch.hstack", "torch.vstack")
Kept = tuple[ast.AST, "ast.expr | None", ast.expr]  # the statement or call, where it keeps a value, and the value


def kept(source: Source, node: ast.AST, hops: int = 2) -> tuple[ast.expr | None, ast.expr | None]:
    """Where a statement or call keeps a value, and the value: `t += v`, `t = t + v`, `t.append(v)`, `meter.update(v)`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return node.target, node.value
    if isinstance(node, ast.Assign):
        target, value = node.targets[0], _moving(node.value)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            if tree.dotted(target) and tree.dotted(target) == tree.dotted(value.left):
                return target, value.right
            for one, other in ((value.left, value.right), (value.right, value.left)):
                again = tree.dotted(target) and _share(one, tree.dotted(target))
                if again or (isinstance(target, ast.Subscript) and _entry(one, target)):
                    return target, other
        elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Name) and isinstance(value, ast.Name):
            return target, value  # losses[step] = loss
        elif isinstance(value, ast.Call) and source.name(value.func) in _JOINS and value.args:
            parts = value.args[0].elts if isinstance(value.args[0], ast.List | ast.Tuple) else []
            if tree.dotted(target) and any(tree.dotted(part) == tree.dotted(target) for part in parts):
                return target, ast.Tuple(
                    [part for part in parts if tree.dotted(part) != tree.dotted(target)], ast.Load()
                )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _takes(source, node.func, node, hops):
        return node.func.value, node.args[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_keeper(node.func.attr) and hops:
        stored = _stored(source, node, hops)
        return (node.func.value, ast.Tuple(stored, ast.Load())) if stored else (None, None)
    return None, None


def may_keep(call: ast.Call) -> bool:
    """Whether a call may keep what it is given, by its name: `update`, `append`."""
    return isinstance(call.func, ast.Attribute) and _is_keeper(call.func.attr)


def _takes(source: Source, func: ast.Attribute, call: ast.Call, hops: int) -> bool:
    """`losses.append(loss)`, or a method of the project that stores what it is given."""
    alone = func.attr == "append" and bool(call.args) and tree.is_statement(source, call)
    if alone and not any(one.kind == "object" for one in source.values(func.value)):  # no class of the user's own
        return True
    return func.attr in ("update", "add", "append") and bool(call.args and hops) and _stores(source, call, hops)


def every(source: Source, home: ast.AST) -> list[Kept]:
    """What a loop or function keeps, looked for once."""
    memo: dict[ast.AST, list[Kept]] = source.memo.setdefault("kept", {})
    if home not in memo:
        memo[home] = []
        for node in tree.body_nodes(home):
            target, value = kept(source, node) if node.__class__ in _KEEPING else (None, None)
            if value is not None:
                memo[home].append((node, target, value))
    return memo[home]


def assigns(source: Source, home: ast.AST) -> list[ast.Assign]:
    """The assignments of a loop or function, without those of functions defined in it, looked for once."""
    memo: dict[ast.AST, list[ast.Assign]] = source.memo.setdefault("kept.assigns", {})
    if home not in memo:
        memo[home] = [one for one in tree.body_nodes(home) if isinstance(one, ast.Assign)]
    return memo[home]


def _is_keeper(method: str) -> bool:
    """`update`, `log`, and `update_priorities`."""
    return method in KEEPS or method.startswith(("update_", "store_", "push_", "record_", "set_prio", "on_", "after_"))


def _moving(value: ast.expr) -> ast.expr:
    """`0.9 * mean + 0.1 * loss` of `loss if mean is None else 0.9 * mean + 0.1 * loss`."""
    if not isinstance(value, ast.IfExp):
        return value
    return value.orelse if isinstance(value.orelse, ast.BinOp) else value.body


def _entry(node: ast.expr, target: ast.Subscript) -> bool:
    """`total[k]` or `total.get(k, 0)`, where the target is `total[k]`."""
    if isinstance(node, ast.Call) and follow.method(node) == "get" and node.args:
        same = ast.unparse(tree.receiver(node)) == ast.unparse(target.value)
        return same and ast.unparse(node.args[0]) == ast.unparse(target.slice)
    return isinstance(node, ast.Subscript) and ast.unparse(node) == ast.unparse(target)


def _share(node: ast.expr, name: str) -> bool:
    """`0.9 * self.average`: an average that moves."""
    parts = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else ()
    return any(tree.dotted(part) == name for part in parts)


def own_sums(source: Source, home: ast.AST) -> list[Kept]:
    """`self.total += loss` in a method: kept as long as the object lives."""
    return [
        one for one in every(source, home) if isinstance(one[1], ast.Attribute) and tree.dotted(one[1].value) == "self"
    ]


def _stores(source: Source, call: ast.Call, hops: int) -> bool:
    """Whether a method of the project adds its first argument to `self` as it is."""
    method = flow.called(source, call)
    if method is None or method.owner is None or len(method.node.args.args) < 2:
        return False
    name = method.node.args.args[1].arg
    for node in tree.body_nodes(method.node):
        target, value = kept(method.source, node, hops - 1)  # `add` may call itself
        own = target is not None and value is not None and tree.dotted(target).startswith("self.")
        for leaf in leaves(value) if own else ():
            bound = scopes.reaching(method.source, leaf) if isinstance(leaf, ast.Name) and leaf.id == name else []
            if bound and all(one.how == "parameter" for one in bound):
                return True
    return False


def _stored(source: Source, call: ast.Call, hops: int) -> list[ast.expr]:
    """Those arguments that a method of the project keeps in its object as they are: `logger.log(loss=loss, kl=kl)`."""
    method = flow.called(source, call)
    if method is None or method.owner is None or not (call.args or call.keywords):
        return []
    own, kinds = method.node.args, set[str]()
    for node in tree.body_nodes(method.node):
        target, value = kept(method.source, node, hops - 1)
        root = _box(target)
        for leaf in (
            (*leaves(value), *_packed(value)) if root is not None and tree.dotted(root).startswith("self.") else ()
        ):
            bound = scopes.reaching(method.source, leaf) if isinstance(leaf, ast.Name) else []
            kinds |= {one.name if one.how == "parameter" else _looped(one) for one in bound}
    places = [arg.arg for arg in own.args[1:]]
    found = [one for name, one in zip(places, call.args, strict=False) if name in kinds]
    found += call.args[len(places) :] if own.vararg is not None and own.vararg.arg in kinds else []
    rest = own.kwarg.arg if own.kwarg is not None else ""
    return found + [
        one.value
        for one in call.keywords
        if one.arg and (one.arg in kinds or (one.arg not in places and rest in kinds))
    ]


def _packed(value: ast.expr | None) -> list[ast.expr]:
    """`args` of `Transition(*args)`, `h` of `Transition(h, done)`: a record of what is handed in."""
    named = isinstance(value, ast.Call) and tree.dotted(value.func).rpartition(".")[2][:1].isupper()
    given = value.args if isinstance(value, ast.Call) and named else []
    return [one for arg in given if isinstance(one := getattr(arg, "value", arg), ast.Name)]


def _box(target: ast.expr | None) -> ast.expr | None:
    """`self.data` of `self.data[key]`, of `self.data.setdefault(key, [])` and of `getattr(self, "data")`."""
    if isinstance(target, ast.Call) and tree.dotted(target.func) == "getattr" and target.args[1:]:
        return ast.Attribute(target.args[0], str(tree.literal(target.args[1])), ast.Load())  # whichever it is
    if isinstance(target, ast.Call) and follow.method(target) == "setdefault":
        return tree.receiver(target)
    return target.value if isinstance(target, ast.Subscript) else target


def _looped(binding: scopes.Binding) -> str:
    """`values` of `for key, value in values.items()`, of `for i, value in zip(index, values)` and of `enumerate(values)`."""
    over = binding.value if binding.how == "for" else None
    if isinstance(over, ast.Name) and not binding.path:
        return over.id
    side = tree.dotted(over.func) if isinstance(over, ast.Call) else ""
    if isinstance(over, ast.Call) and side in ("zip", "enumerate") and len(binding.path) == 1:
        place = binding.path[0] - (side == "enumerate")
        return tree.dotted(over.args[place]) if 0 <= place < len(over.args) else ""
    entries = isinstance(over, ast.Call) and follow.method(over) in ("items", "values")
    return tree.dotted(tree.receiver(over)) if entries and isinstance(over, ast.Call) else ""


def leaves(value: ast.expr | None) -> Iterator[ast.expr]:
    """The named tensors an expression is made of, as far as their graph comes through."""
    named = isinstance(value, ast.Subscript) and isinstance(tree.literal(value.slice), str)  # losses["box"]
    named |= isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Attribute)  # output[cfg.metric]
    if isinstance(value, ast.Name | ast.Attribute) or (named and value is not None):
        yield value
    elif isinstance(value, ast.BinOp):
        yield from (*leaves(value.left), *leaves(value.right))
    elif isinstance(value, ast.Tuple | ast.List | ast.Dict):
        inner = value.values if isinstance(value, ast.Dict) else value.elts
        yield from (leaf for one in inner for leaf in leaves(one))
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr not in _CUTS:
        yield from leaves(value.func.value) if value.func.attr in PASS else ()


def outlives(source: Source, target: ast.expr | None, loop: ast.AST) -> bool:
    """Whether what is kept lives longer than one turn of the loop, and is not itself what is differentiated."""
    root = target.value if isinstance(target, ast.Subscript) else target
    same = tree.dotted(root) if root is not None else ""
    if not same:
        return False
    for node in assigns(source, loop):
        if (
            tree.dotted(node.targets[0]) == same
            and not isinstance(node.value, ast.BinOp)
            and kept(source, node)[0] is None
            and (target is None or not follow.exclusive(source, node, target))  # `if mean is None: mean = loss`
        ):
            return False
    home = tree.function(source, loop) if isinstance(root, ast.Name) else None
    passes = tree.among(source, uses.attributes(source, "backward"), home)
    receivers = [one.value for one in passes]
    receivers += [
        part for one in receivers for part in follow.possible(source, one)
    ]  # mean = torch.stack(losses).mean()
    return not any(tree.dotted(part) == same for receiver in receivers for part in ast.walk(receiver))


_SHALLOW = ("dict", "copy.copy", "collections.OrderedDict")


def variable(source: Source, call: ast.Call) -> ast.expr | None:
    """The variable that holds what a call gives: through a dictionary, a tuple, a shallow copy or an append."""
    inner = node = cast("ast.expr", call)
    up = source.parents[node]
    while True:
        outer = source.parents.get(up)
        if isinstance(up, ast.Attribute) and up.attr == "copy" and isinstance(outer, ast.Call):
            node, up = outer, source.parents[outer]
            continue
        if (table := _told_again(source, node)) is not None:
            node, up = table, source.parents[table]
            continue
        shallow = isinstance(up, ast.Call) and _holds(source, up, node)
        if not shallow and not isinstance(up, ast.Dict | ast.Tuple | ast.List):
            break
        inner, node, up = node, cast("ast.expr", up), source.parents[up]
    if isinstance(up, ast.Assign) and len(up.targets) == 1:
        target = up.targets[0]
        if isinstance(target, ast.Tuple) and isinstance(node, ast.Tuple) and len(target.elts) == len(node.elts):
            target = target.elts[node.elts.index(inner)]  # own, other = a.state_dict(), b.state_dict()
        return target.value if isinstance(target, ast.Subscript) else target
    if isinstance(up, ast.keyword) and follow.method(source.parents[up]) == "update":
        return tree.receiver(cast("ast.Call", source.parents[up]))  # best.update(weights=...)
    added = (
        isinstance(up, ast.Call) and isinstance(up.func, ast.Attribute) and up.func.attr == "append" and node in up.args
    )
    return tree.receiver(cast("ast.Call", up)) if added else None


def _told_again(source: Source, node: ast.expr) -> ast.DictComp | None:
    """`{k: v.detach() for k, v in net.state_dict().items()}` around `net.state_dict()`: the same tensors in another table."""
    items = source.parents[source.parents[node]]
    table = source.parents[source.parents[items]] if follow.method(items) == "items" else None
    if not isinstance(table, ast.DictComp) or tree.receiver(items) is not node or table.generators[0].iter is not items:  # type: ignore[arg-type]  # a call, by its method
        return None
    target, held = table.generators[0].target, follow.peeled(table.value, ("detach",))
    same = isinstance(target, ast.Tuple) and tree.dotted(target.elts[-1]) == tree.dotted(held) != ""
    return table if same else None


def _holds(source: Source, call: ast.Call, node: ast.expr) -> bool:
    """`dict(x)`, `copy.copy(x)`, or a dataclass that is made of it: what comes out has the very object in it."""
    if node in call.args and source.name(call.func) in _SHALLOW:
        return True
    if node not in [*call.args, *(one.value for one in call.keywords)]:
        return False
    behind = [
        one.node for one in source.values(call.func) if one.kind == "class" and isinstance(one.node, ast.ClassDef)
    ]
    return any(
        tree.dotted(getattr(mark, "func", mark)).endswith("dataclass") for one in behind for mark in one.decorator_list
    )


def steps_on(source: Source, variable: ast.expr) -> bool:
    """Whether steps follow while the variable lives: not for a local one of a function that never steps."""
    home = tree.function(source, variable)
    local = isinstance(variable, ast.Name) and home is not None and scopes.scope_of(source, variable) is home
    return not local or any(event.what == "step" for event in flow.events_of(source, home))

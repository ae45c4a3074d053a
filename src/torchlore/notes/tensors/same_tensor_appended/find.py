"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, edits, flow, follow, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

_BOXES = ("push", "add", "store", "remember")  # methods of a class of its own, that append what they are given


def find(source: Source) -> Iterator[Hit]:
    yield from _multiplied(source)
    if not any(source.methods("append", "appendleft", "put", *_BOXES)):
        return
    yield from _emptied(source)
    yield from _own_buffer(source)
    boxes = (call for call in source.methods(*_BOXES) if _names(call))
    adds = [*source.methods("append", "appendleft", "put"), *(call for call in boxes if _keeps(source, call))]
    returns_own = bool(adds) and _returns_changed(source)
    for call in adds:
        names = _names(call)
        loops = tree.loops(source, call) if names else []
        for given in names if loops else ():
            if returns_own and (change := _own_of_another(source, given)) is not None:
                told = f"`{given.id}` is the tensor that line {change.lineno} changes in place the next time, so every entry becomes the last one"
                yield source.hit(
                    call, f"{told}: append `{given.id}.clone()`, or return a copy there", severity="warning"
                )
                break
            if not _from_outside(source, given, loops[0]):
                if (change := _written_by_key(source, given, loops[0])) is not None:
                    told = f"every entry is the same object, of which line {change.lineno} changes an entry"
                    yield source.hit(call, f"{told}: write `{given.id} = copy.copy(...)` above")
                continue
            if not values.sure(source, given, "tensor", "ndarray") or _once(source, call):
                continue
            change = _changed(source, given, loops[0])
            if change is not None and not (isinstance(change, ast.AugAssign) and _is_number(source, given)):
                copy = "copy" if values.sure(source, given, "ndarray") else "clone"
                message = (
                    f"every entry is the same `{given.id}`, which line {change.lineno} changes in place: append "
                    f"`{given.id}.{copy}()`"
                )
                pickled = (
                    follow.method(call) == "put" and "multiprocessing" in source.text
                )  # a copy, made a little later
                fix = edits.append(source, given, f".{copy}()")
                yield source.hit(call, message, fix, severity="hint" if pickled else None)


def _names(call: ast.Call) -> list[ast.Name]:
    """The plain names among what a call is given, in tuples too."""
    parts = (part for arg in call.args for part in (arg.elts if isinstance(arg, ast.Tuple) else [arg]))
    return [part for part in parts if isinstance(part, ast.Name)]


def _returns_changed(source: Source) -> bool:
    """Whether some method of the file changes an attribute in place and returns it."""
    for back in source.all(ast.Return):
        for part in back.value.elts if isinstance(back.value, ast.Tuple) else [back.value]:
            own = isinstance(part, ast.Attribute) and tree.dotted(part.value) == "self"
            home = tree.function(source, back) if own else None
            if part is not None and home is not None and _change_of_own(source, home, tree.dotted(part)) is not None:
                return True
    return False


def _own_buffer(source: Source) -> Iterator[Hit]:
    """`self.buffer.copy_(x)` and `self.chunks.append(self.buffer)` in one method: each call keeps the same tensor."""
    for call in source.methods("append", "appendleft"):
        given = call.args[0] if len(call.args) == 1 else None
        name = tree.dotted(given) if isinstance(given, ast.Attribute) else ""
        mine = (
            name.count(".") == 1 and name.startswith("self.") and tree.dotted(tree.receiver(call)).startswith("self.")
        )
        home = tree.function(source, call) if mine else None
        if given is None or home is None or home.name == "__init__":
            continue
        stores = [one for one in uses.attributes(source, name[5:]) if isinstance(one.ctx, ast.Store)]
        anew = any(getattr(tree.function(source, one), "name", "") != "__init__" for one in stores)
        change = _change_of_own(source, home, name)
        if (
            not anew
            and change is not None
            and change.lineno < call.lineno
            and values.sure(source, given, "tensor", "ndarray")
        ):
            copy = "copy" if values.sure(source, given, "ndarray") else "clone"
            told = f"every call keeps the same `{name}`, which line {change.lineno} changes in place"
            yield source.hit(call, f"{told}: append `{name}.{copy}()`", severity="warning")


def _once(source: Source, call: ast.Call) -> bool:
    """The loop ends behind it: `boxes.append(mask)`, `break`."""
    here = tree.statement(source, call)
    up = source.parents[here]
    blocks = (getattr(up, part, []) for part in ("body", "orelse"))
    return any(here in block and isinstance(block[-1], ast.Break | ast.Return) for block in blocks)


def _keeps(source: Source, call: ast.Call) -> bool:
    """`memory.push(state, reward)`, where `push` appends what it is given as it is."""
    inner = flow.called(source, call) if tree.loops(source, call) else None
    if inner is None or inner.owner is None:
        return False
    names = {arg.arg for arg in tree.parameters(inner.node)}
    for one in tree.under(inner.source, inner.node, ast.Call):
        given = one.args[0] if follow.method(one) in ("append", "appendleft") and len(one.args) == 1 else None
        parts = given.elts if isinstance(given, ast.Tuple | ast.List) else [given]
        if given is not None and all(isinstance(part, ast.Name) and part.id in names for part in parts):
            return True
    return False


def _own_of_another(source: Source, name: ast.Name) -> ast.stmt | None:
    """`state, reward = env.step(action)`, where `step` changes `self.state` in place and returns it: that change."""
    bound = scopes.reaching(source, name)
    one = bound[0] if len(bound) == 1 and bound[0].how == "assign" and isinstance(bound[0].value, ast.Call) else None
    inner = flow.called(source, one.value) if one is not None and isinstance(one.value, ast.Call) else None
    if one is None or inner is None or inner.owner is None or inner.source is not source:
        return None
    for back in calls.returned(inner):
        part = (
            back.elts[one.path[0]]
            if len(one.path) == 1 and isinstance(back, ast.Tuple) and one.path[0] < len(back.elts)
            else back
        )
        held = isinstance(part, ast.Attribute) and tree.dotted(part.value) == "self"
        if not held or not values.sure(source, part, "tensor", "ndarray"):
            return None
        if (change := _change_of_own(source, inner.node, tree.dotted(part))) is not None:
            return change
    return None


def _change_of_own(source: Source, home: tree.FunctionNode, name: str) -> ast.stmt | None:
    """`self.state += v` or `self.state[i] = v` in a method that makes no new `self.state`."""
    own = [one for one in uses.attributes(source, name.rpartition(".")[2]) if tree.function(source, one) is home]
    if any(isinstance(one.ctx, ast.Store) and not isinstance(source.parents[one], ast.AugAssign) for one in own):
        return None
    added: list[tuple[ast.stmt, ast.expr]] = [(one, one.target) for one in tree.under(source, home, ast.AugAssign)]
    added += [(one, one.targets[0]) for one in tree.under(source, home, ast.Assign)]
    written = [
        one for one in tree.under(source, home, ast.Call) if follow.method(one) in ("copy_", "fill_", "zero_", "add_")
    ]
    added += [(tree.statement(source, one), tree.receiver(one)) for one in written]
    for change, target in added:
        whole = target.value if isinstance(target, ast.Subscript) else target
        if tree.dotted(whole) == name:
            return change
    return None


def _is_number(source: Source, name: ast.Name) -> bool:
    """`low = np.min(picture)`, `at = np.searchsorted(row, x) - 1`: a number of NumPy, of which `+=` makes a new one."""
    bound = (one.value for one in scopes.reaching(source, name))
    inner = (one.left if isinstance(one, ast.BinOp) and _plain_number(one.right) else one for one in bound)
    made = [one for one in inner if isinstance(one, ast.Call)]
    if any(_one_place(source, one) for one in made):
        return True
    names = [source.name(one.func).rpartition(".") for one in made]
    whole = (len(one.args) == 1 and not one.keywords for one in made)
    return any(home == "numpy" and last in ("min", "max", "sum", "mean", "std", "median", "argmax", "argmin") and alone
               for (home, _, last), alone in zip(names, whole, strict=True))  # fmt: skip


def _plain_number(node: ast.expr) -> bool:
    return isinstance(tree.literal(node), int | float)


def _one_place(source: Source, call: ast.Call) -> bool:
    """`np.searchsorted(row, x)`: of one number it is one number."""
    asked = tree.argument(call, 1, "v") if source.name(call.func) == "numpy.searchsorted" else None
    return asked is not None and not values.sure(source, asked, "ndarray", "tensor", "list", "tuple")


def _from_outside(source: Source, name: ast.Name, loop: ast.AST) -> bool:
    """Whether the name means what it meant before the loop."""
    found = scopes.reaching(source, name)
    grown = [one.node for one in found if one.how == "aug" and isinstance(one.node, ast.Name)]  # `x += v` is still `x`
    bound = [one for part in (name, *grown) for one in scopes.reaching(source, part) if one.how != "aug"]
    if grown and not all(
        one.value is not None and values.sure(source, one.value, "tensor", "ndarray") for one in bound
    ):
        return False  # `capital = 1.0`, of which `*=` makes a new number
    return bool(bound) and not any(tree.inside(source, one.statement, loop) for one in bound)


def _written_by_key(source: Source, name: ast.Name, loop: ast.AST) -> ast.stmt | None:
    """`sample = base`, `sample["frame"] = i` in every turn: the statement that changes `base`."""
    bound = scopes.reaching(source, name)
    held = bound[0].value if len(bound) == 1 and bound[0].how == "assign" and not bound[0].path else None
    if not isinstance(held, ast.Name) or not _from_outside(source, held, loop):
        return None
    stores = (one for one in tree.under(source, loop, ast.Subscript) if isinstance(one.ctx, ast.Store))
    mine = (one for one in stores if tree.dotted(one.value) == name.id and isinstance(tree.literal(one.slice), str))
    return next((tree.statement(source, one) for one in mine), None)


def _multiplied(source: Source) -> Iterator[Hit]:
    """`[torch.zeros(3)] * n`, of which one entry is changed in place."""
    for assign in uses.assigns(source, None, ast.BinOp):
        value = assign.value
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
            continue
        row, name = value.left, tree.dotted(assign.targets[0])
        if (
            not name
            or not isinstance(row, ast.List)
            or len(row.elts) != 1
            or not values.sure(source, row.elts[0], "tensor", "ndarray")
        ):
            continue
        home = tree.class_of(source, assign) if name.startswith("self.") else tree.function(source, assign)
        change = next(
            (one for one in tree.under(source, home or source.tree, ast.Subscript) if _entry(source, one, name)), None
        )
        if change is None:
            change = _in_callee(source, home or source.tree, name)
        alike = change is not None and _all_alike(source, change, name)
        if change is not None and not alike and not _replaced(source, home or source.tree, name, change):
            code = source.code(row.elts[0])
            yield source.hit(
                assign,
                f"every entry is the same tensor, which line {change.lineno} changes in place: write `[{code} for _ in "
                f"range({source.code(value.right)})]`",
            )


def _all_alike(source: Source, change: ast.Subscript, name: str) -> bool:
    """`for i in range(len(masks)): masks[i].mul_(False)`: each of them is changed in the same way."""
    loops = [one for one in tree.loops(source, change) if isinstance(one, ast.For)]
    over = next((one for one in loops if source.code(one.iter) == f"range(len({name}))"), None)
    turn = tree.dotted(over.target) if over is not None else ""
    names = [n.id for n in ast.walk(tree.statement(source, change)) if isinstance(n, ast.Name)]
    return over is not None and set(names) <= {name, turn}


def _in_callee(source: Source, home: ast.AST, name: str) -> ast.Subscript | None:
    """`tally(sums, i, x)`, which does `sums[i] += x`."""
    for call in tree.under(source, home, ast.Call):
        at = next((index for index, one in enumerate(call.args) if tree.dotted(one) == name), None)
        inner = flow.called(source, call) if at is not None else None
        if inner is None or at is None or inner.owner is not None or inner.source is not source:
            continue
        args = inner.node.args.args
        given = args[at].arg if at < len(args) else ""
        for one in tree.under(source, inner.node, ast.Subscript):
            if given and _entry(source, one, given):
                return one
    return None


def _replaced(source: Source, home: ast.AST, name: str, change: ast.Subscript) -> bool:
    """`memory[i] = fresh` before the change: the entry is a tensor of its own by then."""
    stores = (one for one in tree.under(source, home, ast.Subscript) if isinstance(one.ctx, ast.Store))
    mine = (one for one in stores if tree.dotted(one.value) == name and isinstance(source.parents[one], ast.Assign))
    return any(source.code(one) == source.code(change) and one.lineno < change.lineno for one in mine)


def _entry(source: Source, node: ast.Subscript, name: str) -> bool:
    """`memory[i] += x`, `memory[i][0] = x` and `memory[i].add_(x)`."""
    up = source.parents[node]
    if tree.dotted(node.value) != name or isinstance(node.slice, ast.Slice):
        return False
    grows = isinstance(up, ast.AugAssign) and up.target is node
    inside = isinstance(up, ast.Subscript) and up.value is node and isinstance(up.ctx, ast.Store)
    called = (
        isinstance(up, ast.Attribute)
        and up.attr.endswith("_")
        and not up.attr.startswith("_")
        and isinstance(source.parents[up], ast.Call)
    )
    return grows or inside or called


def _changed(source: Source, name: ast.Name, loop: ast.AST) -> ast.stmt | None:
    """The statement of the loop that changes the tensor in place."""
    for node in tree.body_nodes(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name.id:
            return node
        stored = (
            isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and source.code(node.value) == name.id
        )
        method = follow.method(node)
        called = method.endswith("_") and not method.startswith("_") and source.code(tree.receiver(node)) == name.id  # type: ignore[arg-type]  # a Call
        if stored or called:
            return tree.statement(source, node)
    return None


def _emptied(source: Source) -> Iterator[Hit]:
    """`library.append(self.frames)`, and then `self.frames.clear()`: what was kept is the list that is emptied."""
    for clear in source.methods("clear"):
        name, home = tree.dotted(tree.receiver(clear)), tree.function(source, clear)
        if not name or clear.args or not tree.is_statement(source, clear) or name.rpartition(".")[2].isupper():
            continue
        for call in source.methods("append", "appendleft"):
            if tree.function(source, call) is not home or call.lineno > clear.lineno or not call.args:
                continue
            whole = call.args[0]
            parts = (
                whole.elts
                if isinstance(whole, ast.Tuple | ast.List)
                else whole.values
                if isinstance(whole, ast.Dict)
                else [whole]
            )
            held = any(tree.dotted(one) == name for one in parts) and tree.dotted(tree.receiver(call)) != name
            if held and not _in_between(source, home, name, call, clear) and _lives_on(source, call, clear):
                told = f"the list that was just kept is emptied in line {clear.lineno}: keep a copy, or begin a new one with `{name} = []`"
                yield source.hit(call, told)


def _lives_on(source: Source, call: ast.Call, clear: ast.Call) -> bool:
    """Whether the one runs before the other, and the box is a plain one that nobody reads in between."""
    box = tree.receiver(call)
    if values.maybe(source, box, "object") or follow.exclusive(source, call, clear):
        return False
    blocks = [scopes.chain(source, one)[:-1] for one in (call, clear)]
    return blocks[0] == blocks[1]


def _in_between(source: Source, home: ast.AST | None, name: str, first: ast.Call, last: ast.Call) -> bool:
    """Whether the name is given something else between the two."""
    stores = tree.under(source, home or source.tree, ast.Assign)
    return any(first.lineno < one.lineno < last.lineno and name in map(tree.dotted, one.targets) for one in stores)

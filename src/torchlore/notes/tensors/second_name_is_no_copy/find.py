"""The rule of second-name-is-no-copy."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import cast

from torchlore.check import calls, edits, follow, grouped, losses, project, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

_LOOKS = {"shape", "size", "device", "dtype", "dim", "ndim", "new_zeros", "is_cuda", "numel"}
_WRITES = {"masked_fill_", "fill_", "zero_", "add_", "sub_", "mul_", "div_", "clamp_", "copy_", "scatter_", "index_fill_", "normal_",
           "uniform_", "index_copy_", "masked_scatter_", "scatter_add_", "index_add_", "relu_", "sigmoid_", "neg_"}  # fmt: skip
_INPUT = re.compile(r"^(x|xs|img|imgs|images?|inputs?|data|batch|obs|states?|samples?|frames?|clean)(_|$)|^X$")


def find(source: Source) -> Iterator[Hit]:
    added, called = source.all(ast.AugAssign), uses.any_attributes(source, _WRITES)
    if not grouped.stored(source) and not any(added) and not any(called):
        return
    writes = _writes(source)
    yield from _inputs(source, writes)
    yield from _attributes(source)
    yield from _entries(source)
    yield from _handed_back(source, writes)
    for held in uses.assigns(source, ast.Name, ast.Name):
        new, old = held.targets[0], held.value
        if len(held.targets) != 1 or not isinstance(new, ast.Name) or not isinstance(old, ast.Name) or new.id == old.id:
            continue
        if new.id not in writes and old.id not in writes:
            continue
        both = sorted(writes.get(new.id, []) + writes.get(old.id, []), key=lambda pair: pair[0].lineno)
        write = next((node for node, target in both if _reaches(source, held, node, target)), None)
        if write is None or not _is_array(source, old, write):
            continue
        again = _read_after(source, new, write, held)
        if again and (_read_after(source, old, write, held) or _compared_by_caller(source, old)):
            told = f"`{new.id}` is `{old.id}` itself, and line {write.lineno} writes into both: "
            array = values.sure(source, old, "ndarray")
            way = "copy()" if array else "clone()"
            yield source.hit(
                held, f"{told}write `{new.id} = {old.id}.{way}`", *edits.method(source, old, way), safe=False
            )


def _inputs(source: Source, writes: dict[str, list[tuple[ast.expr, ast.Name]]]) -> Iterator[Hit]:
    """`adv = images.detach()` and then `adv += ...`: the batch that the caller still holds is changed as well."""
    for held in (*uses.assigns(source, ast.Name, ast.Call), *uses.assigns(source, ast.Name, ast.Attribute)):
        new = held.targets[0]
        old = _shared(held.value) if isinstance(new, ast.Name) and new.id in writes else None
        if old is None or not isinstance(new, ast.Name) or new.id == old.id or not _INPUT.search(old.id):
            continue
        both = [node for node, target in writes.get(new.id, []) if target.id == new.id and node.lineno > held.lineno]
        write = next((one for one in both if tree.function(source, one) is tree.function(source, held)), None)
        if write is None or follow.exclusive(source, write, held) or _bound_again(source, new, held, write):
            continue
        if _put_back(source, held):
            continue
        if _read_after(source, old, write, held) or _read_by_caller(source, old):
            told = f"`{new.id}` shares the memory of `{old.id}`, and line {write.lineno} writes into both"
            code = source.code(held.value)
            yield source.hit(held, f"{told}: write `{code}.{'copy' if '.numpy(' in code else 'clone'}()`")


def _put_back(source: Source, held: ast.Assign) -> bool:
    """`data = batch.data` and `batch.data = data` below: both are meant to change."""
    new, place = source.code(held.targets[0]), source.code(held.value)
    return any(
        source.code(one.value) == new and source.code(one.targets[0]) == place
        for one in uses.assigns(source, ast.Attribute, ast.Name)
    )


def _handed_back(source: Source, writes: dict[str, list[tuple[ast.expr, ast.Name]]]) -> Iterator[Hit]:
    """`noisy = add_noise(x)`, which writes into its argument and returns it, and then a loss of `net(noisy)` and `x`."""
    for node, target in (pair for found in writes.values() for pair in found):
        home = tree.function(source, node) if not isinstance(node, ast.Name) else None
        if home is None or target.id not in {arg.arg for arg in tree.parameters(home)}:
            continue
        function = project.as_function(source, home)
        back = [
            one
            for given in calls.returned(function)
            for one in (given.elts if isinstance(given, ast.Tuple) else [given])
            if isinstance(one, ast.Name) and one.id == target.id
        ]
        bound = scopes.reaching(source, target) if back else []
        arg = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None
        if not isinstance(arg, ast.arg) or not any(scopes.reaching(source, one) == bound for one in back):
            continue
        goals = [tree.dotted(one.target) for one in losses.loss_calls(source) if one.target is not None]
        for other, call, skip in calls.callers(function):
            given, held = (
                calls.given_argument(function, call, arg, skip),
                source.parents.get(call) if other is source else None,
            )
            kept = isinstance(held, ast.Assign) and isinstance(given, ast.Name) and values.sure(source, given, "tensor")
            if kept and isinstance(given, ast.Name) and given.id in goals and _still_meant(source, given, call):
                told = f"this writes into `{given.id}` of line {call.lineno} itself, which is the goal of a loss there: work on `{arg.arg}.clone()`"
                yield source.hit(node, told)
                break


def _still_meant(source: Source, given: ast.Name, call: ast.Call) -> bool:
    """Whether a loss after the call has the name as its goal, and the name means the same there."""
    same = scopes.reaching(source, given)
    goals = [one.target for one in losses.loss_calls(source) if isinstance(one.target, ast.Name)]
    return any(
        one.id == given.id and one.lineno > call.lineno and scopes.reaching(source, one) == same for one in goals
    )


def _attributes(source: Source) -> Iterator[Hit]:
    """`old = self.centres`, then `self.centres[i] = ...`, and then the two are set against each other."""
    for held in uses.assigns(source, ast.Name, ast.Attribute):
        new, old = held.targets[0], held.value
        if not isinstance(new, ast.Name) or not isinstance(old, ast.Attribute) or tree.dotted(old.value) != "self":
            continue
        if not any(_written(source, one) for one in uses.attributes(source, old.attr) if one.lineno > held.lineno):
            continue
        home = tree.function(source, held)
        same = [one for one in uses.attributes(source, old.attr) if tree.function(source, one) is home]
        later = [one for one in same if one.lineno > held.lineno]
        writes = [one for one in later if _written(source, one)]
        bound = any(isinstance(one.ctx, ast.Store) and not _written(source, one) for one in later)
        both = [one for one in later if writes and one.lineno > writes[0].lineno and _beside(source, one, new.id)]
        if writes and both and not bound and values.sure(source, old, "tensor", "ndarray"):
            told = f"`{new.id}` is `{source.code(old)}` itself, and line {writes[0].lineno} writes into both"
            yield source.hit(held, f"{told}: write `{source.code(old)}.clone()`")


def _entries(source: Source) -> Iterator[Hit]:
    """`batch["labels"] = batch["ids"]`, or `labels = batch["ids"]`, and then a write into one of the two."""
    taken = [one for one in uses.assigns(source, None, ast.Subscript) if _is_entry(one.value) and len(one.targets) == 1]
    filled = {_root(one) for one in _filled(source)} if taken else set()
    for held in taken:
        new, old = held.targets[0], held.value
        if not _root(new) or not {_root(new), _root(old)} & filled:
            continue
        if isinstance(new, ast.Name) and _root(old) == new.id:
            continue  # `labels = labels["input_ids"]`: the table is gone
        home = tree.function(source, held)
        codes = (ast.unparse(new), ast.unparse(old))
        later = [one for one in _both(source, home, codes) if one.lineno > held.lineno]
        writes = [
            one
            for one in later
            if _is_filled(source, one, methods=not isinstance(new, ast.Name))
            and not follow.exclusive(source, one, held)
        ]
        if not writes or any(isinstance(one.ctx, ast.Store) for one in later if one.lineno <= writes[0].lineno):
            continue
        if any(ast.unparse(source.parents[one]) == f"{codes[1]} = {codes[0]}" for one in later):
            continue  # it is put back where it came from
        other = codes[1 - codes.index(ast.unparse(writes[0]))]
        if _still_read(source, held, writes[0], other):
            told = f"`{codes[0]}` is `{codes[1]}` itself, and line {writes[0].lineno} writes into both"
            yield source.hit(held, f"{told}: write `{codes[1]}.clone()`", severity="warning")


def _both(source: Source, home: tree.FunctionNode | None, codes: tuple[str, str]) -> list[ast.Subscript | ast.Name]:
    """Where a function names one of the two, in the order of the text."""
    entries = [one for one in tree.under(source, home or source.tree, ast.Subscript) if _is_entry(one)]
    found: list[ast.Subscript | ast.Name] = [one for one in entries if ast.unparse(one) in codes]
    found += [one for one in tree.under(source, home or source.tree, ast.Name) if one.id in codes]
    return sorted((one for one in found if tree.function(source, one) is home), key=lambda one: one.lineno)


def _filled(source: Source) -> Iterator[ast.expr]:
    """What is written into, not by one number."""
    yield from (one.value for one in grouped.stored(source) if not isinstance(one.slice, ast.Constant | ast.Tuple))
    yield from (one.value for one in uses.any_attributes(source, _WRITES))


def _root(node: ast.expr) -> str:
    """`batch` of `batch` and of `batch["ids"]`, "" of anything else."""
    if _is_entry(node):
        node = cast("ast.Subscript", node).value
    return node.id if isinstance(node, ast.Name) else ""


def _is_entry(node: ast.expr) -> bool:
    """`batch["ids"]`."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(tree.literal(node.slice), str)
        and isinstance(node.value, ast.Name)
    )


def _is_filled(source: Source, one: ast.expr, *, methods: bool = True) -> bool:
    """`x[mask] = value`, by a mask and not by one number, or `x.masked_fill_(...)`."""
    up = source.parents[one]
    if isinstance(up, ast.Attribute):
        return methods and up.attr in _WRITES and up.value is one and isinstance(source.parents[up], ast.Call)
    if not isinstance(up, ast.Subscript) or up.value is not one or not isinstance(up.ctx, ast.Store):
        return False
    if isinstance(up.slice, ast.Name):
        return "mask" in up.slice.id or values.sure(source, up.slice, "tensor", "ndarray")
    return isinstance(up.slice, ast.Compare) or (
        isinstance(up.slice, ast.UnaryOp | ast.BinOp) and values.sure(source, up.slice, "tensor", "ndarray")
    )


def _still_read(source: Source, held: ast.Assign, write: ast.expr, code: str) -> bool:
    """Whether the other one, or the whole batch, is read below the write."""
    home = tree.function(source, held)
    whole = {
        one.value.id
        for one in (held.targets[0], held.value)
        if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name)
    }
    batches = [one for one in tree.under(source, home or source.tree, ast.Name) if one.id in whole]
    for one in (*_both(source, home, (code, code)), *batches):
        if one.lineno <= write.lineno or not isinstance(one.ctx, ast.Load) or tree.function(source, one) is not home:
            continue
        up = source.parents[one]
        if not _same_batch(source, held, one):
            continue
        alone = isinstance(one, ast.Name) and one.id in whole and not isinstance(up, ast.Subscript | ast.Attribute)
        if alone or (ast.unparse(one) == code and not _is_filled(source, one)):
            return True
    return False


def _same_batch(source: Source, held: ast.Assign, read: ast.expr) -> bool:
    """Whether the table that is read is still the one that it was at the assignment."""
    root = read.value if isinstance(read, ast.Subscript) else read
    for one in (held.targets[0], held.value):
        name = one.value if isinstance(one, ast.Subscript) else None
        if isinstance(name, ast.Name) and isinstance(root, ast.Name) and name.id == root.id:
            return scopes.reaching(source, root) == scopes.reaching(source, name)
    return True


def _written(source: Source, one: ast.Attribute) -> bool:
    up = source.parents[one]
    part = isinstance(up, ast.Subscript) and up.value is one and isinstance(up.ctx, ast.Store)
    method = isinstance(up, ast.Attribute) and up.attr in _WRITES and isinstance(source.parents[up], ast.Call)
    return part or method or isinstance(up, ast.AugAssign)


def _beside(source: Source, one: ast.Attribute, name: str) -> bool:
    """Whether a difference or a comparison of the two is taken."""
    up = source.parents[one]
    if isinstance(up, ast.BinOp) and isinstance(up.op, ast.Sub):
        return name in (tree.dotted(up.left), tree.dotted(up.right))
    compared = isinstance(up, ast.Call) and follow.method(up) in (
        "equal",
        "allclose",
        "dist",
        "mse_loss",
        "array_equal",
    )
    return compared and isinstance(up, ast.Call) and any(tree.dotted(arg) == name for arg in up.args)


def _shared(node: ast.expr) -> ast.Name | None:
    """`images` of `images.detach()`, `images.data` and `images.detach().cpu().numpy()`."""
    inner = node
    while True:
        if isinstance(inner, ast.Call) and follow.method(inner) in ("detach", "cpu", "numpy") and not inner.args:
            inner = tree.receiver(inner)
        elif isinstance(inner, ast.Attribute) and inner.attr == "data":
            inner = inner.value
        else:
            return inner if isinstance(inner, ast.Name) and inner is not node else None


def _bound_again(source: Source, new: ast.Name, held: ast.Assign, write: ast.expr) -> bool:
    bound = scopes.bound(source, new.id).get(scopes.scope_of(source, new), [])
    between = [one for one in bound if held.lineno < getattr(one.statement, "lineno", 0) < write.lineno]
    return any(one.how != "aug" for one in between)


def _compared_by_caller(source: Source, old: ast.Name) -> bool:
    """Whether it is a parameter that stays what it was, and a caller sets what it gave against the result."""
    bound = scopes.bound(source, old.id).get(scopes.scope_of(source, old), [])
    return len(bound) == 1 and _read_by_caller(source, old, compared=True)


def _read_by_caller(source: Source, old: ast.Name, *, compared: bool = False) -> bool:
    """Whether it is a parameter, and a caller reads what it gave once the call is over, or subtracts it."""
    bound = scopes.reaching(source, old)
    arg = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None
    home = tree.function(source, old)
    if not isinstance(arg, ast.arg) or home is None:
        return False
    function = project.as_function(source, home)
    for other, call, skip in calls.callers(function):
        given = calls.given_argument(function, call, arg, skip)
        if other is source and isinstance(given, ast.Name):
            later = [one for one in follow.later_uses(source, given, call) if not compared or _subtracts(source, one)]
            if any(one.lineno > (call.end_lineno or call.lineno) for one in later):
                return True
    return False


def _subtracts(source: Source, use: ast.Name) -> bool:
    """`out - x`, or `x` as the goal of a loss."""
    up = source.parents[use]
    goal = any(one.target is use for one in losses.loss_calls(source))
    return goal or (isinstance(up, ast.BinOp) and isinstance(up.op, ast.Sub))


def _writes(source: Source) -> dict[str, list[tuple[ast.expr, ast.Name]]]:
    """What writes into a tensor, in the order of the text, by the name that it goes by."""
    found: dict[str, list[tuple[ast.expr, ast.Name]]] = defaultdict(list)
    parts = [(node, node.value) for node in grouped.stored(source)]
    calls = [(node, tree.receiver(node)) for node in source.methods(*_WRITES) if tree.is_statement(source, node)]
    added = [(node.target, node.target) for node in source.all(ast.AugAssign)]
    for node, target in sorted([*parts, *calls, *added], key=lambda pair: (pair[0].lineno, pair[0].col_offset)):
        if isinstance(target, ast.Name):
            found[target.id].append((node, target))
    return found


def _reaches(source: Source, held: ast.Assign, write: ast.expr, target: ast.Name) -> bool:
    """Whether the write comes later in the same function, on the way from the assignment, and the name means the same."""
    new, old = held.targets[0], held.value
    if write.lineno <= held.lineno or tree.function(source, write) is not tree.function(source, held):
        return False
    assert isinstance(new, ast.Name)
    assert isinstance(old, ast.Name)
    same = _added_once(source, target) if write is target else _same_value(source, target, new, old)
    return same and not follow.exclusive(source, write, held)


def _added_once(source: Source, target: ast.Name) -> bool:
    """Whether the name is bound once and then changed by this `+=` alone."""
    bound = scopes.bound(source, target.id).get(scopes.scope_of(source, target), [])
    return len(bound) == 2 and bound[1].how == "aug"


def _same_value(source: Source, use: ast.Name, new: ast.Name, old: ast.Name) -> bool:
    """Whether the name still means what it meant at the assignment."""
    bound = {id(one.node) for one in scopes.reaching(source, use)}
    if use.id == new.id:
        return bound == {id(new)}
    return bound == {id(one.node) for one in scopes.reaching(source, old)} and bool(bound)


def _is_array(source: Source, name: ast.Name, write: ast.expr) -> bool:
    if values.sure(source, name, "tensor", "ndarray") and not isinstance(write, ast.Name):
        return True
    if isinstance(write, ast.Name):  # a loss that is changed so has a rule of its own
        held = tree.statement(source, write)
        given = tree.under(source, held.value, ast.Call) if isinstance(held, ast.AugAssign) else []
        return any(
            source.name(one.func).startswith("torch.") and source.name(one.func).endswith("_like") for one in given
        )
    if values.kind(source, name) or isinstance(write, ast.Call):
        return False  # something else; or a method that other classes may have
    index = write.slice if isinstance(write, ast.Subscript) else None
    return isinstance(index, ast.expr) and (
        isinstance(index, ast.Tuple | ast.Compare) or values.sure(source, index, "tensor", "ndarray")
    )


def _read_after(source: Source, name: ast.Name, write: ast.expr, held: ast.Assign) -> bool:
    """Whether the values are read by this name after the write, by more than a look at the shape."""
    home = tree.function(source, held) or source.tree
    wanted = {id(name)} if isinstance(name.ctx, ast.Store) else {id(one.node) for one in scopes.reaching(source, name)}
    added = {id(write)} if isinstance(write, ast.Name) else set()
    end = _overwritten(source, name, write)
    for node in tree.body_nodes(home):
        if not isinstance(node, ast.Name) or node.id != name.id or not isinstance(node.ctx, ast.Load):
            continue
        up = source.parents[node]
        looks = isinstance(up, ast.Attribute) and up.attr in _LOOKS
        stores = isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store)
        asked = isinstance(up, ast.Compare) and any(isinstance(one, ast.Is | ast.IsNot) for one in up.ops)
        later = write.lineno < node.lineno < end and not follow.exclusive(source, node, write)
        if (
            later
            and not (looks or stores or asked or _is_index_of_write(source, node, held) or _other_column(up, write))
            and {id(one.node) for one in scopes.reaching(source, node)} in (wanted, added)
        ):
            return True
    return False


def _overwritten(source: Source, name: ast.Name, write: ast.expr) -> float:
    """The line of `x[mask] = 0` behind `y[mask] = -1`, in the same block: what was written is gone from there on."""
    around = source.parents[tree.statement(source, write)]
    for one in grouped.stored(source) if isinstance(write, ast.Subscript) else ():
        same = tree.dotted(one.value) == name.id and ast.unparse(one.slice) == ast.unparse(write.slice)  # type: ignore[attr-defined]  # a subscript
        plain = isinstance(source.parents[one], ast.Assign) and source.parents[tree.statement(source, one)] is around
        if same and plain and one.lineno > write.lineno:
            return one.lineno
    return float("inf")


def _is_index_of_write(source: Source, node: ast.Name, held: ast.Assign) -> bool:
    """`sign[x < 0] = -1` after `sign[x > 0] = 1`: the name says only where to write."""
    names = {tree.dotted(held.targets[0]), tree.dotted(held.value)}
    return any(
        isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store) and tree.dotted(up.value) in names
        for up in tree.ancestors(source, node)
    )


def _other_column(read: ast.AST, write: ast.AST) -> bool:
    """`boxes[:, 2]` after `new[:, 0] = ...`: what was written is not what is read."""
    mask = write.slice if isinstance(write, ast.Subscript) else None
    if isinstance(mask, ast.UnaryOp) and isinstance(mask.op, ast.Invert) and isinstance(read, ast.Subscript):
        return ast.dump(mask.operand) == ast.dump(read.slice)  # `x[mask]` after `y[~mask] = 0`
    columns = [
        tree.literal(one.slice.elts[-1])
        for one in (read, write)
        if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Tuple)
    ]
    plain = len(columns) == 2 and all(isinstance(one, int) for one in columns) and columns[0] != columns[1]
    return plain or _apart(read, write)


def _apart(read: ast.AST, write: ast.AST) -> bool:
    """`x[:, 1:3]` after `y[:, 0:1] = ...`: rows or columns that do not meet."""
    spans: list[tuple[str, int, int]] = []
    for one in (read, write):
        parts = one.slice.elts if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Tuple) else []
        last = parts[-1] if parts else None
        ends = [tree.literal(end) for end in (last.lower, last.upper) if end] if isinstance(last, ast.Slice) else []
        if len(ends) == 2 and all(isinstance(end, int) and end >= 0 for end in ends):
            spans.append((" ".join(map(ast.dump, parts[:-1])), *ends))  # type: ignore[arg-type]  # two numbers
    return len(spans) == 2 and spans[0][0] == spans[1][0] and (spans[0][2] <= spans[1][1] or spans[1][2] <= spans[0][1])

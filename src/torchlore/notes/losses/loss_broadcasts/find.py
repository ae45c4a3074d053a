"""The rule of loss-broadcasts."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, dims, edits, flow, follow, grouped, losses, scopes, tree, values
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_SHAPES = ("reshape", "view", "view_as", "reshape_as", "expand_as")
_LOSSES = ("MSELoss", "mse_loss", "L1Loss", "l1_loss", "SmoothL1Loss", "smooth_l1_loss", "HuberLoss", "huber_loss")


def find(source: Source) -> Iterator[Hit]:
    if "Linear" not in source.text and "squeeze" not in source.text and "view" not in source.text:
        return
    seen = set[int]()
    sure = losses.loss_calls(source, *_LOSSES)
    for loss in (*sure, *losses.loss_choices(source, *_LOSSES)):
        if loss.input is not None and loss.target is not None and loss.call.lineno not in seen:
            pairs = _both(loss.input, loss.target)
            which = next((a for a, b in pairs if _meet(source, a, b) or _picked_and_best(source, a, b)), None)
            which = which or next((a for a, b in pairs if loss in sure and _counted(source, a, b)), None)
            if which is not None and not any(_shaped_like(source, a, b) for a, b in pairs):
                code = source.code(which)
                fix = edits.method(source, which, "squeeze(-1)")
                told = f"`{code}` has shape (N, 1) and meets (N): the loss compares each with every other; write `{code}.squeeze(-1)`"
                seen.add(loss.call.lineno)
                yield source.hit(loss.call, told, *fix)
    yield from (*_in_own_loss(source), *_weighed(source))
    for one in source.all(ast.BinOp) if "Linear" in source.text else ():
        asked = isinstance(one.op, ast.Sub | ast.Add | ast.Mult) and one.lineno not in seen
        if asked and not _is_number(one.left) and not _is_number(one.right):
            wide = _wide(source, one)
            if wide is not None:
                seen.add(one.lineno)
                home = tree.function(source, one)
                if isinstance(home, ast.FunctionDef) and _subtracted(source, home):
                    continue  # said where it is called
                wide = _column(source, wide) or wide
                passed = _passed(source, wide)
                code = source.code(passed or wide)
                told = (
                    f"`{code}` has shape (N, 1) and meets (N), which gives a table of N x N; write `{code}.squeeze(-1)`"
                )
                if passed is not None:
                    yield source.hit(passed, told)
                else:
                    yield source.hit(one, told, *edits.method(source, wide, "squeeze(-1)"), safe=False)
    yield from (hit for line, hit in _forgotten(source) if line not in seen)


def _is_number(node: ast.expr) -> bool:
    """`2`, `x.shape[0]`, `x.size(0)`, which are asked for nothing more."""
    node = node.value if isinstance(node, ast.Subscript) else node
    if isinstance(node, ast.Call) and follow.method(node) == "size":
        return all(isinstance(tree.literal(one), int) for one in node.args)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Attribute) and node.attr == "shape")


def _wide(source: Source, whole: ast.BinOp) -> ast.expr | None:
    """The column where a net's column meets a row in a sum, its logarithm in a product, or losses their weights."""
    pairs = _both(whole.left, whole.right)
    if isinstance(whole.op, ast.Mult):
        each = any(one.state == "loss" for side in pairs[0] for one in source.values(side))
        logs = (pair for pair in pairs if each or _is_log(source, pair[0]))  # y * log(p), by hand
        return next((a for a, b in logs if _meet(source, a, b)), None)
    return next((a for a, b in pairs if _given(source, a) and _meet(source, a, b)), None)


def _shaped_like(source: Source, one: ast.expr, other: ast.expr) -> bool:
    """`y = y.reshape(out.shape)`, and the loss of `out` and `y`."""
    bound = scopes.reaching(source, one) if isinstance(one, ast.Name) else []
    made = [n.value for n in bound if isinstance(n.value, ast.Call) and follow.method(n.value) in _SHAPES]
    name = source.code(other)
    return any({name, f"{name}.shape", f"{name}.size()"} & {source.code(arg) for arg in n.args} for n in made)


def _passed(source: Source, wide: ast.expr) -> ast.expr | None:
    """The argument of the only call that hands a parameter its column: the helper itself may serve both shapes."""
    bound = scopes.reaching(source, wide) if isinstance(wide, ast.Name) else []
    arg, home = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None, tree.function(source, wide)
    if not isinstance(arg, ast.arg) or home is None:
        return None
    function = as_function(source, home)
    given = [
        calls.given_argument(function, call, arg, skip) for at, call, skip in calls.callers(function) if at is source
    ]
    columns = [one for one in given if one is not None and (values.shape(source, one) or ())[-1:] == (1,)]
    return columns[0] if columns else None


def _forgotten(source: Source) -> Iterator[tuple[int, Hit]]:
    """`returns - value`, where the same function takes the loss of `value.squeeze(-1)` and `returns`."""
    flat: dict[tuple[object, str, str], ast.expr] = {}
    for loss in losses.loss_calls(source, *_LOSSES) if "squeeze(" in source.text else ():
        for one, other in _both(loss.input, loss.target) if loss.input is not None and loss.target is not None else ():
            column = tree.receiver(one) if isinstance(one, ast.Call) and follow.method(one) == "squeeze" else None
            if isinstance(column, ast.Name) and isinstance(other, ast.Name):
                flat[tree.function(source, loss.call), column.id, other.id] = column
    for gap in grouped.operations(source, ast.Sub) if flat else ():
        for one, other in _both(gap.left, gap.right):
            column = tree.receiver(one) if isinstance(one, ast.Call) and follow.method(one) == "detach" else one
            key = tree.function(source, gap), tree.dotted(column), tree.dotted(other)
            if not isinstance(column, ast.Name) or key not in flat or not _same_value(source, column, flat[key]):
                continue
            code = source.code(column)
            told = f"`{code}` is squeezed before it meets `{key[2]}` in the loss, and not here, which gives a table of N x N; write `{code}.squeeze(-1)`"
            yield gap.lineno, source.hit(gap, told, severity="warning")


def _same_value(source: Source, one: ast.Name, other: ast.expr) -> bool:
    mine, theirs = (scopes.reaching(source, name) for name in (one, other) if isinstance(name, ast.Name))
    return bool(mine) and [id(b.node) for b in mine] == [id(b.node) for b in theirs]


def _in_own_loss(source: Source) -> Iterator[Hit]:
    """A function of the file that takes one argument from the other, is kept as `self.criterion`, and gets a column and a row."""
    gaps = (one for one in grouped.operations(source, ast.Sub) if isinstance(one.left, ast.Name))
    homes = {up for one in gaps for up in tree.ancestors(source, one) if isinstance(up, ast.FunctionDef)}
    pairs = {one for one in homes if _subtracted(source, one)}
    for call in source.all(ast.Call) if pairs else ():
        if len(call.args) != 2 or not isinstance(call.func, ast.Attribute | ast.Name):
            continue
        first, second = call.args
        made = values.values(source, call.func)
        inner = made[0].node if len(made) == 1 and made[0].kind == "function" else None
        plain = flow.called(source, call) if inner is None and isinstance(call.func, ast.Name) else None
        inner = plain.node if plain is not None and plain.source is source else inner
        if not isinstance(inner, ast.FunctionDef) or inner not in pairs:
            continue
        wide = next((a for a, b in _both(first, second) if _given(source, a) and _meet(source, a, b)), None)
        if wide is not None:
            code = source.code(wide)
            told = f"`{code}` has shape (N, 1) and meets (N) in `{inner.name}`, which compares each with every other; write `{code}.squeeze(-1)`"
            yield source.hit(call, told)


def _weighed(source: Source) -> Iterator[Hit]:
    """`label * distance**2`, of labels that come as a column and distances that are a row."""
    if "pairwise_distance" not in source.text and "cosine_similarity" not in source.text:
        return
    seen: set[tree.FunctionNode | None] = set()
    for one in grouped.operations(source, ast.Mult):
        home = tree.function(source, one)
        if home in seen:
            continue
        for column, row in _both(one.left, one.right):
            label = column.right if isinstance(column, ast.BinOp) and isinstance(column.op, ast.Sub) else column
            wide = values.shape(source, label) if isinstance(label, ast.Name) else None
            if wide is not None and len(wide) == 2 and wide[1] == 1 and _is_row(source, row):
                seen.add(home)
                told = f"`{source.code(label)}` has shape (N, 1) and meets the (N) distances, which gives a table of N x N: ask for them with `keepdim=True`"
                yield source.hit(one, told)
                break


def _is_row(source: Source, node: ast.expr, hops: int = 6) -> bool:
    """Whether it is made of one distance for each pair, with powers, numbers and limits around it."""
    whole = follow.followed(source, node)
    if not hops or isinstance(whole, ast.Constant):
        return False
    if isinstance(whole, ast.BinOp):
        return _is_row(source, whole.left, hops - 1) or _is_row(source, whole.right, hops - 1)
    if not isinstance(whole, ast.Call):
        return False
    name = source.name(whole.func)
    if name in ("torch.nn.functional.pairwise_distance", "torch.nn.functional.cosine_similarity"):
        spread = any("unsqueeze" in source.code(one) or "None" in source.code(one) for one in whole.args)  # a table
        return tree.keyword(whole, "keepdim") is None and len(whole.args) == 2 and not spread
    passes = name in ("torch.pow", "torch.clamp", "torch.relu", "torch.nn.functional.relu", "torch.square")
    inner = whole.args[0] if passes and whole.args else None
    if follow.method(whole) in ("pow", "clamp", "relu", "square") and not name:
        inner = tree.receiver(whole)
    return inner is not None and _is_row(source, inner, hops - 1)


def _subtracted(source: Source, function: ast.FunctionDef) -> bool:
    """Whether a function subtracts its first two arguments as they are, in one order or the other."""
    taken = [arg.arg for arg in function.args.args[:2]]
    if len(taken) != 2 or tree.method_class(source, function) is not None:
        return False
    both = ((one.left, one.right) for one in tree.under(source, function, ast.BinOp) if isinstance(one.op, ast.Sub))
    kept = all(isinstance(one.ctx, ast.Load) for one in tree.under(source, function, ast.Name) if one.id in taken)
    return kept and any([tree.dotted(one), tree.dotted(other)] in (taken, taken[::-1]) for one, other in both)


def _picked_and_best(source: Source, picked: ast.expr, best: ast.expr) -> bool:
    """`q.gather(1, a.unsqueeze(1))` is a column, and `r + gamma * q_next.max(1)[0]` a row, whatever the sizes are."""
    column = follow.followed(source, picked)
    if not isinstance(column, ast.Call) or follow.method(column) != "gather" or source.name(column.func):
        return False
    dim, index = tree.argument(column, 0, "dim"), tree.argument(column, 1, "index")
    shaped = follow.followed(source, index) if index is not None else None
    how, made = follow.method(shaped) if shaped is not None else "", getattr(shaped, "args", [])
    wide = how == "unsqueeze" and len(made) == 1 and tree.literal(made[0]) in (1, -1)
    wide |= how in ("view", "reshape") and len(made) == 2 and tree.literal(made[1]) == 1
    return dim is not None and tree.literal(dim) == 1 and wide and _has_best(source, best)


def _has_best(source: Source, node: ast.expr, hops: int = 6) -> bool:
    """Whether the largest of each row comes into a sum or a product as it is: no `keepdim`, no new dimension after it."""
    whole = follow.followed(source, node)
    while follow.method(whole) in ("detach", "float", "to", "clone"):
        whole = follow.followed(source, tree.receiver(whole))  # type: ignore[arg-type]  # a call
    if isinstance(whole, ast.BinOp) and hops:
        return _has_best(source, whole.left, hops - 1) or _has_best(source, whole.right, hops - 1)
    taken = isinstance(whole, ast.Subscript) and tree.literal(whole.slice) == 0
    taken |= isinstance(whole, ast.Attribute) and whole.attr == "values"
    call = follow.followed(source, whole.value) if taken and isinstance(whole, ast.Subscript | ast.Attribute) else None
    if not isinstance(call, ast.Call) or follow.method(call) != "max" or tree.keyword(call, "keepdim") is not None:
        return False
    first = 1 if source.name(call.func) == "torch.max" else 0
    return len(call.args) <= first + 1 and tree.literal(tree.argument(call, first, "dim")) in (1, -1)


def _both(one: ast.expr, other: ast.expr) -> tuple[tuple[ast.expr, ast.expr], tuple[ast.expr, ast.expr]]:
    return (one, other), (other, one)


def _given(source: Source, node: ast.expr) -> bool:
    """Whether a network gave it, also times a number: a column that is made so is meant to meet a row."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _given(source, node.left) or _given(source, node.right)
    asked = isinstance(node, ast.Name | ast.Call | ast.Attribute)
    return asked and any(one.name.startswith("torch.nn.") for one in source.values(node))


def _is_log(source: Source, node: ast.expr) -> bool:
    """`torch.log(p)`, `torch.log(1 - p + eps)` and `p.log()` of what a network gave."""
    if not isinstance(node, ast.Call) or follow.word(source, node) not in ("log", "logsigmoid", "log1p"):
        return False
    parts = [one for one in ast.walk(node) if isinstance(one, ast.Name | ast.Call) and one is not node]
    return any(values.attached(source, one) is True or _given(source, one) for one in parts)


def _column(source: Source, node: ast.expr) -> ast.expr | None:
    """What is surely a column: this, or a factor of it, `next_q` of `(1 - done) * gamma * next_q`."""
    shape = values.shape(source, node)
    if shape is not None:
        return node if len(shape) == 2 and shape[1] == 1 else None
    parts = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else ()
    return next((found for one in parts if (found := _column(source, one)) is not None), None)


def _counted(source: Source, column: ast.expr, flat: ast.expr) -> bool:
    """Two dimensions against the one that `squeeze(-1)` left of a net's output: anything but a column would fail."""
    return values.shape(source, column) is None and dims.dims(source, column) == 2 and dims.dims(source, flat) == 1


def _meet(source: Source, column: ast.expr, flat: ast.expr) -> bool:
    """Whether one is surely a column, and the other surely a row of more than one number."""
    if _column(source, column) is None:
        return False
    narrow = values.shape(source, flat)
    if narrow is not None:
        return len(narrow) == 1 and narrow[0] not in (None, 1)
    return dims.dims(source, flat) == 1

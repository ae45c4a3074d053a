"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import api, follow, iteration, origin, scopes, tensors, tree, uses, values
from torchlore.check.source import Hit, Source

_LOSS = re.compile(r"(^|_)loss$")
_BATCHES = re.compile(r"loader|dataloader|batches|(^|_)(dl|iterator)$", re.IGNORECASE)
_STOPPER = re.compile(r"early_?stop|stopper|plateau", re.IGNORECASE)
_SCORE = re.compile(r"(^|_)(loss|acc|accuracy|score|error|err|f1|iou|psnr|mae|mse)(_|$)", re.IGNORECASE)
_SCORES = re.compile(
    r"(^|_)(f1|acc|accuracy|score|report|matrix|auc|auroc|precision|recall|iou|dice|metrics?)(_|$)", re.IGNORECASE
)
_CASTS = {"item", "detach", "cpu", "mean", "numpy", "data"}


def find(source: Source) -> Iterator[Hit]:
    if not any(source.all(ast.For)) or " in " not in source.text:
        return
    yield from (*_replaced(source), *_restarted(source), *_last_returned(source), *_last_scored(source))
    if "loss" in source.text:
        yield from (*_read_behind(source), *_added_behind(source), *_logged_behind(source))


def _read_behind(source: Source) -> Iterator[Hit]:
    """`loss` of the last batch, read behind the loop by whoever decides something."""
    seen = set()
    for call in source.methods("step"):
        plain = len(call.args) == 1 and not call.keywords and _bare(source, call.args[0]) is not None
        if plain and _waits(source, call):
            seen.add(call)
            yield from _told(source, call.args[0], call, f"`{source.code(tree.receiver(call))}` judges by")
    for line in source.all(ast.Expr) if uses.says(source, "early", "stopper", "plateau") else ():
        stop = line.value
        if isinstance(stop, ast.Call) and stop not in seen and stop.args and _STOPPER.search(tree.dotted(stop.func)):
            yield from _told(source, stop.args[0], stop, f"`{source.code(stop.func)}` judges by")
    for choice in source.all(ast.If) if "best" in source.text else ():
        for kept, value in _kept(choice):
            yield from _told(source, value, choice.test, f"`{source.code(kept)}` is")
            home, made = origin.origin(source, value)  # `val_loss = epoch(net, loader)`, and what that gives back
            if home is source and tree.function(source, made) is not tree.function(source, value):
                yield from _told(source, made, made, f"`{source.code(kept)}` is")
    grown = [one for one in source.all(ast.AugAssign) if tree.loops(source, one)]
    homes = {up for one in grown for up in tree.ancestors(source, one)}
    for given in (one for one in source.all(ast.Return) if tree.function(source, one) in homes) if homes else ():
        if given.value is not None and _bare(source, given.value) is not None and (mean := _dropped(source, given)):
            yield from _told(source, given.value, given, f"`{mean}` is never read, and this returns")


def _logged_behind(source: Source) -> Iterator[Hit]:
    """`writer.add_scalar("val/loss", loss.item(), step)` behind an evaluation that adds its losses up."""
    for call in source.methods("add_scalar", "log", "log_metric", "log_scalar"):
        given = [*call.args, *(one.value for one in call.keywords)]
        given += [value for one in given if isinstance(one, ast.Dict) for value in one.values]
        for one in given:
            bare = follow.peeled(one, tuple(_CASTS))
            name = bare if isinstance(bare, ast.Name) and _LOSS.search(bare.id) else None
            loop = _loop(source, name, call) if name is not None else None
            if name is None or loop is None or not tensors.no_grad_around(source, loop) or _ends(loop):
                continue
            if any(_adds(source, part, name.id) for part in loop.body):
                yield from _told(source, one, one, "this logs")


def _added_behind(source: Source) -> Iterator[Hit]:
    """`running += loss.item()` behind the loop over batches, one step to the left, and `running / len(loader)`."""
    for one in source.all(ast.AugAssign):
        if not isinstance(one.op, ast.Add) or not isinstance(one.target, ast.Name):
            continue
        factors = [one.value.left, one.value.right] if isinstance(one.value, ast.BinOp) else [one.value]
        names = [
            name for part in factors if not isinstance(part, ast.Name) and (name := _bare(source, part)) is not None
        ]
        loop = _loop(source, names[0], one) if names else None
        if loop is None or source.parents[one] is not source.parents[loop] or _ends(loop):
            continue
        over = source.code(iteration.unwrapped(source, loop.iter))
        shares = [node for node in source.all(ast.BinOp) if isinstance(node.op, ast.Div)]
        means = [
            node
            for node in shares
            if tree.dotted(node.left) == one.target.id and f"len({over}" in source.code(node.right)
        ]
        if any(tree.function(source, node) is tree.function(source, one) for node in means):
            told = f"this adds `{names[0].id}` of the last batch of `{over}` alone, and the mean is taken over all"
            yield source.hit(one, f"{told}: put it into the loop")


def _replaced(source: Source) -> Iterator[Hit]:
    """`correct = 0` before the loop, `correct = (...)` in each turn, and only what comes behind the loop reads it."""
    for loop in source.all(ast.For):
        for one in (one for one in loop.body if isinstance(one, ast.Assign)):
            target = one.targets[0]
            if len(one.targets) != 1 or not isinstance(target, ast.Name):
                continue
            others = [use for use in _used(source, loop, target.id) if use is not target]
            behind = [use for use in others if isinstance(use.ctx, ast.Load) and use.lineno > (loop.end_lineno or 0)]
            if not behind or any(tree.inside(source, use, loop) for use in others):
                continue
            bound = {zero.statement for zero in scopes.reaching(source, behind[0])} - {one}
            starts = bool(bound) and all(isinstance(zero, ast.Assign) and _is_zero(zero, target.id) for zero in bound)
            judged = not bound and bool(_equal(one.value)) and tensors.no_grad_around(source, loop)
            if (
                (starts or judged)
                and not tree.under(source, loop, ast.Break)
                and (_batches(source, loop.body[0]) is loop or _adds_beside(source, loop))
                and _is_score(source, one.value)
            ):
                over = source.code(iteration.unwrapped(source, loop.iter))
                how = "begins at 0 and each turn replaces it" if starts else "is set anew in each turn"
                what = "write `+=`" if starts else f"begin with `{target.id} = 0` and write `+=`"
                told = f"`{target.id}` {how}, so the last turn over `{over}` alone counts: {what}"
                yield source.hit(one, told)


def _used(source: Source, loop: ast.For, name: str) -> list[ast.Name]:
    """Where the function around a loop speaks of a name, from the loop on; nothing where nobody reads it behind the loop."""
    here = tree.among(source, uses.names(source, name), tree.function(source, loop))
    later = [one for one in here if one.lineno >= loop.lineno]
    read = any(one.lineno > (loop.end_lineno or 0) and isinstance(one.ctx, ast.Load) for one in later)
    return later if read else []


def _last_scored(source: Source) -> Iterator[Hit]:
    """`preds = logits.argmax(1)` in each turn of an evaluation, and `f1(preds, labels)` behind the loop."""
    cuts = [one for one in source.all(ast.Compare) if isinstance(one.ops[0], ast.Gt | ast.GtE)]
    called = (*source.methods("argmax", "max", "round"), *source.calls("torch.argmax", "torch.max", "torch.round"))
    for one in (*called, *cuts):
        held = tree.statement(source, one)
        loop = source.parents[held] if isinstance(held, ast.Assign) else None
        if not isinstance(held, ast.Assign) or not isinstance(loop, ast.For) or held not in loop.body:
            continue
        if len(held.targets) != 1 or tree.loops(source, one)[:1] != [loop]:
            continue
        target = held.targets[0].elts[-1] if isinstance(held.targets[0], ast.Tuple) else held.targets[0]
        if not isinstance(target, ast.Name):
            continue
        named = _used(source, loop, target.id)
        behind = [use for use in named if isinstance(use.ctx, ast.Load) and use.lineno > (loop.end_lineno or 0)]
        scored = any(_is_scored(source, use) for use in behind)
        if not scored or any(use is not target and tree.inside(source, use, loop) for use in named):
            continue
        new = all([at.statement for at in scopes.reaching(source, use)] == [held] for use in behind)
        ends = tree.under(source, loop, ast.Break, ast.Return)
        trains = any(follow.method(at) in ("backward", "step") for at in tree.under(source, loop, ast.Call))
        if new and not ends and not trains and _batches(source, held) is loop:
            over = source.code(iteration.unwrapped(source, loop.iter))
            told = f"each turn replaces `{target.id}`, so the score is that of the last batch of `{over}`"
            yield source.hit(held, f"{told}: append to a list and `torch.cat` it behind the loop")


def _is_scored(source: Source, use: ast.Name) -> bool:
    """`f1(preds, labels)`, `preds == labels`, `accuracy_score(labels, preds.cpu())`."""
    up: ast.AST = source.parents[use]
    while isinstance(up, ast.Attribute) or (isinstance(up, ast.Call) and follow.method(up) in _CASTS):
        up = source.parents[up]
    equal = isinstance(up, ast.Compare) and isinstance(up.ops[0], ast.Eq)
    return equal or (isinstance(up, ast.Call) and _SCORES.search(tree.dotted(up.func).rpartition(".")[2]) is not None)


def _restarted(source: Source) -> Iterator[Hit]:
    """`losses = []` or `correct = 0` in each turn of the loop over batches that adds to it once, read behind the loop only."""
    for loop in source.all(ast.For):
        for start in (one for one in loop.body if isinstance(one, ast.Assign)):
            for name in _emptied(start):
                later = [use for use in _used(source, loop, name) if use.lineno > start.lineno]
                inside = [use for use in later if tree.inside(source, use, loop)]
                behind = [use for use in later if use.lineno > (loop.end_lineno or 0) and isinstance(use.ctx, ast.Load)]
                grown = [use for use in inside if _grows(source, use) and tree.loops(source, use)[:1] == [loop]]
                if len(grown) != 1 or len(inside) != 1:
                    continue
                here = [use for use in behind if start in {one.statement for one in scopes.reaching(source, use)}]
                ends = any(isinstance(at, ast.Break | ast.Return) for at in loop.body)
                if here and not ends and _batches(source, loop.body[0]) is loop:
                    over = source.code(iteration.unwrapped(source, loop.iter))
                    told = f"each turn empties `{name}`, so the last batch of `{over}` alone counts: start it before the loop"
                    yield source.hit(start, told)


def _emptied(start: ast.Assign) -> list[str]:
    """The names that a statement makes empty: `losses = []`, `a, b = 0, 0`, `a = b = 0.0`."""
    if not isinstance(start.value, ast.List | ast.Constant | ast.Tuple):
        return []
    pairs = [(one, start.value) for one in start.targets if isinstance(one, ast.Name)]
    if isinstance(start.targets[0], ast.Tuple) and isinstance(start.value, ast.Tuple):
        pairs = [pair for pair in zip(start.targets[0].elts, start.value.elts, strict=False) if _named(pair[0])]  # type: ignore[misc]  # names
    return [name.id for name, value in pairs if _is_empty(value)]


def _named(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def _is_empty(value: ast.expr) -> bool:
    nothing = isinstance(value, ast.List) and not value.elts
    return nothing or (isinstance(value, ast.Constant) and value.value.__class__ in (int, float) and not value.value)


def _grows(source: Source, use: ast.Name) -> bool:
    """`x += ...`, `x.append(...)`."""
    up = source.parents[use]
    call = source.parents.get(up)
    added = isinstance(up, ast.Attribute) and up.attr in ("append", "extend") and isinstance(call, ast.Call)
    return added or (isinstance(up, ast.AugAssign) and isinstance(up.op, ast.Add) and up.target is use)


def _adds_beside(source: Source, loop: ast.For) -> bool:
    """`for i in range(steps):` that adds another sum up in each turn, and trains nothing: its turns belong together."""
    if (
        not isinstance(loop.iter, ast.Call)
        or source.name(loop.iter.func) != "range"
        or "epoch" in source.code(loop.iter)
    ):
        return False
    inside = {follow.method(one) for one in tree.under(source, loop, ast.Call)}
    home = tree.function(source, loop) or source.tree
    starts = [one for one in tree.under(source, home, ast.Assign) if one.lineno < loop.lineno]
    added = {one.target.id for one in loop.body if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)}
    sums = any(_is_zero(one, name) for one in starts for name in added)
    return sums and "sum" in inside and not inside & {"backward", "step", "mean"}


def _is_zero(statement: ast.Assign, name: str) -> bool:
    """Whether a statement sets a name to 0: `a = b = 0`, `a, b = 0, 0.0`."""
    for target in statement.targets:
        if isinstance(target, ast.Name) and target.id == name:
            return tree.literal(statement.value) in (0, 0.0)
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            pairs = zip(target.elts, statement.value.elts, strict=False)
            return any(
                isinstance(one, ast.Name) and one.id == name and tree.literal(value) in (0, 0.0) for one, value in pairs
            )
    return False


def _is_score(source: Source, value: ast.expr) -> bool:
    """The number of right answers of a batch, or its loss, or its size beside one of them."""
    return _is_answer(source, value) or _is_size(source, value)


def _is_answer(source: Source, value: ast.expr) -> bool:
    parts = list(ast.walk(value))
    counted = _equal(value) and any(follow.method(one) in ("sum", "mean", "item") for one in parts)
    kinds = (values.kind(source, one.func) for one in parts if isinstance(one, ast.Call) and not source.name(one.func))
    loss = any(isinstance(one, ast.Call) and source.name(one.func) in api.LOSS_FUNCTIONS for one in parts)
    return counted or loss or any("loss" in kind for kind in kinds)


def _is_size(source: Source, value: ast.expr) -> bool:
    """`y.size(0)`, `len(y)` and `y.shape[0]` of what the loop hands out, beside a tally of right answers."""
    first = (
        isinstance(value, ast.Call)
        and follow.method(value) == "size"
        and [tree.literal(one) for one in value.args] == [0]
    )
    length = isinstance(value, ast.Call) and source.name(value.func) == "len" and len(value.args) == 1
    shape = (
        isinstance(value, ast.Subscript)
        and tree.literal(value.slice) == 0
        and source.code(value.value).endswith(".shape")
    )
    loop = next(iter(tree.loops(source, value)), None)
    adds = [one for one in ast.walk(loop) if isinstance(one, ast.AugAssign)] if loop is not None else []
    return (first or length or shape) and any(_is_answer(source, one.value) for one in adds)


def _equal(value: ast.expr) -> bool:
    """Whether answers are compared with labels in it."""
    parts = list(ast.walk(value))
    equal = any(isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.Eq) for one in parts)
    return equal or any(follow.method(one) == "eq" for one in parts)


def _waits(source: Source, call: ast.Call) -> bool:
    """Whether this is a plateau's step: made so, called so, or a scheduler that is given a loss."""
    scheduler = tree.receiver(call)
    if values.made_by(source, scheduler, "torch.optim.lr_scheduler.ReduceLROnPlateau") is not None:
        return True
    name = tree.dotted(scheduler).lower()
    return _STOPPER.search(name) is not None or ("sched" in name and "loss" in source.code(call.args[0]))


def _kept(choice: ast.If) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`best_loss` and `loss` of `if loss < best_loss: best_loss = loss`."""
    sides = [choice.test.left, *choice.test.comparators] if isinstance(choice.test, ast.Compare) else []
    compared = {tree.dotted(one) for one in sides}
    for one in choice.body:
        kept = one.targets[0] if isinstance(one, ast.Assign) else None
        name = tree.dotted(kept) if kept is not None else ""
        if isinstance(one, ast.Assign) and kept is not None and name in compared and "best" in name.lower():
            yield kept, one.value


def _told(source: Source, given: ast.expr, where: ast.AST, what: str) -> Iterator[Hit]:
    name = _bare(source, given)
    loop = _loop(source, name, where) if name is not None else None
    if name is not None and loop is not None:
        over = source.code(iteration.unwrapped(source, loop.iter))
        yield source.hit(
            where, f"{what} `{name.id}` of the last batch of `{over}`: add up over the loop and take the mean"
        )


def _bare(source: Source, node: ast.expr, hops: int = 3) -> ast.Name | None:
    """`loss` of `loss.item()`, `float(loss)`, and of a name for one of these."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CASTS:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        elif isinstance(node, ast.Call) and tree.dotted(node.func) == "float" and len(node.args) == 1:
            node = node.args[0]
        else:
            break
    if not isinstance(node, ast.Name):
        return None
    if _LOSS.search(node.id) and not tree.loops(source, node):
        return node
    value = follow.binding(source, node) if hops else None
    again = _bare(source, value, hops - 1) if value is not None else None
    return again or (node if _LOSS.search(node.id) else None)


def _loop(source: Source, name: ast.Name, where: ast.AST) -> ast.For | None:
    """The loop over batches behind which the name is read, where each turn gives it a new value and none adds to it."""
    bound = [one for one in scopes.reaching(source, name) if not isinstance(one.value, ast.Constant)]
    if not bound or any(
        one.how != "assign" or one.path or not isinstance(one.value, ast.Call | ast.BinOp) for one in bound
    ):
        return None
    found = {_batches(source, one.statement) for one in bound}
    loop = found.pop() if len(found) == 1 else None
    if loop is None or tree.inside(source, where, loop) or tree.inside(source, name, loop):
        return None
    own = any(
        isinstance(part, ast.Name) and part.id == name.id for one in bound for part in ast.walk(one.value or loop)
    )
    return None if own or any(isinstance(one.op, ast.Div) for b in bound for one in _operations(b.value)) else loop


def _operations(value: ast.expr | None) -> list[ast.BinOp]:
    return [one for one in ast.walk(value) if isinstance(one, ast.BinOp)] if value is not None else []


def _batches(source: Source, statement: ast.AST) -> ast.For | None:
    around = tree.loops(source, statement)
    loop = around[0] if around else None
    if not isinstance(loop, ast.For):
        return None
    over = iteration.unwrapped(source, loop.iter)
    named = _BATCHES.search(tree.dotted(over.func if isinstance(over, ast.Call) else over)) is not None
    return loop if named or values.sure(source, over, "loader", weak=True) else None


def _dropped(source: Source, returned: ast.Return) -> str:
    """A sum over the loop that is divided in this function and never read again."""
    home = tree.function(source, returned)
    plain = tree.under(source, home, ast.Assign) if home is not None else []
    short = tree.under(source, home, ast.AugAssign) if home is not None else []
    found = [(one, one.targets[0], one.value) for one in plain] + [(one, one.target, one) for one in short]
    for one, target, divided in found:
        if not isinstance(target, ast.Name) or not isinstance(getattr(divided, "op", None), ast.Div):
            continue
        uses = [use for use in tree.under(source, home or source.tree, ast.Name) if use.id == target.id]
        added = any(isinstance(source.parents[use], ast.AugAssign) and tree.loops(source, use) for use in uses)
        later = any(isinstance(use.ctx, ast.Load) and use.lineno > one.lineno for use in uses)
        if added and not later and not tree.loops(source, one) and not follow.exclusive(source, one, returned):
            return target.id
    return ""


def _last_returned(source: Source) -> Iterator[Hit]:
    """`return total / n, acc` where the loop adds up `acc` of each batch too, and this is that of the last."""
    for given in source.all(ast.Return):
        for part in given.value.elts if isinstance(given.value, ast.Tuple) else ():
            name = _bare_name(part)
            bound = scopes.reaching(source, name) if name is not None and _SCORE.search(name.id) else []
            loop = _own_loop(source, bound[0].node) if len(bound) == 1 and bound[0].node is not None else None
            if name is None or loop is None or tree.inside(source, given, loop) or _ends(loop):
                continue
            if any(_adds(source, one, name.id) for one in loop.body):
                told = f"`{name.id}` is that of the last batch alone, though the loop adds up all of them: return their mean"
                yield source.hit(part, told)


def _bare_name(node: ast.expr) -> ast.Name | None:
    """`acc` of `acc`, `acc.item()` and `float(acc)`."""
    if isinstance(node, ast.Call) and tree.dotted(node.func) == "float" and len(node.args) == 1:
        node = node.args[0]
    node = follow.peeled(node, tuple(_CASTS))
    return node if isinstance(node, ast.Name) else None


def _own_loop(source: Source, node: ast.AST) -> ast.For | None:
    around = tree.loops(source, node)
    return around[0] if around and isinstance(around[0], ast.For) else None


def _ends(loop: ast.For) -> bool:
    return any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(loop))


def _adds(source: Source, statement: ast.stmt, name: str) -> bool:
    """`totals.append(... acc ...)` or `total += ... acc ...`."""
    value: ast.expr | None = statement.value if isinstance(statement, ast.AugAssign) else None
    if isinstance(statement, ast.Expr) and follow.method(statement.value) == "append":
        value = statement.value
    target = source.code(statement.target) if isinstance(statement, ast.AugAssign) else ""
    return (
        value is not None
        and target != name
        and any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(value))
    )

"""The rule of decay-compounds."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, frameworks, tree, uses, values
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_COUNTER = re.compile(r"^(epoch|ep|e|step|steps|it|iter|iters|iteration|i|t|i_iter|cur_iter|cur_step|cur_epoch|current_step|current_epoch|"
                      r"global_step|n_iter|num_iter|i_epoch|epoch_idx|epoch_num|curr_epoch|curr_iter)$")  # fmt: skip

WORDS = ("MultiplicativeLR|lr", "MultiplicativeLR|*param_groups*")


def find(source: Source) -> Iterator[Hit]:
    yield from _multiplied(source)
    if "param_groups" not in source.text:
        return
    writes: list[ast.AugAssign | ast.Assign] = [*source.all(ast.AugAssign), *source.all(ast.Assign)]
    for one in writes:
        target = one.target if isinstance(one, ast.AugAssign) else one.targets[0]
        if not (isinstance(target, ast.Subscript) and tree.literal(target.slice) == "lr"):
            continue
        yield from _overwrites(source, one) if isinstance(one, ast.Assign) else ()
        factor = _factor(source, one, target)
        factor = follow.followed(source, factor) if factor is not None else None
        for site in _every_batch(source, one) if factor is not None else ():
            yield source.hit(
                site,
                "the rate is multiplied again in every batch of this epoch: do it once, before the loop over batches",
            )
        if factor is not None and _counts(source, factor):
            code = source.code(factor)
            yield source.hit(one, f"`{code}` is the share of the first rate and is multiplied onto the last one, so it compounds: multiply "
                             "the first rate")  # fmt: skip


def _multiplied(source: Source) -> Iterator[Hit]:
    """`MultiplicativeLR(optimizer, lambda epoch: 0.95 ** epoch)`: its factor is for the last rate, not for the first one."""
    for call in source.calls("torch.optim.lr_scheduler.MultiplicativeLR"):
        rule = tree.argument(call, 1, "lr_lambda")
        named = [one for one in flow.functions(source) if isinstance(rule, ast.Name) and one.name == rule.id]
        bodies = [rule.body] if isinstance(rule, ast.Lambda) else []
        bodies += [part for one in named for part in calls.returned(as_function(source, one))]
        counters = {one.arg for made in (rule, *named) if isinstance(made, ast.Lambda | ast.FunctionDef) for one in tree.parameters(made)}  # fmt: skip
        powers = [part for body in bodies for part in ast.walk(body) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow)]  # fmt: skip
        for power in powers:
            if tree.dotted(power.right) in counters:
                code = source.code(power)
                told = f"`{code}` is the share of the first rate, and `MultiplicativeLR` multiplies the last one with it, so it compounds: give it to `LambdaLR`"
                yield source.hit(power, told)


def _overwrites(source: Source, write: ast.Assign) -> Iterator[Hit]:
    """`group["lr"] = rate` in every epoch in which a scheduler steps too."""
    if "sched" in source.code(follow.followed(source, write.value)).lower() or "lr_scheduler" not in source.text:
        return  # it is the scheduler's own rate
    home = tree.function(source, write)
    sites: list[ast.AST] = [write]
    if home is not None and not tree.conditions(source, write):
        sites += [call for caller, call, _ in calls.callers(as_function(source, home)) if caller is source]
    for site in sites:
        if (outer := _stepped_outside(source, site)) is not None and not frameworks.owned(source, site):
            told = f"this sets the rate in every batch, and nothing is left of what the scheduler of line {outer.lineno} makes of it"
            yield source.hit(site, f"{told}: leave one of them out", severity="warning")
            return
        for loop in flow.backward_loops(source):
            around = [
                one for one in tree.loops(source, site) if "param_groups" not in source.code(getattr(one, "iter", one))
            ]
            steps = [one for one in loop.direct("schedule") if not one.conditions and one.source is source]
            if (
                around[:1] != [loop.node]
                or tree.conditions(source, site)
                or not steps
                or frameworks.owned(source, site)
            ):
                continue
            optimizers = [name for _, name in uses.calls_under(source, "torch.optim.") if "lr_scheduler" not in name]
            if len(optimizers) == 1:
                told = f"this sets the rate in every turn, and line {getattr(steps[0].at, 'lineno', 0)} steps a scheduler that sets it too"
                yield source.hit(site, f"{told}: leave one of them out", severity="warning")
                return


def _stepped_outside(source: Source, site: ast.AST) -> ast.Call | None:
    """`scheduler.step()` behind the loop over batches in which the rate is set each time, of the file's one optimizer."""
    batches = [one for one in tree.loops(source, site) if "param_groups" not in source.code(getattr(one, "iter", one))]
    made = [name for _, name in uses.calls_under(source, "torch.optim.") if "lr_scheduler" not in name]
    trains = (
        any(one.node is batches[0] and one.direct("step") for one in flow.backward_loops(source)) if batches else False
    )
    if not trains or len(made) != 1 or tree.conditions(source, site):
        return None
    for call in source.methods("step"):
        home = tree.function(source, call) is tree.function(source, site)
        behind = home and tree.loops(source, call) == tree.loops(source, batches[0]) and call.lineno > batches[0].lineno
        if behind and not tree.conditions(source, call) and values.sure(source, tree.receiver(call), "scheduler"):
            return call
    return None


def _every_batch(source: Source, write: ast.AST) -> Iterator[ast.AST]:
    """Where the rate is cut in a loop over batches under a test of the epoch alone: the write, or the call of its function."""
    home = tree.function(source, write)
    sites: list[ast.AST] = [write]
    if home is not None:
        sites += [call for caller, call, _ in calls.callers(as_function(source, home)) if caller is source]
    for site in sites:
        around = [
            one for one in tree.loops(source, site) if "param_groups" not in source.code(getattr(one, "iter", one))
        ]
        if len(around) != 2 or not all(isinstance(one, ast.For) for one in around):
            continue
        batches, epochs = around
        tests = [test for test, _ in tree.conditions(source, site) if tree.inside(source, test, batches)]
        names = {one.id for test in tests for one in ast.walk(test) if isinstance(one, ast.Name)}
        changed = {one.id for one in ast.walk(batches) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        counters = {one.id for one in ast.walk(getattr(epochs, "target", epochs)) if isinstance(one, ast.Name)}
        if tests and names & counters and not names & changed and any(one for one in source.methods("backward")):
            yield site


def _factor(source: Source, one: ast.AugAssign | ast.Assign, target: ast.Subscript) -> ast.expr | None:
    """What the current rate is multiplied by."""
    if isinstance(one, ast.AugAssign):
        return one.value if isinstance(one.op, ast.Mult) else None
    value = one.value
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
        return None
    for rate, factor in ((value.left, value.right), (value.right, value.left)):
        if source.code(rate) == source.code(target):
            return factor
    return None


def _counts(source: Source, factor: ast.expr) -> bool:
    """Whether the factor is made of a plain counter: a power of it, `1 - i / n`, a cosine."""
    if any(
        isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and _is_counter(one.left) for one in ast.walk(factor)
    ):
        return False  # how long ago the last time was
    powers = [one for one in ast.walk(factor) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Pow)]
    curves = [one for one in ast.walk(factor) if isinstance(one, ast.Call) and source.name(one.func) in _CURVES]
    parts = [
        *(part for one in powers for part in (one.left, one.right)),
        *(part for one in curves for part in one.args),
    ]
    subs = (one for one in ast.walk(factor) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub))
    shares = (one.right for one in subs if tree.literal(one.left) == 1 and isinstance(one.right, ast.BinOp))
    parts += [one.left for one in shares if isinstance(one.op, ast.Div)]
    return any(_is_counter(name) or _walked(source, name) for part in parts for name in ast.walk(part))


def _walked(source: Source, node: ast.AST) -> bool:
    """Whether a loop around it counts with this name."""
    loops = (one for one in tree.loops(source, node) if isinstance(one, ast.For)) if isinstance(node, ast.Name) else ()
    ranges = (one for one in loops if isinstance(one.iter, ast.Call) and source.name(one.iter.func) == "range")
    return any(tree.dotted(one.target) == tree.dotted(node) for one in ranges)


def _is_counter(node: ast.AST) -> bool:
    return bool(_COUNTER.match(tree.dotted(node).rpartition(".")[2]))


_CURVES = ("math.cos", "math.exp", "numpy.cos", "numpy.exp", "math.pow", "pow")

"""The rule of metric-not-reset."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, flow, follow, frameworks, iteration, scopes, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.project import Class, as_function
from torchlore.check.source import Hit, Source

_EPOCH = regex(r"^(ep|e|_?epoch\w*|\w*_epoch)$")

_VALID = regex(r"val|test|eval", re.IGNORECASE)
_ENDS = regex(r"(on_)?(train|training|validation)_epoch_end$")
_MEANS = ("numpy.mean", "numpy.average", "statistics.mean")
_HOOKS = {("validation_step", "on_validation_epoch_end"), ("test_step", "on_test_epoch_end")}  # of Lightning
WORDS = ("*epoch*|e|ep|compute",)


def find(source: Source) -> Iterator[Hit]:
    for outer in source.all(ast.For):
        if _EPOCH.match(tree.dotted(outer.target)) or "epoch" in source.code(outer.iter).lower():
            yield from _sums(source, outer)
            yield from (*_objects(source, outer), *_growing(source, outer))
    yield from (*_lists(source), *_shared(source))
    for compute in source.methods("compute") if "torchmetrics" in source.text else ():
        metric, loops = tree.receiver(compute), tree.loops(source, compute)
        if not loops:
            yield from (*_by_function(source, compute), *_by_hook(source, compute))
        name, home = tree.dotted(metric), tree.function(source, compute)
        if (
            not loops
            or not isinstance(metric, ast.Name)
            or not _is_metric(source, metric)
            or frameworks.owned(source, compute)
        ):
            continue
        made = scopes.reaching(source, metric)
        outside = bool(made) and not any(tree.inside(source, one.statement, loops[-1]) for one in made)
        same = [
            one for one in source.methods("update", "reset", "forward") if tree.function(source, one) in (home, None)
        ]
        around = [one for one in same if tree.dotted(tree.receiver(one)) == name]
        fed = [one for one in around if one.func.attr == "update" and tree.function(source, one) is home]  # type: ignore[attr-defined]  # a method
        deeper = any(len(tree.loops(source, one)) > len(loops) and _is_evaluation(source, one) for one in fed)
        spread = any(
            not isinstance(source.parents[one], ast.Attribute)
            for one in uses.names(source, name)
            if isinstance(one.ctx, ast.Load)
        )
        if outside and deeper and not spread and not any(one.func.attr == "reset" for one in around):  # type: ignore[attr-defined]  # a method
            yield source.hit(compute, f"`{name}` still holds the epochs before: call `{name}.reset()` after this line")


def _shared(source: Source) -> Iterator[Hit]:
    """`self.acc.update(...)` in `training_step` and in `validation_step`: Lightning validates before the epoch ends, so both count in it."""
    for cls in classes.all_classes(source) if "torchmetrics" in source.text else ():
        steps = [classes.methods(cls).get(name) for name in ("training_step", "validation_step")]
        fed = [_fed(source, step) if step is not None else {} for step in steps]
        for name in fed[0].keys() & fed[1].keys():
            place = fed[1][name]
            inside = tree.under(source, cls.node, ast.Call)
            read = [one for one in inside if tree.dotted(one.func) == f"{name}.compute"]
            given = [one.args[1] for one in inside if follow.method(one) == "log" and len(one.args) > 1]
            logged = [one for one in given if isinstance(one, ast.Attribute) and tree.dotted(one) == name]
            if (read or len(logged) > 1) and _is_metric(
                source, tree.receiver(place) if follow.method(place) == "update" else place.func
            ):
                told = f"`{name}` counts the training batches as well, for the validation runs before the epoch's end"
                yield source.hit(place, f"{told}: make one for each", severity="warning")


def _fed(source: Source, step: tree.FunctionNode) -> dict[str, ast.Call]:
    """The metrics of `self` that a step calls or updates."""
    found: dict[str, ast.Call] = {}
    for call in tree.under(source, step, ast.Call):
        name = tree.dotted(call.func).removesuffix(".update")
        if name.startswith("self.") and name.count(".") == 1:
            found[name] = call
    return found


def _by_function(source: Source, compute: ast.Call) -> Iterator[Hit]:
    """A function, called in every epoch, that feeds a metric which was there before and nobody empties."""
    metric, home = tree.receiver(compute), tree.function(source, compute)
    name = tree.dotted(metric)
    if home is None or not name or any(source.methods("reset")) or frameworks.owned(source, compute):
        return
    fed = [one for one in tree.under(source, home, ast.Call) if tree.dotted(one.func) in (name, f"{name}.update")]
    turns = [call for other, call, _ in calls.callers(as_function(source, home)) if other is source]
    epochs = [up for call in turns for up in tree.loops(source, call)]
    if not epochs or not any(tree.loops(source, one) and one.lineno < compute.lineno for one in fed):
        return
    held = _given(source, turns, home, name) if isinstance(metric, ast.Name) else []
    there = bool(held) and all(_is_metric(source, one) and not _made_in(source, one, epochs) for one in held)
    if there or (name.startswith("self.") and _is_metric(source, metric)):
        yield source.hit(compute, f"`{name}` still holds the epochs before: call `{name}.reset()` after this line")


def _by_hook(source: Source, compute: ast.Call) -> Iterator[Hit]:
    """`self.log("acc", self.acc.compute())` at the end of an epoch of Lightning, which empties only metrics that it is handed."""
    metric, home = tree.receiver(compute), tree.function(source, compute)
    name = tree.dotted(metric)
    ends = home is not None and _ENDS.match(home.name) is not None
    if (
        not ends
        or not name.startswith("self.")
        or any(source.methods("reset"))
        or not frameworks.owned(source, compute)
    ):
        return
    given = [
        one for call in source.methods("log", "log_dict") for one in (*call.args, *(kw.value for kw in call.keywords))
    ]
    handed = any(tree.dotted(part) == name for one in given for part in (*getattr(one, "values", ()), one))
    cls = tree.class_of(source, compute) or source.tree
    fed = any(tree.dotted(one.func) in (name, f"{name}.update") for one in tree.under(source, cls, ast.Call))
    if fed and not handed and _is_metric(source, metric):
        yield source.hit(compute, f"`{name}` still holds the epochs before: call `{name}.reset()` after this line")


def _given(source: Source, turns: list[ast.Call], home: tree.FunctionNode, name: str) -> list[ast.Name]:
    """What the callers give for the metric, where it is a parameter."""
    function = as_function(source, home)
    own = [one for one in tree.parameters(home) if one.arg == name]
    found = (
        [calls.given_argument(function, call, own[0], 0) for call in turns] if own and function.owner is None else []
    )
    return (
        [one for one in found if isinstance(one, ast.Name)] if all(isinstance(one, ast.Name) for one in found) else []
    )


def _made_in(source: Source, name: ast.Name, loops: list[tree.Loop]) -> bool:
    bound = scopes.reaching(source, name)
    return not bound or any(tree.inside(source, one.statement, loop) for one in bound for loop in loops)


def _sums(source: Source, outer: ast.For) -> Iterator[Hit]:
    """Sums over batches that start before the epochs, are never set to zero again, and are divided as if they were."""
    plain = [inner for one in outer.body for inner in (one.body if isinstance(one, ast.With) else [one])]
    for inner in (one for one in plain if isinstance(one, ast.For)):
        over = source.code(iteration.unwrapped(source, inner.iter))
        stale = {name for name in _added(source, inner) if not _starts(source, name, outer)}
        for one in tree.under(source, outer, ast.BinOp) if stale else ():
            if (
                not isinstance(one.op, ast.Div)
                or tree.inside(source, one, inner)
                or tree.loops(source, one)[:1] != [outer]
            ):
                continue
            above = {part.id for part in ast.walk(one.left) if isinstance(part, ast.Name)} & stale
            counts = (
                source.code(one.right) in (f"len({over})", f"len({over}.dataset)") or tree.dotted(one.right) in stale
            )
            steps = re.search(r"(^|_)(steps?|iters?|iterations?)$", tree.dotted(one.right))  # a mean since the start
            if above and counts and not steps and not _mentions(source, one, outer):
                name = min(above)
                told = f"`{name}` starts once for all epochs, so line {one.lineno} still counts those before: set it to 0 at the start of each epoch"
                yield source.hit(_begun(source, name, outer) or one, told)
                stale -= above


def _growing(source: Source, outer: ast.For) -> Iterator[Hit]:
    """`losses.append(loss.item())` for each batch and `curve.append(np.mean(losses))` for each epoch, where `losses = []` stands above both."""
    told = set[str]()
    for mean in tree.under(source, outer, ast.Call):
        given = mean.args[0] if len(mean.args) == 1 and source.name(mean.func) in _MEANS else None
        if not isinstance(given, ast.Name) or tree.loops(source, mean)[:1] != [outer] or given.id in told:
            continue
        used = [one for one in uses.names(source, given.id) if tree.inside(source, one, outer)]
        ups = {one: source.parents[one] for one in used}
        read = [one for one, up in ups.items() if isinstance(up, ast.Call) and source.name(up.func) in _MEANS]
        grown = [one for one in used if getattr(ups[one], "attr", "") == "append"]
        deep = grown and all(tree.loops(source, one)[:1] != [outer] and one.lineno < mean.lineno for one in grown)
        plain = len(read) + len(grown) == len(used) and follow.method(source.parents[mean]) == "append"
        if deep and plain and _is_empty_above(source, given, outer):
            told.add(given.id)
            mend = f"write `{given.id} = []` at the start of each epoch"
            yield source.hit(
                mean, f"`{given.id}` starts once for all epochs, so this is the mean of all batches since then: {mend}"
            )


def _is_empty_above(source: Source, name: ast.Name, outer: ast.For) -> bool:
    """Whether a list begins empty before the epochs, and nowhere else."""
    made = [one for one in scopes.reaching(source, name) if one.how == "assign"]
    begun = scopes.part(made[0]) if len(made) == 1 else None
    above = begun is not None and not tree.inside(source, begun, outer) and len(_set(source, name.id, outer)) == 1
    return above and isinstance(begun, ast.List) and not begun.elts and not tree.loops(source, begun)


def _objects(source: Source, outer: ast.For) -> Iterator[Hit]:
    """An object of a class of this file that adds up in an evaluation, made before the epochs and never emptied."""
    home = tree.function(source, outer)
    for made in tree.under(source, home or source.tree, ast.Assign):
        name = made.targets[0]
        beside = made.lineno < outer.lineno and not tree.loops(source, made) and tree.function(source, made) is home
        owner = source.project.resolve(source, made.value.func) if beside and isinstance(made.value, ast.Call) else None
        if not isinstance(name, ast.Name) or not isinstance(owner, Class) or owner.source is not source:
            continue
        adding = _adding(owner)
        read = _read_behind(source, outer, name.id, set().union(*adding.values())) if adding else None
        if read is None or _is_emptied(source, outer, name.id, owner, adding):
            continue
        empty = next((one for one in ("reset", "clear") if one in classes.methods(owner)), "")
        mend = f"call `{name.id}.{empty}()` first" if empty else f"make a new `{name.id}` at the start"
        yield source.hit(read, f"`{name.id}` still holds the epochs before: {mend} in each epoch")


def _lists(source: Source) -> Iterator[Hit]:
    """`self.outputs.append(loss)` for each batch of an evaluation, averaged at its end by another method, and never emptied."""
    for cls in classes.all_classes(source) if ".append(" in source.text else ():
        for name, assigned in classes.own_attributes(cls).items():
            made = assigned[0].value if len(assigned) == 1 and assigned[0].method == "__init__" else None
            if not isinstance(made, ast.List) or made.elts:
                continue
            every = [one for one in uses.attributes(source, name) if isinstance(one.ctx, ast.Load)]
            used = [one for one in every if tree.inside(source, one, cls.node)]
            if any(one not in used and tree.dotted(one) != f"self.{name}" for one in every):
                continue  # somebody outside may empty it
            grown = [one for one in used if getattr(source.parents[one], "attr", "") == "append"]
            means = [one for one in used if one not in grown]
            if not grown or not means or not all(_is_read(source, one) for one in means):
                continue
            first, last = ({tree.function(source, one) for one in group} for group in (grown, means))
            adds, reads = (group.pop() if len(group) == 1 else None for group in (first, last))
            if adds is None or reads is None:
                continue
            turns = _behind(source, grown, means) if adds is reads else _in_turns(source, adds.name, reads.name)
            if not turns:
                continue
            if _VALID.search(f"{name} {adds.name}"):
                where = f"at the end of `{reads.name}`" if adds is not reads else "before the loop"
                told = f"`self.{name}` still holds the epochs before: call `self.{name}.clear()` {where}"
                yield source.hit(means[0], told)


def _is_read(source: Source, use: ast.expr) -> bool:
    """`sum(x) / len(x)`, `np.mean(x)`, `torch.stack(x).mean()`, `[one["loss"] for one in x]`: all of it, to look at."""
    up = source.parents[use]
    walked = isinstance(up, ast.comprehension) and up.iter is use
    names = ("sum", "len", "numpy.mean", "statistics.mean", "torch.stack", "torch.cat", "torch.tensor", "torch.mean")
    return walked or (isinstance(up, ast.Call) and source.name(up.func) in names)


def _behind(source: Source, grown: list[ast.Attribute], means: list[ast.Attribute]) -> bool:
    """Whether one method adds in its loop over batches and reads behind that, once in each epoch of its caller."""
    home, loop = tree.function(source, grown[0]), tree.loops(source, grown[0])[-1:]
    after = bool(loop) and all(not tree.loops(source, one) and one.lineno > grown[-1].lineno for one in means)
    ends = source.methods(home.name) if home is not None and after and isinstance(loop[0], ast.For) else []
    outer = [one for end in ends for one in tree.loops(source, end) if isinstance(one, ast.For)]
    return any("epoch" in (source.code(one.target) + source.code(one.iter)).lower() for one in outer)


def _in_turns(source: Source, adds: str, reads: str) -> bool:
    """Whether one method is called for each batch within the epoch whose end calls the other, or Lightning does so."""
    if (adds, reads) in _HOOKS:
        return True
    for end in source.methods(reads):
        outer = next((one for one in tree.loops(source, end) if isinstance(one, ast.For)), None)
        if outer is not None and "epoch" in (source.code(outer.target) + source.code(outer.iter)).lower():
            inner = [one for one in source.methods(adds) if tree.inside(source, one, outer)]
            if inner and all(tree.loops(source, one)[:1] != [outer] for one in inner):
                return True
    return False


def _adding(owner: Class) -> dict[str, set[str]]:
    """The attributes that methods of a class add to, each with those methods; nothing of a network."""
    found: dict[str, set[str]] = {}
    for name, method in classes.methods(owner).items() if not classes.is_module(owner) else ():
        for one in ast.walk(method):
            if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add):
                target = tree.dotted(one.target)
                if target.startswith("self."):
                    found.setdefault(target.removeprefix("self."), set()).add(name)
    return found


def _places(source: Source, outer: ast.For, name: str) -> list[tuple[ast.AST, str]]:
    """Where the object is used and what it is called there: the loop over epochs, and the functions it is handed to in it."""
    found: list[tuple[ast.AST, str]] = [(outer, name)]
    for call in tree.under(source, outer, ast.Call):
        index = next((i for i, one in enumerate(call.args) if tree.dotted(one) == name), None)
        inner = flow.called(source, call) if index is not None else None
        taken = tree.parameters(inner.node)[1 if inner.owner else 0 :] if inner is not None else []
        if inner is not None and inner.source is source and index is not None and index < len(taken):
            found.append((inner.node, taken[index].arg))
    return found


def _read_behind(source: Source, outer: ast.For, name: str, adding: set[str]) -> ast.AST | None:
    """Where the object is read behind an evaluating loop that fed it."""
    for place, held in _places(source, outer, name):
        used = [one for one in tree.under(source, place, ast.Attribute) if tree.dotted(one.value) == held]
        fed = [one for one in used if one.attr in adding and isinstance(source.parents[one], ast.Call)]
        around = [tree.loops(source, one)[:1] for one in fed if _is_evaluation(source, one) or _evaluates(source, one)]
        last = max((getattr(up, "end_lineno", 0) for ups in around for up in ups if up is not outer), default=0)
        read = [one for one in used if one.attr not in adding and last and one.lineno > last]
        if read:
            return read[0]
    return None


def _evaluates(source: Source, node: ast.AST) -> bool:
    """Whether the function around it switches to evaluation and trains nothing."""
    home = tree.function(source, node)
    inside = {follow.method(one) for one in tree.under(source, home, ast.Call)} if home is not None else set()
    return "eval" in inside and "backward" not in inside


def _is_emptied(source: Source, outer: ast.For, name: str, owner: Class, adding: dict[str, set[str]]) -> bool:
    """Whether a method that sets what was added up is called from outside, or the file sets it or the object anew."""
    stores = [one for one in source.all(ast.Attribute) if isinstance(one.ctx, ast.Store) and one.attr in adding]
    setting = {
        method
        for method, node in classes.methods(owner).items()
        if any(tree.inside(source, one, node) and method not in adding[one.attr] for one in stores)
    } - {"__init__"}
    called = [one for one in source.methods(*setting) if tree.dotted(tree.receiver(one)) != "self"] if setting else []
    names = {held for _, held in _places(source, outer, name)}
    mine = any(
        tree.dotted(tree.receiver(one)).rpartition(".")[2] in names
        or any(v.name == owner.qualified for v in source.values(tree.receiver(one)))
        for one in called
    )
    outside = any(not tree.inside(source, one, owner.node) for one in stores)
    home = tree.function(source, outer)
    same = (one for one in uses.names(source, name) if tree.function(source, one) is home)
    anew = sum(isinstance(one.ctx, ast.Store) for one in same)
    return mine or outside or anew > 1


def _added(source: Source, loop: ast.For) -> set[str]:
    found = (one for one in tree.under(source, loop, ast.AugAssign) if isinstance(one.op, ast.Add))
    return {one.target.id for one in found if isinstance(one.target, ast.Name)}


def _begun(source: Source, name: str, outer: ast.For) -> ast.Name | None:
    """Where the sum is set to 0 for all epochs: the line to move."""
    before = [one for one in _set(source, name, outer) if one.lineno < outer.lineno]
    return before[-1] if before else None


def _set(source: Source, name: str, outer: ast.For) -> list[ast.Name]:
    home = tree.function(source, outer) or source.tree
    stored = [one for one in tree.under(source, home, ast.Name) if one.id == name and isinstance(one.ctx, ast.Store)]
    return [one for one in stored if not isinstance(source.parents[one], ast.AugAssign)]


def _starts(source: Source, name: str, outer: ast.For) -> bool:
    """Whether the name gets a new value in the loop over epochs, or is not set to 0 before it."""
    fresh = _set(source, name, outer)
    return not fresh or any(tree.inside(source, one, outer) or tree.loops(source, one) for one in fresh)


def _mentions(source: Source, node: ast.expr, outer: ast.For) -> bool:
    """Whether the epoch's number comes into the quotient: a mean over all epochs so far."""
    while isinstance(up := source.parents[node], ast.BinOp):
        node = up
    return any(isinstance(one, ast.Name) and one.id == tree.dotted(outer.target) for one in ast.walk(node))


def _is_metric(source: Source, name: ast.expr) -> bool:
    """A metric of torchmetrics, also behind `.to(device)`."""
    value = follow.followed(source, name)
    while follow.method(value) in ("to", "cuda", "cpu"):
        value = tree.receiver(value)  # type: ignore[arg-type]  # method says that it is a call
    return values.sure(source, value, "metric")


def _is_evaluation(source: Source, node: ast.AST) -> bool:
    contexts = [source.code(one) for one in tree.contexts(source, node)]
    return any("no_grad" in one or "inference_mode" in one for one in contexts)

"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, frameworks, tree, uses
from torchlore.check.project import as_function, enclosing_class
from torchlore.check.source import Hit, Source

_LOOKS = {"get_last_lr", "get_lr", "state_dict", "load_state_dict", "last_epoch", "base_lrs"}

WORDS = ("lr_scheduler", "backward")


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")) or not flow.may_train(source):
        return
    for call, _ in uses.calls_under(source, "torch.optim.lr_scheduler."):
        held = source.parents[call]
        target = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
        if target is None or not tree.dotted(target) or frameworks.owned(source, call) or follow.in_test(source, call):
            continue
        given = tree.argument(call, 0, "optimizer")
        if given is None or _has_another(source, call, given) or _left_over(source, given):
            continue
        reads = _reads(source, target) if _trains(source, call) else _reads_of_callers(source, target)
        stepped = reads is None or any(_steps(source, use) for use in reads) or _inherited(source, target)
        if stepped and reads is not None:
            yield from _once_behind(source, target, reads)
        if not stepped:
            name = source.code(target)
            off = re.search(rf"#.*\b{re.escape(name)}\.step\(", source.text)  # the author took it out
            told = f"`{name}` is never stepped, so the rate stays as it is: call `{name}.step()`"
            yield source.hit(held, told, severity="hint" if off or _used_elsewhere(source, target) else None)


def _once_behind(source: Source, target: ast.expr, reads: list[ast.expr]) -> Iterator[Hit]:
    """`scheduler.step()` behind the loop over epochs, which nobody runs again, and nowhere else."""
    used = [source.parents[one] for one in reads]
    used = [one for one in used if not (isinstance(one, ast.Attribute) and one.attr in _LOOKS)]
    step = used[0] if len(used) == 1 and isinstance(used[0], ast.Attribute) and used[0].attr == "step" else None
    if step is None or tree.loops(source, target) or tree.loops(source, step):
        return
    home = tree.function(source, step)
    sites = calls.callers(as_function(source, home)) if home is not None else []
    again = any(tree.loops(where, call) for where, call, _ in sites) or (home is not None and not sites)
    loops = [
        one.node
        for one in flow.backward_loops(source)
        if tree.function(source, one.node) is home and not tree.loops(source, one.node)
    ]
    same = home is tree.function(source, target) or (isinstance(target, ast.Attribute) and not again)
    if same and len(loops) == 1 and step.lineno > (loops[0].end_lineno or 0):
        told = f"this runs once, behind the loop that trains, so `{source.code(target)}` changes nothing: move it into the loop over epochs"
        yield source.hit(step, told)


def _used_elsewhere(source: Source, target: ast.expr) -> bool:
    """`self.scheduler` of a class that no file we see makes one of: a notebook does, and may step it."""
    cls = tree.class_of(source, target)
    if cls is None or not tree.dotted(target).startswith("self.") or source.project.importers(source.module):
        return False
    return not any(tree.dotted(one.func) == cls.name for one in source.all(ast.Call))


def _inherited(source: Source, target: ast.expr) -> bool:
    """Whether a class above, in another file, steps the attribute, or who imports this one."""
    cls = enclosing_class(source, target)
    files = source.project.importers(source.module) if tree.dotted(target).startswith("self.") else []
    if any(f".{target.attr}.step(" in (source.project.text(path) or "") for path in files):  # type: ignore[attr-defined]  # an attribute of self
        return True
    above = source.project.bases(cls)[0] if cls is not None else []
    last = tree.dotted(target).rpartition(".")[2]
    return any(f".{last}.step(" in one.source.text for one in above)


def _left_over(source: Source, optimizer: ast.expr) -> bool:
    """Whether nobody but schedules reads the optimizer: neither is used, and another one trains."""
    if not isinstance(optimizer, ast.Name):
        return False
    made = (call for call, _ in uses.calls_under(source, "torch.optim.lr_scheduler."))
    given = {id(tree.argument(one, 0, "optimizer")) for one in made}
    return all(id(one) in given for one in _reads(source, optimizer))


def _has_another(source: Source, call: ast.Call, given: ast.expr) -> bool:
    """Whether a second scheduler is built on the same optimizer: one of them may drive the other."""
    others = (
        one
        for one, _ in uses.calls_under(source, "torch.optim.lr_scheduler.")
        if one is not call and tree.function(source, one) is tree.function(source, call)
    )
    return any(
        source.code(first) == source.code(given) for one in others if (first := tree.argument(one, 0, "optimizer"))
    )


def _trains(source: Source, call: ast.Call) -> bool:
    """Whether a backward pass runs beside it: in its function, its class or, for a plain script, the file."""
    home = tree.class_of(source, call) or tree.function(source, call)
    return home is None or any(tree.inside(source, one, home) for one in source.methods("backward"))


def _reads(source: Source, target: ast.expr) -> list[ast.expr]:
    """Every place where the variable or the attribute is read."""
    if isinstance(target, ast.Name):
        home = tree.function(source, target)
        found: list[ast.expr] = [
            one for one in uses.names(source, target.id) if home is None or tree.inside(source, one, home)
        ]
    else:
        found = list(uses.attributes(source, tree.dotted(target).rpartition(".")[2]))
    return [one for one in found if isinstance(getattr(one, "ctx", None), ast.Load)]


def _reads_of_callers(source: Source, target: ast.expr) -> list[ast.expr] | None:
    """Where the callers read what a helper builds and returns; None where that cannot be seen, or nobody trains."""
    home = tree.function(source, target)
    reads = _reads(source, target)
    owner = as_function(source, home) if home is not None and isinstance(target, ast.Name) else None
    given = calls.returned(owner) if owner is not None else []
    if owner is None or len(given) != 1 or len(reads) != 1:
        return None
    parts = list(given[0].elts) if isinstance(given[0], ast.Tuple) else [given[0]]
    found: list[ast.expr] = []
    sites = calls.callers(owner)
    for caller, call, _ in sites:
        held = caller.parents[call]
        into = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
        names = list(into.elts) if isinstance(into, ast.Tuple | ast.List) else [into] if into is not None else []
        place = next((index for index, one in enumerate(parts) if one is reads[0]), None)
        if place is None or caller is not source or len(names) != len(parts) or not _trained_beside(source, call):
            return None
        kept = names[place]
        if not isinstance(kept, ast.Name | ast.Attribute):
            return None
        found += _reads(source, kept)
    return found if sites else None


def _trained_beside(source: Source, call: ast.Call) -> bool:
    """Whether a backward pass runs in the function or class that builds it, or in what that function calls."""
    home = tree.function(source, call)
    if _trains(source, call):
        return True
    inner = (flow.called(source, one) for one in tree.under(source, home or source.tree, ast.Call))
    return any(
        one is not None and any(tree.inside(source, back, one.node) for back in source.methods("backward"))
        for one in inner
    )


def _steps(source: Source, use: ast.expr) -> bool:
    """Whether this reading steps it, or hands it to somebody who may."""
    up = source.parents[use]
    return not (isinstance(up, ast.Attribute) and up.attr in _LOOKS)

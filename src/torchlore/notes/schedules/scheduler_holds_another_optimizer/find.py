"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_PLAIN = regex(r"^(self|sch(?:d|e|edule[rs]*|eds?|dlr)?|lr|optimi[sz]ers?|opts?|optims?|lrs)$", re.IGNORECASE)
_MODULE = "torch.optim.lr_scheduler."

WORDS = ("lr_scheduler",)


def find(source: Source) -> Iterator[Hit]:
    for call, _ in uses.calls_under(source, _MODULE):
        given = tree.argument(call, 0, "optimizer")
        if given is not None:
            yield from _other_name(source, call, given)
        if isinstance(given, ast.Attribute):
            yield from _in_class(source, call, given)
        if not isinstance(given, ast.Name) or tree.loops(source, call):
            continue
        held, scope = source.parents[call], scopes.scope_of(source, call)
        scheduler = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        again = [one for one in scopes.bound(source, given.id).get(scope, []) if _is_optimizer(source, one.value)]
        later = [
            one
            for one in again
            if getattr(one.statement, "lineno", 0) > call.lineno and not _by_choice(source, one.statement, scheduler)
        ]
        for one in later[:1]:
            if scheduler and not _built_again(source, scope, scheduler, one.statement):
                yield source.hit(
                    one.statement,
                    f"`{scheduler}` was built with the optimizer before and goes on changing that one: build it again behind "
                    "this line",
                )


def _by_choice(source: Source, statement: ast.AST, scheduler: str) -> bool:
    """Whether a test may leave this out; `if epoch == 5:` in a loop that steps the scheduler behind it comes to pass."""
    loops = tree.loops(source, statement)
    steps = [one for one in source.methods("step") if tree.dotted(tree.receiver(one)) == scheduler]
    later = [one for one in steps if one.lineno > getattr(statement, "lineno", 0)]
    comes = bool(loops) and any(tree.inside(source, one, loops[0]) for one in later)
    return bool(tree.conditions(source, statement)) and not comes


def _other_name(source: Source, call: ast.Call, given: ast.expr) -> Iterator[Hit]:
    """`scheduler_D = StepLR(optimizer_G, ...)` where there is an `optimizer_D`."""
    held, used = source.parents[call], tree.dotted(given)
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    mine, other = _tag(name), _tag(used)
    meant = re.sub(rf"(?<![A-Za-z]){re.escape(other)}(?![a-z])", mine, used) if mine and other else ""
    stored = {tree.dotted(one.targets[0]) for one in source.all(ast.Assign)}
    named = "opt" in used.lower() and "opt" in meant.lower() and re.search(r"sch|lr", name, re.IGNORECASE) is not None
    if named and mine != other and meant not in ("", used) and meant in stored:
        yield source.hit(
            call, f"`{name}` is built with `{used}`, and `{meant}` follows no plan: build it with `{meant}`"
        )


def _tag(name: str) -> str:
    """`D` of `self.scheduler_D` and of `D_optimizer`, "" where more or nothing is left."""
    parts = [one for one in re.split(r"[_.]", name) if one and not _PLAIN.match(one)]
    return parts[0] if len(parts) == 1 else ""


def _in_class(source: Source, call: ast.Call, given: ast.Attribute) -> Iterator[Hit]:
    """`self.scheduler` is built in `__init__`, and another method builds `self.optimizer` again."""
    owner, held = tree.class_of(source, call), source.parents[call]
    home = tree.function(source, call)
    if owner is None or not isinstance(held, ast.Assign) or getattr(home, "name", "") != "__init__":
        return
    kept, optimizer = tree.dotted(held.targets[0]), tree.dotted(given)
    if not (kept.startswith("self.") and optimizer.startswith("self.")):
        return
    built = [one for one in source.all(ast.Assign) if tree.dotted(one.targets[0]) in (kept, optimizer)
             and tree.class_of(source, one) is owner]  # fmt: skip
    steps = (one for one in source.methods("step") if tree.class_of(source, one) is owner)
    stepped = any(tree.dotted(tree.receiver(one)) == kept for one in steps)
    for one in built:
        method = tree.function(source, one)
        if one is held or method is home or tree.dotted(one.targets[0]) != optimizer or not stepped:
            continue
        again = any(tree.dotted(other.targets[0]) == kept and other is not held for other in built)
        from_init = any(tree.function(source, other) is home for other in source.methods(getattr(method, "name", "")))
        if _is_optimizer(source, one.value) and not again and not from_init:
            yield source.hit(
                one,
                f"`{kept}` was built in `__init__` with the optimizer before and goes on changing that one: build it again "
                "behind this line",
            )


def _is_optimizer(source: Source, value: ast.expr | None) -> bool:
    name = source.name(value.func) if isinstance(value, ast.Call) else ""
    return name.startswith("torch.optim.") and name.count(".") == 2 and name[12:13].isupper()


def _built_again(source: Source, scope: ast.AST, scheduler: str, after: ast.AST) -> bool:
    bound = scopes.bound(source, scheduler).get(scope, [])
    line = getattr(after, "lineno", 0)
    used = any(isinstance(one.ctx, ast.Load) and one.id == scheduler and one.lineno > line for one in source.all(ast.Name)
               if scopes.scope_of(source, one) is scope)  # fmt: skip
    return not used or any(getattr(one.statement, "lineno", 0) > line for one in bound)

"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import scopes, tree, uses
from torchlore.check.source import Hit, Source

_MODULE = "torch.optim.lr_scheduler."


def find(source: Source) -> Iterator[Hit]:
    for call, _ in uses.calls_under(source, _MODULE):
        given = tree.argument(call, 0, "optimizer")
        if isinstance(given, ast.Attribute):
            yield from _in_class(source, call, given)
        if not isinstance(given, ast.Name) or tree.loops(source, call):
            continue
        held, scope = source.parents[call], scopes.scope_of(source, call)
        scheduler = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        again = [one for one in scopes.bindings(source)[scope].get(given.id, []) if _is_optimizer(source, one.value)]
        later = [
            one
            for one in again
            if getattr(one.statement, "lineno", 0) > call.lineno and not tree.conditions(source, one.statement)
        ]
        for one in later[:1]:
            if scheduler and not _built_again(source, scope, scheduler, one.statement):
                yield source.hit(
                    one.statement,
                    f"`{scheduler}` was built with the optimizer before and goes on changing that one: build it again behind "
                    "this line",
                )


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
    bound = scopes.bindings(source)[scope].get(scheduler, [])
    line = getattr(after, "lineno", 0)
    used = any(isinstance(one.ctx, ast.Load) and one.id == scheduler and one.lineno > line for one in source.all(ast.Name)
               if scopes.scope_of(source, one) is scope)  # fmt: skip
    return not used or any(getattr(one.statement, "lineno", 0) > line for one in bound)

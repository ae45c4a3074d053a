"""A scheduler acts on its optimizer when it is built: a second one starts from what the first left.

Every scheduler sets the learning rate in its constructor, and reads it there as its own starting point. Build two on one
optimizer and step only one, and the other has still done its work: a `LambdaLR` warm-up that is 0 at epoch 0 leaves the
optimizer at rate 0, and a cosine schedule stepped afterwards moves from there. Building both, to choose one later, is
enough.

Under one name the first is lost at once, and its milestones with it.

Build the one you use. To run one after another, `SequentialLR(optimizer, [warmup, cosine], milestones=[10])`; to
multiply them, `ChainedScheduler([a, b])` or step both. `torchlore.recipes.schedules` composes plain functions first
and touches the optimizer once.
"""

import ast
from collections.abc import Iterator

from torchlore.check import identity, scopes, tree, uses
from torchlore.check.source import Hit, Source

ROWS = ("schedule-order",)
SOURCES = ("003:533-550",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["rates"] == [0.01, 0.01, 0.01]  # a tenth of what was asked for, for good
    assert good["rates"] == [0.1, 0.1, 0.1]


_MODULE = "torch.optim.lr_scheduler."
_ACTS_AT_ONCE = ("LambdaLR", "LinearLR", "ConstantLR", "OneCycleLR", "CyclicLR")

WORDS = ("lr_scheduler",)


def find(source: Source) -> Iterator[Hit]:
    for first, full in uses.calls_under(source, _MODULE):
        held, optimizer = source.parents[first], tree.argument(first, 0, "optimizer")
        if not (isinstance(held, ast.Assign) and isinstance(held.targets[0], ast.Name)) or optimizer is None:
            continue
        name, scope = held.targets[0].id, scopes.scope_of(source, first)
        read = any(
            isinstance(one.ctx, ast.Load) and held in [b.statement for b in scopes.reaching(source, one)]
            for one in source.all(ast.Name)
            if one.id == name
        )
        if read or tree.conditions(source, first):
            continue
        acts = full.rpartition(".")[2] in _ACTS_AT_ONCE
        for second, _ in uses.calls_under(source, _MODULE):
            other, into = tree.argument(second, 0, "optimizer"), source.parents[second]
            again = isinstance(into, ast.Assign) and tree.dotted(into.targets[0]) == name
            later = second.lineno > first.lineno and scopes.scope_of(source, second) is scope
            repeated = ast.dump(first) == ast.dump(second)  # a cell of a notebook that makes it anew
            if other is None or not later or not (acts or (again and not repeated)):
                continue
            between = (one for one in source.all(ast.Assign) if first.lineno < one.lineno < second.lineno)
            remade = any(tree.dotted(one.targets[0]) == tree.dotted(optimizer) for one in between)
            if not remade and identity.identity(source, other) == identity.identity(source, optimizer) is not None:
                code = source.code(optimizer)
                what = f"already changed the rates of `{code}` when it was built and" if acts else "of the line above"
                how = "SequentialLR" if acts else "ChainedScheduler"
                yield source.hit(second, f"`{name}` {what} is never stepped: remove it, or join the two with {how}")
                break

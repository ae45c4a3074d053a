"""A scheduler acts on its optimizer when it is built: a second one starts from what the first left.

Every scheduler sets the learning rate in its constructor, and reads it there as its own starting point. Build two on one
optimizer and step only one, and the other has still done its work: a `LambdaLR` warm-up that is 0 at epoch 0 leaves the
optimizer at rate 0, and a cosine schedule stepped afterwards moves from there. Building both, to choose one later, is
enough.

Build the one you use. To run one after another, `SequentialLR(optimizer, [warmup, cosine], milestones=[10])`; to
multiply them, `ChainedScheduler([a, b])` or step both. `torchlore.recipes.schedules` composes plain functions first
and touches the optimizer once.
"""

import ast
from collections.abc import Iterator

from torchlore.check import identity, scopes, tree
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


def find(source: Source) -> Iterator[Hit]:
    for first in source.calls(*(_MODULE + name for name in _ACTS_AT_ONCE)):
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
        for second in source.all(ast.Call):
            other = tree.argument(second, 0, "optimizer")
            built = source.name(second.func).startswith(_MODULE) and other is not None and second is not first
            later = second.lineno > first.lineno and scopes.scope_of(source, second) is scope
            if built and later and identity.identity(source, other) == identity.identity(source, optimizer) is not None:  # type: ignore[arg-type]  # `built` says so
                yield source.hit(
                    second,
                    f"`{name}` already changed the rates of `{source.code(optimizer)}` when it was built and is never "
                    "stepped: remove it, or join the two with SequentialLR",
                )
                break

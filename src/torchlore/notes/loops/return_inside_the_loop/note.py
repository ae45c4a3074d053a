"""A return one level too deep ends the loop with its first turn.

`return total / seen` that stands in the body of `for x, y in loader:` instead of behind it leaves the function after the first
batch. The number it gives back looks right: it is the accuracy of that batch, or the loss of the one step that was trained. An
epoch is then one step long, and the test set 32 samples small. Nothing raises, and the run is pleasantly fast.

A `break` that was left at the end of the body, from the day when one batch was enough to see whether it runs, does the same to each epoch.

Move the `return` out to the level of the `for`. To look at one batch on purpose write `x, y = next(iter(loader))`: then nobody
takes the loop for one.
"""

import ast
from collections.abc import Iterator

from torchlore.check import flow, follow, frameworks, iteration, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = (
    "https://github.com/facebookresearch/deepcluster/issues/1",
    "https://github.com/facebookresearch/deepcluster/pull/3",
    "https://github.com/amitrana001/DynaMITe/issues/1",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["seen"] == 20
    assert good["seen"] == 100


WORDS = ("for", "return|break")


def find(source: Source) -> Iterator[Hit]:
    for loop in source.all(ast.For):
        body = list(_unwrapped(loop.body))
        last = body[-1]
        if isinstance(last, ast.Break) and last in loop.body and _over_batches(source, loop) and _trains(source, loop):
            told = "this ends the loop in its first turn, so an epoch is one step long: take it out"
            yield source.hit(last, told, severity="warning")
        if not isinstance(last, ast.Return) or any(isinstance(one, ast.Continue) for one in tree.body_nodes(loop)):
            continue
        counted = _counts(source, loop, body)
        if counted or (_trains(source, loop) and not frameworks.owned(source, loop)):
            what = f"`{counted}` holds one turn's share" if counted else "one step is all that is trained"
            told = f"this leaves the loop in its first turn, so {what}: move it behind the loop"
            yield source.hit(last, told)


def _over_batches(source: Source, loop: ast.For) -> bool:
    """Whether a loader hands out the turns, in a loop that goes on else: not the batch that is looked for and then left."""
    over = values.sure(source, iteration.unwrapped(source, loop.iter), "loader", weak=True)
    return (
        over
        and bool(tree.loops(source, loop))
        and not any(isinstance(one, ast.Continue) for one in tree.body_nodes(loop))
    )


def _unwrapped(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block, those of a `with` among them."""
    for one in block:
        yield from _unwrapped(one.body) if isinstance(one, ast.With) else [one]


def _counts(source: Source, loop: ast.For, body: list[ast.stmt]) -> str:
    """The name that each turn adds to and that was set before the loop; "" where there is none."""
    home = tree.function(source, loop) or source.tree
    before = {
        tree.dotted(name)
        for one in tree.body_nodes(home)
        if isinstance(one, ast.Assign) and one.lineno < loop.lineno
        for target in one.targets
        for name in getattr(target, "elts", [target])
    }
    adds = [one for one in body if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add)]
    names = [tree.dotted(one.target) for one in adds if isinstance(one.target, ast.Name)]
    calls = (
        one.value
        for one in body
        if isinstance(one, ast.Expr) and follow.method(one.value) in ("append", "extend", "update")
    )
    names += [tree.dotted(tree.receiver(one)) for one in calls if isinstance(one, ast.Call)]
    return next((one for one in names if one and one in before), "")


def _trains(source: Source, loop: ast.For) -> bool:
    return any(one.node is loop and one.of("step") for one in flow.backward_loops(source))

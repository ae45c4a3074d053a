"""`next(iter(loader))` inside the training loop starts the loader again for one batch.

Each `iter(loader)` begins a new epoch: workers are started, `prefetch` batches are made, one is used, the rest is thrown
away. Without shuffling it is the first batch every time, and the model trains on nothing else. With shuffling it is a
random batch, so some samples come often and some never, at many times the cost.

Walk through the loader, `for batch in loader`, or keep one iterator and start again when it ends:

```python
batches = itertools.chain.from_iterable(itertools.repeat(loader))  # a new epoch whenever the last one is used up
for step in range(steps):
    x, y = next(batches)
```
"""

import ast
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, project, scopes, tree, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/skhu101/GM-NAS/issues/4",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
WORDS = ("next", "iter")


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["samples_seen"] == 8
    assert good["samples_seen"] == 64


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("next"):
        around = _around(source, call) if call.args else []
        loader = _loader(source, call.args[0]) if around else None
        if (
            loader is not None
            and values.sure(source, loader, "loader", weak=True)
            and not _made_anew(source, loader, around[0])
            and any(loop.node is around[0] for loop in flow.training_loops(source))
        ):
            code = source.code(loader)
            yield source.hit(
                call,
                f"`iter({code})` starts the loader again in every turn for one batch: loop over `{code}`, or keep one "
                "iterator",
                severity="hint" if _shuffled(source, loader) else None,
            )


def _around(source: Source, call: ast.Call, hops: int = 2) -> list[ast.AST]:
    """The loops around it, or around the one place that calls the function it stands in: `self.next_target()`."""
    loops, home = tree.loops(source, call), tree.function(source, call)
    if loops:
        return [] if follow.seldom(source, call, loops[0]) else [*loops]
    if home is None or not hops or tree.conditions(source, call):
        return []
    sites = calls.callers(project.as_function(source, home))
    return _around(source, sites[0][1], hops - 1) if len(sites) == 1 and sites[0][0] is source else []


def _made_anew(source: Source, loader: ast.expr, loop: ast.AST) -> bool:
    """Whether each turn makes a loader of something else: of another node of a graph, say."""
    bound = scopes.reaching(source, loader) if isinstance(loader, ast.Name) else []
    made = [one.value for one in bound if one.value is not None and tree.inside(source, one.statement, loop)]
    given = (name for one in made for name in tree.under(source, one, ast.Name))
    return any(tree.inside(source, one.statement, loop) for name in given for one in scopes.reaching(source, name))


def _shuffled(source: Source, loader: ast.expr) -> bool:
    """Each turn gets a batch drawn at random then: slow, not wrong."""
    made = [one.node for one in source.values(loader) if one.kind == "loader" and isinstance(one.node, ast.Call)]
    asked = [tree.argument(one, 2, "shuffle") for one in made]
    drawn = [tree.argument(one, 3, "sampler") for one in made]
    random = any("Random" in tree.dotted(part) for one in drawn if one is not None for part in ast.walk(one))
    return random or any(one is not None and tree.literal(one) is not False for one in asked)


def _loader(source: Source, node: ast.expr) -> ast.expr | None:
    """`x` of `iter(x)`, also by a name that is read once."""
    node = follow.read_once(source, node)
    fresh = isinstance(node, ast.Call) and source.name(node.func) == "iter" and len(node.args) == 1
    return node.args[0] if fresh else None  # type: ignore[attr-defined]  # fresh says so


def watch(step: Step) -> Alarm | None:
    for one in step.run.loaders:
        single = len(one.sizes) >= 8 and all(size == 1 for size in one.sizes[-8:])
        length = len(one.loader) if one.loader is not None and hasattr(one.loader.dataset, "__len__") else 0
        if single and length > 2 and one.batches >= 8 and step.run.backwards >= 8:
            return Alarm(
                f"the loader of {length} batches is started again for each one; loop over it, or keep one iterator",
                at=one.loop_place or one.place,
            )
    return None

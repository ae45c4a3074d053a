"""Adding up the loss tensor keeps the graph of every batch alive.

`total += loss` builds one more node on top of every loss so far, and each loss holds its whole graph: activations of all
batches stay in memory until `total` goes, and a long epoch ends out of memory. The same happens through
`losses.append(loss)` and through a meter that is handed the tensor.

Add the number: `total += loss.item()`. To avoid a wait for the GPU at every step, add `loss.detach()` and call `item()`
once at the end.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, flow, kept, scopes, tree, values
from torchlore.check.identity import identity
from torchlore.check.iteration import unwrapped
from torchlore.check.source import Hit, Source
from torchlore.check.tensors import no_grad_around
from torchlore.watch.pictures import Alarm, Step

ROWS = ("autograd-loss-item",)
SOURCES = (
    "002:32-40",
    "https://pytorch.org/docs/stable/notes/faq.html",
    "https://github.com/visionml/pytracking/pull/313",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["graphs_alive"] >= 50
    assert good["graphs_alive"] == 0


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    for loop in flow.training_loops(source):
        if _over_chunks(source, loop.node):
            continue
        done = {event.owner for event in loop.direct("backward") if event.owner is not None}
        for node in tree.body_nodes(loop.node):
            target, value = kept.kept(source, node)
            if (
                value is None
                or tree.loops(source, node)[:1] != [loop.node]
                or not kept.outlives(source, target, loop.node)
            ):
                continue
            for leaf in kept.leaves(value):
                if (
                    identity(source, leaf) in done
                    and (values.attached(source, leaf) is True or _differentiated(source, leaf, loop))
                    and not no_grad_around(source, node)
                ):
                    yield _hit(source, node, target, leaf)


def _over_chunks(source: Source, loop: tree.Loop) -> bool:
    """Whether the loop goes over parts of one batch: the loop around it is the one over the loader."""
    around = [one for one in tree.loops(source, loop) if isinstance(one, ast.For)]
    return any(values.sure(source, unwrapped(source, one.iter), "loader", weak=True) for one in around)


def _differentiated(source: Source, leaf: ast.expr, loop: flow.LoopFlow) -> bool:
    """Whether this very value is the one that `backward` was called on, whatever made it."""
    number = values.kind(source, leaf) and not values.sure(source, leaf, "tensor")
    if not isinstance(leaf, ast.Name) or values.attached(source, leaf) is False or number:
        return False
    mine = scopes.reaching(source, leaf)
    calls = [
        event.expr for event in loop.direct("backward") if isinstance(event.expr, ast.Name) and event.source is source
    ]
    return bool(mine) and any(one.id == leaf.id and scopes.reaching(source, one) == mine for one in calls)


def _hit(source: Source, node: ast.AST, target: ast.expr | None, leaf: ast.expr) -> Hit:
    name, total = source.code(leaf), source.code(target) if target is not None else ""
    asked = any(tree.dotted(one.value) == total for one in source.all(ast.Attribute) if isinstance(one.ctx, ast.Load))
    number = values.shape(source, leaf) == () and (not asked or isinstance(node, ast.Call))
    cut = "item()" if number else "detach()"
    message = f"`{total}` keeps the graph of every `{name}` in memory: add `{name}.{cut}`"
    return source.hit(node, message, *edits.method(source, leaf, cut))


def watch(step: Step) -> Alarm | None:
    alive = step.run.graphs_alive() if step.number >= 20 else 0
    if not step.in_a_row(2, alive >= 20):
        return None
    keeper = step.run.keeper()
    name = f"`{keeper.name}` keeps" if keeper else "something keeps"
    told = f"{name} the graph of every loss in memory; keep loss.item() or loss.detach()"
    return Alarm(told, at=keeper.place if keeper else None, evidence=f"{alive} of the last 24 graphs are alive")

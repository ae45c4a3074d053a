"""Adding up the loss tensor keeps the graph of every batch alive.

`total += loss` builds one more node on top of every loss so far, and each loss holds its whole graph: activations of all
batches stay in memory until `total` goes, and a long epoch ends out of memory. The same happens through
`losses.append(loss)` and through a meter that is handed the tensor.

Add the number: `total += loss.item()`. To avoid a wait for the GPU at every step, add `loss.detach()` and call `item()`
once at the end.
"""

from typing import Any

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


def watch(step: Step) -> Alarm | None:
    alive = step.run.graphs_alive() if step.number >= 20 else 0
    if not step.in_a_row(2, alive >= 20):
        return None
    keeper = step.run.keeper()
    name = f"`{keeper.name}` keeps" if keeper else "something keeps"
    told = f"{name} the graph of every loss in memory; keep loss.item() or loss.detach()"
    return Alarm(told, at=keeper.place if keeper else None, evidence=f"{alive} of the last 24 graphs are alive")

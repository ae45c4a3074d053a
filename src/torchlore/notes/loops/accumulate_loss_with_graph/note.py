"""Adding up the loss tensor keeps the graph of every batch alive.

`total += loss` builds one more node on top of every loss so far, and each loss holds its whole graph: activations of all
batches stay in memory until `total` goes, and a long epoch ends out of memory. The same happens through
`losses.append(loss)`, through a meter that is handed the tensor, and through a buffer of episodes or averages that is filled
from a network's output.

Add the number: `total += loss.item()`. To avoid a wait for the GPU at every step, add `loss.detach()` and call `item()`
once at the end.
"""

from typing import Any

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

"""`before = [p.data for p in model.parameters()]` keeps no values: the step changes them too.

`.data` and `.detach()` share the memory of the parameter, and so does the parameter itself. What was meant as the old
weights follows every later step: the difference "before minus after" is always 0, the penalty of EWC, FedProx or L2-SP
pulls towards the current weights, a history of weights holds the last ones many times over. `.cpu()` copies from a GPU
and shares on a CPU, so it works on one machine and not on the other.

Copy: `[p.detach().clone() for p in model.parameters()]`, or `copy.deepcopy(model.state_dict())`.
"""

from typing import Any

ROWS = ()
SOURCES = ("https://github.com/KarhouTam/FL-bench/issues/165", "https://github.com/flwrlabs/flower/pull/1654")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["moved"] == 0
    assert good["moved"] > 0.01
    weight = torch.nn.Parameter(torch.ones(2, device=device))
    for kept, follows in ((weight.data, True), (weight.detach(), True), (weight.detach().clone(), False)):
        assert (kept.data_ptr() == weight.data_ptr()) is follows

"""Evaluation without no_grad() builds a graph for every batch and throws it away.

`model.eval()` switches dropout and batch norm; it does not switch recording off. Each forward of the evaluation then
keeps its activations for a backward that never comes: more memory (the batch that fits in training may not fit any
more when outputs are collected) and more time.

Wrap the loop, or the function:

```python
@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    ...
```

Use `torch.no_grad()` instead of `inference_mode()` where the results go into autograd again later.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlore.watch.pictures import Alarm, Phase

ROWS = ()
SOURCES = ("https://pytorch.org/docs/stable/notes/autograd.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["graphs"] == 6
    assert good["graphs"] == 0
    assert bad["loss"] == good["loss"]


def watch(phase: Phase) -> Iterator[Alarm]:
    if not phase.run.steps or any(one.name == "grad" for one in phase.events):  # torch.autograd.grad uses the graphs
        return
    for root, forwards in phase.roots():
        kept = [one for one in forwards if not one.facts["training"] and one.facts["requires_grad"]]
        if len(kept) >= 3 and root.train_forwards:
            yield Alarm(
                f"{len(kept)} forwards of {root.kind} in eval mode build graphs that nobody uses; wrap the loop in torch.no_grad()",
                at=kept[-1].place,
                evidence=f"{len(kept)} forwards with requires_grad outputs since the last backward",
            )

"""A running average updated without `no_grad` drags the graph of every batch along.

`self.running_mean += momentum * (batch_mean - self.running_mean)` in a forward pass makes the buffer part of the graph,
with the history of all batches so far. Memory grows with each step; if the output uses the buffer, the second
`backward()` raises. Written without `if self.training`, the average also moves in evaluation.

```python
if self.training:
    with torch.no_grad():
        self.running_mean.lerp_(batch_mean, self.momentum)  # a memory bank or a prototype likewise
```
"""

from torchlore.watch.pictures import Alarm, Place, Step, line_in

ROWS = ("layer-bn-running",)
SOURCES = ("003:223-233",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import error_of
    from torchlore.recipes.layers import RunningMean

    assert bad["graph_nodes"] > 100
    assert good["graph_nodes"] == 0

    def two_steps(*, detach: bool) -> None:
        layer, mean = nn.Linear(2, 2), torch.zeros(2)
        for _ in range(2):
            out = layer(torch.randn(4, 2))
            mean += 0.1 * ((out.detach() if detach else out).mean(0) - mean)
            (out - mean).pow(2).sum().backward()

    assert error_of(lambda: two_steps(detach=False)) == "RuntimeError"
    two_steps(detach=True)

    layer, mean = nn.Linear(2, 2), RunningMean(2, momentum=0.1)
    assert not mean(layer(torch.randn(4, 2))).requires_grad
    assert mean.mean.grad_fn is None


def watch(step: Step) -> Alarm | None:
    pairs = [pair for module in step.run.modules() for pair in module.named_buffers()] if step.number == 3 else []
    for name, buffer in pairs:
        if buffer.grad_fn is not None:
            message = f"the buffer `{name}` hangs on the graphs of all batches so far; update it under torch.no_grad()"
            return Alarm(message, at=_line(step, name), evidence=f"it was made by {buffer.grad_fn.name()}")
    return None


def _line(step: Step, name: str) -> Place | None:
    """The line of the user's class that sets the buffer, None for the step's own."""
    above, _, key = name.rpartition(".")
    for module in step.run.modules():
        part = dict(module.named_modules()).get(above)
        if part is not None and key in dict(part.named_buffers(recurse=False)):
            own = not type(part).__module__.startswith("torch.")
            return line_in(type(part), rf"\bself\.{key}\s*[-+*/]?=|\bself\.{key}\.\w+_\(") if own else None
    return None

"""A running average updated without `no_grad` drags the graph of every batch along.

`self.running_mean += momentum * (batch_mean - self.running_mean)` in a forward pass makes the buffer part of the graph:
it now requires a gradient and holds the history of all batches so far. Memory grows with each step; if the output uses
the buffer, the second `backward()` raises; a deep copy of the module fails. Written without `if self.training`, the
average also moves in evaluation.

```python
if self.training:
    with torch.no_grad():
        self.running_mean.lerp_(batch_mean, self.momentum)
```

The same goes for any state kept from one step to the next: a memory bank, a prototype, an average of losses. Detach what
goes in.
"""

ROWS = ("layer-bn-running",)
SOURCES = ("003:223-233",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    import copy

    import torch
    from torch import nn

    from torchlore.notes.proof import error_of

    assert bad["graph_nodes"] > 100
    assert good["graph_nodes"] == 0

    class Centre(nn.Module):
        mean: torch.Tensor

        def __init__(self, detach: bool) -> None:
            super().__init__()
            self.detach = detach
            self.register_buffer("mean", torch.zeros(2))
            self.fc = nn.Linear(2, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.fc(x)
            now = x.mean(0).detach() if self.detach else x.mean(0)
            self.mean += 0.1 * (now - self.mean)
            return x - self.mean

    def twice(module: nn.Module) -> None:
        for _ in range(2):
            module(torch.randn(4, 2)).sum().backward()

    assert error_of(lambda: twice(Centre(detach=False))) == "RuntimeError"
    assert error_of(lambda: twice(Centre(detach=True))) == ""
    kept = Centre(detach=False)
    kept(torch.randn(4, 2))
    assert error_of(lambda: copy.deepcopy(kept)) == "RuntimeError"

"""A layer that only ever runs under `no_grad` cannot learn, whatever the optimizer holds.

`with torch.no_grad():` goes around a frozen backbone to save memory. Where the block, or a decorator on `forward`, also takes in the
projection behind it, that projection has no graph: its gradient is None in every step and the optimizer passes over it silently. The
rest of the model learns to live with random weights in the middle. The same happens to a tower with a switch to train it
(`requires_grad_(tune)`) and `@torch.no_grad()` on its `forward`: the switch does nothing.

End the block where the frozen part ends:

```python
with torch.no_grad():
    hidden = self.backbone(x)
return self.projection(hidden)
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/edreisMD/ConVIRT-pytorch/issues/7",
    "https://github.com/TinyLLaVA/TinyLLaVA_Factory/issues/17",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["projection_moved"] == 0
    assert good["projection_moved"] > 0

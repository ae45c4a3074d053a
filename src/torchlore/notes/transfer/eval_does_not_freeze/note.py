"""`eval()` freezes no weight: what is to stay as it is needs `requires_grad_(False)` too.

`backbone.eval()` stops dropout and the statistics of batch norm. Gradients flow as before, the weights are in
`model.parameters()`, and the optimizer moves them in every step: a backbone that is "frozen" by its mode alone is finetuned,
at the learning rate of the new head, and the features that it was trained for are gone after a few steps.

Say both: `requires_grad_(False)` for the weights, once, and `eval()` for the mode, after each `train()`:

```python
self.backbone.requires_grad_(False)

def train(self, mode=True):
    super().train(mode)
    self.backbone.eval()
    return self
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/alexrich021/3dvnet/issues/11",
    "https://github.com/BINE022/EEGPT/issues/18",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] > 0.01
    assert good["moved"] == 0.0

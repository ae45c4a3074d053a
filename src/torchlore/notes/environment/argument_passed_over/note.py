"""An argument that gets its default and is then passed over changes nothing.

`tau = self.tau if tau is None else tau` at the top of a method, and `self.tau` in the lines below: whoever calls
`update(tau=1.0)` to copy the weights once gets the small step of every day. The target network starts elsewhere, a learning rate
for one phase is ignored, a batch size for the evaluation is that of the training. Nothing raises, since the name exists.

Read the name that was filled, and no longer the attribute:

```python
tau = self.tau if tau is None else tau
target.data.lerp_(online.data, tau)
```
"""

ROWS = ()
SOURCES = ("https://github.com/mimoralea/gdrl/pull/14",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["apart"] > 0.1
    assert good["apart"] < 1e-6

"""An optimizer goes down: what is to be maximised must enter the loss with a minus.

Papers write policy gradients as ascent: raise `log_prob * advantage`, raise `Q(s, actor(s))`. `optimizer.step()` descends. Without
the minus the policy learns, reliably, to take the worst actions; the loss falls as it should, only the return says it.

```python
actor_loss = -(log_prob * advantage.detach()).mean()   # policy gradient
actor_loss = -critic(state, actor(state)).mean()       # deterministic policy gradient
```

`torch.optim.Adam(..., maximize=True)` turns the optimizer round instead.
"""

ROWS = ()
SOURCES = ("https://github.com/KanishJebaMathewM/Truxify/pull/11885",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["good_actions"] > 0.9
    assert bad["good_actions"] < 0.1

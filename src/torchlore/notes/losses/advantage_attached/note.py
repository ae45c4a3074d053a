"""An advantage that keeps its graph trains the critic to please the actor.

`advantage = returns - values` is a weight for the policy's log-probabilities. With its graph on, the policy loss
`-(log_prob * advantage).mean()` also has a gradient for the critic: values are pushed up where the action was likely and down where it
was not, whatever the returns say. The critic's own loss pulls the other way; the two settle somewhere in between, the advantages are
biased, and the policy learns slowly or not at all. Nothing fails, and both curves look reasonable.

Cut it off where it becomes a weight:

```python
advantage = returns - values.detach()
loss = -(log_prob * advantage).mean() + 0.5 * F.mse_loss(values, returns)
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/seungeunrho/minimalRL/issues/33",
    "https://github.com/higgsfield-ai/higgsfield/issues/20",
    "https://github.com/astariul/encode-attend-navigate-pytorch/pull/3",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["critic_gradient_of_the_policy"] > 0
    assert good["critic_gradient_of_the_policy"] == 0

"""A target that the trained net itself computes must be a constant: `no_grad` or `detach`.

In temporal-difference learning the target is made of the net's own estimate of the next state,
`reward + gamma * q_net(next_state).max(1).values`. If its graph is kept, `backward` also pulls that estimate towards the
present one: the net meets its target half way by moving the target. Learning is slow, or settles at wrong values, and no error
is raised.

```python
with torch.no_grad():
    target = reward + gamma * q_net(next_state).max(1).values
loss = F.mse_loss(q_net(state).gather(1, action).squeeze(1), target)
```

A frozen copy for the targets is better still; its graph costs memory, but does no harm.

The same holds for the pseudo labels of semi-supervised learning (the weak view's prediction is the label, not a second
student) and for the old log-probabilities of PPO: in `exp(new - old)` with both attached the gradients cancel.
"""

ROWS = ()
SOURCES = ("https://github.com/datawhalechina/easy-rl/pull/117",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["gap"] - 1.8) < 0.2  # the rewards differ by 1.8, the way on does not
    assert bad["gap"] < 1.3

"""An actor trained on `critic(state, action).mean()` learns the actions its critic likes least.

The critic is fitted to returns: more is better. An optimizer goes down, so the actor's loss is the negative of the critic's
answer. Without the minus everything looks right, both losses fall, and the policy becomes reliably bad.

```python
actor_loss = -critic(state, actor(state)).mean()
```

If the critic predicts a cost, the loss without the minus is right; say so with `# lore: ignore[actor-lowers-its-critic]`.
"""

ROWS = ()
SOURCES = ("https://github.com/KanishJebaMathewM/Truxify/pull/11885",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["reward"] > bad["reward"] + 0.5

"""Behind the last step of an episode there is no value: the target there is the reward alone.

`target = reward + gamma * Q(next_state)` is right in the middle of an episode. At its end the next state is a new episode's start,
or nothing, and its value must not come in. The flag for it is in the replay buffer, it is unpacked, and then it is forgotten:
every value is too high, by up to `1 / (1 - gamma)` times, and the agent has no reason to end an episode well.

```python
target = reward + gamma * next_q * (1 - done)
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/navneet-nmk/pytorch-rl/issues/2",
    "https://github.com/seungeunrho/minimalRL/issues/32",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["value"] > 5
    assert abs(good["value"] - 1) < 0.1

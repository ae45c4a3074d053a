"""A target network that is built anew starts with other weights than the one it follows.

`target = QNet(4, 2)` beside `policy = QNet(4, 2)` draws new random numbers. If the first copy comes only after some hundred steps, or
by a soft update of half a percent a step, the values to learn from are until then those of a random network; and an "old" policy that acts
before the first copy is not the one whose ratio is 1 at the start, as PPO assumes. It trains, later and worse.

Copy the weights once where the network is made:

```python
target = QNet(4, 2)
target.load_state_dict(policy.state_dict())
```

`target = copy.deepcopy(policy)` does both in one line.
"""

ROWS = ()
SOURCES = ("https://github.com/nikhilbarhate99/PPO-PyTorch/commit/64376aabb07d668573bf63399e3cafc8ee663e9c",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["apart"] == 0
    assert bad["apart"] > 0.1

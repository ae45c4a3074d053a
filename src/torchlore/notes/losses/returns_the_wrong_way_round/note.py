"""Discounted returns are summed from the end of the episode, and must be put back in order.

The return of a step is its reward and the discounted rewards after it, so `R = r + gamma * R` runs through the rewards backwards.
Run forwards, it is the discounted sum of the rewards before: the policy is praised for what had happened already. Run backwards
with `append`, the list is reversed, and the first action is given the return of the last.

```python
R, returns = 0.0, []
for r in reversed(rewards):
    R = r + gamma * R
    returns.append(R)
returns.reverse()  # or insert(0, R)
```
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/examples/blob/main/reinforcement_learning/reinforce.py",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, list[float]], good: dict[str, list[float]]) -> None:
    assert good["returns"] == [0.25, 0.5, 1.0]
    assert bad["returns"] == [0.0, 0.0, 1.0]

"""PPO clips the ratio of probabilities, then multiplies with the advantage and takes the smaller.

The surrogate is `min(ratio * A, clamp(ratio, 1 - eps, 1 + eps) * A)`, with `ratio = exp(new_logp - old_logp)`, and the loss is
minus its mean. Three slips keep the shapes and the signs of life: the clamp laid around `ratio * A` (every negative advantage
becomes `1 - eps`, so bad actions are pushed up), a ratio that is the bare difference of the log-probabilities (around 0, not
1), and `max` where the minus stands outside (the clip never holds the policy back).

```python
ratio = (new_logp - old_logp).exp()
surrogate = torch.min(ratio * advantage, ratio.clamp(1 - eps, 1 + eps) * advantage)
loss = -surrogate.mean()
```
"""

ROWS = ()
SOURCES = ("https://github.com/alexis-jacq/Pytorch-DPPO/issues/3",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["worst"] > 0  # an action with the advantage -2 is worth 0.8
    assert good["worst"] < 0

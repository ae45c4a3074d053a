"""The KL term is `-0.5 * (1 + logvar - mu**2 - exp(logvar))`: without the minus it is rewarded.

The bracket is never above zero, so the divergence is minus one half of it. Added to the loss with a plus it lowers the loss the
further the posterior is from the prior: the means drift away, the variances explode or vanish, and samples from the prior decode to
noise. The reconstruction keeps improving meanwhile, and the sum of the two looks like a loss that falls well.

```python
kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
loss = reconstruction + beta * kl
```

Papers write the bound that is maximised, with the signs the other way round. A divergence is never negative: assert it once.
"""

ROWS = ()
SOURCES = (
    "https://github.com/AntixK/PyTorch-VAE/issues/68",
    "https://github.com/dev4488/VAE_gumble_softmax/issues/1",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["divergence"] > 100
    assert 0 <= good["divergence"] < 20

"""A KL term summed over the batch beside a reconstruction averaged over it drowns the reconstruction.

`F.mse_loss(x_hat, x)` and `F.binary_cross_entropy(x_hat, x)` are means over every element: numbers below 1. The KL term of a VAE,
`-0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())`, is a sum over all samples and all codes: with 64 samples and 20 codes
it weighs 1,280 times as much as its mean, and grows with the batch. The net makes it zero, the codes carry nothing, and every
reconstruction is the same mean picture (posterior collapse).

Sum both, and divide both by the number of samples:

```python
recon = F.mse_loss(x_hat, x, reduction="sum") / len(x)
kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
```
"""

ROWS = ()
SOURCES = ("https://github.com/zdebruine/MMVAE/pull/19", "https://github.com/pytorch/examples/pull/296")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["spread"] < 0.2  # the codes say nothing
    assert good["spread"] > 0.5

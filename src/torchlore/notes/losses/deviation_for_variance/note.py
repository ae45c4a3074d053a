"""`gaussian_nll_loss` takes the variance, `Normal` its root; `exp(logvar)` is the variance.

All three are positive tensors of one shape, so any of them fits anywhere. A sigma given to `GaussianNLLLoss` comes out as the
variance: a noise of 0.3 is learned as 0.09. A variance given to `Normal` draws too wide or too narrow, and a VAE that draws
with `std = logvar.exp()` has a KL term that belongs to another distribution than the one it draws from. A diffusion model's
`alpha_bar` and `1 - alpha_bar` are variances too: the noisy sample takes the root of both.

```python
loss = F.gaussian_nll_loss(mu, target, sigma**2)
std = torch.exp(0.5 * logvar)
dist = torch.distributions.Normal(mu, std)
```
"""

ROWS = ()
SOURCES = ("https://github.com/unit8co/darts/pull/1162",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["sigma"] - 0.09) < 0.03
    assert abs(good["sigma"] - 0.3) < 0.03

"""Noise drawn once, in `__init__` or before the loop, is a constant that the model learns by heart.

A VAE with `self.eps = torch.randn(1, z_dim)` in its constructor adds the same vector to every latent in every step. Nothing is sampled:
the decoder learns where each input lands with this one shift, the KL term no longer keeps the codes apart, and samples drawn
afterwards from the prior are garbage. A generator that gets the `z` drawn before the loop learns one batch of pictures. The loss falls
better than it should.

Draw it where it is used:

```python
z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
```

A fixed batch of noise to look at pictures with, under `no_grad()`, is fine.
"""

ROWS = ()
SOURCES = ("https://github.com/genforce/genforce/issues/27", "https://github.com/taoxugit/AttnGAN/issues/101")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["spread"] == 0
    assert good["spread"] > 0.5

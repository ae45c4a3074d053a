"""Generator and discriminator must pull the fakes' score in opposite directions.

The discriminator is told that a fake is 0, the generator that it is 1; a Wasserstein critic has `+ critic(fake)` in its loss, the
generator `- critic(fake)`. One label or one sign copied along, and both want the same: the discriminator calls everything real, or
the generator is trained to be found out. Both losses fall nicely, and the pictures stay noise.

```python
d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
g_loss = bce(D(fake), ones)

c_loss = critic(fake.detach()).mean() - critic(real).mean()
g_loss = -critic(fake).mean()
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/soumith/ganhacks",
    "https://github.com/SerezD/vqvae-vqgan-pytorch-lightning/issues/3",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["fake"] < 0 < good["fake"]  # away from the real ones at 4, or towards them

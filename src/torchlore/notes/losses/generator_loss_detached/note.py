"""A generator's loss on `D(fake.detach())` sends no gradient to the generator: it never learns.

`detach()` belongs into the discriminator's step, where the generator must not move. Copied into the generator's step it cuts
the only path by which the generator could learn. Its optimizer still steps; with momentum or weight decay the weights even
move. The discriminator wins at once, which looks like a hard GAN.

```python
d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)   # the generator is left alone
g_loss = bce(D(fake), ones)                                  # here the gradient must pass
```
"""

ROWS = ()
SOURCES = ("https://github.com/nikhilsinghmus/image2reverb/issues/37",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["generator_moved"] == 0
    assert good["generator_moved"] > 0

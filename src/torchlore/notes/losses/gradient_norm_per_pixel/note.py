"""A gradient penalty wants one length a sample: flatten the gradients before `norm(dim=1)`.

For a batch of images the gradients have the shape (N, C, H, W). `gradients.norm(2, dim=1)` takes the length over the channels only
and leaves (N, H, W): every single pixel is then pulled towards a length of 1, and a sample of 28 x 28 pixels has a slope of 28
where WGAN-GP asks for 1.

```python
length = gradients.flatten(1).norm(2, dim=1)
penalty = ((length - 1) ** 2).mean()
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/caogang/wgan-gp/issues/27",
    "https://github.com/caogang/wgan-gp/issues/56",
    "https://github.com/Zeleni9/pytorch-wgan/issues/40",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["lengths"] == 4 * 8 * 8
    assert good["lengths"] == 4

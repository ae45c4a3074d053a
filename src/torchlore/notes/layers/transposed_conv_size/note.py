"""A transposed convolution gives (H-1)S - 2P + D(K-1) + OP + 1; kernel 2 and stride 2 double.

`D` is the dilation and `OP` the output padding. The short form `(H-1)S - 2P + K + OP` is the same at dilation 1 and wrong
at every other. Several sizes can be asked for: call it with `output_size=` and torch finds the output padding.

In a U-Net `nn.ConvTranspose2d(channels, channels // 2, 2, stride=2)` doubles exactly. The first number is what comes in:
written `channels // 2`, it must be fed half the channels. An odd size comes back one short, because the pooling on the
way down rounded: 31 becomes 15 becomes 30, and does not fit its skip.

```python
x = up(x, output_size=skip.shape[-2:])  # 15 -> 31
x = torch.cat([skip, x], dim=1)
```
"""

ROWS = ("layer-convtranspose-size", "layer-unet-up")
SOURCES = ("001:60-61", "001:62")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import itertools

    import torch
    from torch import nn

    from torchlore.notes.proof import error_of
    from torchlore.recipes.shapes import conv_transpose_size

    short_is_wrong = 0
    for h, k, s, p, d in itertools.product((1, 4, 7), (1, 2, 3), (1, 2, 3), (0, 1), (1, 2, 3)):
        expected = (h - 1) * s - 2 * p + d * (k - 1) + 1
        if expected < 1:
            continue
        layer = nn.ConvTranspose1d(1, 1, k, stride=s, padding=p, dilation=d, device=device)
        size = layer(torch.zeros(1, 1, h, device=device)).shape[-1]
        assert size == expected == conv_transpose_size(h, k, stride=s, padding=p, dilation=d)
        short = (h - 1) * s - 2 * p + k
        assert (short == size) == (d == 1 or k == 1)
        short_is_wrong += short != size
    assert short_is_wrong > 20

    up = nn.ConvTranspose2d(64, 32, 2, stride=2, device=device)
    skip = torch.zeros(1, 32, 31, 31, device=device)
    low = nn.functional.max_pool2d(torch.zeros(1, 64, 31, 31, device=device), 2)
    assert up(low).shape[-2:] == (30, 30)
    assert up(low, output_size=skip.shape[-2:]).shape[-2:] == (31, 31)
    assert error_of(lambda: nn.ConvTranspose2d(32, 32, 2, stride=2, device=device)(low)) == "RuntimeError"

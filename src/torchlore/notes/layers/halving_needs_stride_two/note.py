"""Kernel 3 with padding 1 halves the picture only with `stride=2`, and rounds odd sizes up.

Kernel 3 with padding 1 and kernel 5 with padding 2 keep the size; the stride does the halving. The defaults differ: a
convolution has stride 1, so 32 stays 32; pooling has the kernel as its stride, so `nn.MaxPool2d(3, padding=1)` turns 32
into 11. Write the stride out:

```python
nn.Conv2d(c, c, 3, stride=2, padding=1)
nn.MaxPool2d(3, stride=2, padding=1)
```

33 becomes 17, not 16; `torchlore.recipes.shapes` (`conv_size`, `pool_size`) tells the size before anything runs.
Average pooling counts the padded zeros into its mean, so that the border comes out too small: a picture of ones has
0.44 in its corner. `count_include_pad=False` takes only what is there.
"""

ROWS = ("layer-halve",)
SOURCES = ("001:80",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch import nn

    from torchlore.recipes import shapes

    def size(layer: nn.Module, height: int) -> int:
        return int(layer.to(device)(torch.ones(1, 1, height, height, device=device)).shape[-1])

    for kernel in (3, 5):
        pad = kernel // 2
        assert size(nn.Conv2d(1, 1, kernel, padding=pad), 32) == 32
        for layer in (nn.Conv2d(1, 1, kernel, stride=2, padding=pad), nn.MaxPool2d(kernel, stride=2, padding=pad)):
            assert size(layer, 32) == shapes.conv_size(32, kernel, stride=2, padding=pad) == 16
            assert size(layer, 33) == shapes.conv_size(33, kernel, stride=2, padding=pad) == 17
    assert size(nn.MaxPool2d(3, padding=1), 32) == shapes.pool_size(32, 3, padding=1) == 11

    ones = torch.ones(1, 1, 4, 4, device=device)
    assert abs(float(nn.AvgPool2d(3, 2, 1)(ones).min()) - 4 / 9) < 1e-6
    assert float(nn.AvgPool2d(3, 2, 1, count_include_pad=False)(ones).min()) == 1

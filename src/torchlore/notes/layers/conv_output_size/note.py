"""A convolution's output size is floor((H + 2P - D(K-1) - 1) / S) + 1, and the floor is part of it.

`H` is the input size, `K` the kernel, `S` the stride, `P` the padding on each side, `D` the dilation. Without the floor
the formula gives fractions for a good third of all settings. Dilation spreads the taps: with `dilation=2` one input
pixel lies between two taps, so a kernel of 3 spans 5.

"Same" size needs stride 1 and `P = D(K-1)/2`: for a kernel of 3 that is `padding=dilation`. With a larger stride no
padding keeps the size, and `padding="same"` refuses it. Work it out with `lore shape conv 224 -k 7 -s 2 -p 3`, or with
`torchlore.recipes.shapes`.
"""

ROWS = ("layer-conv-size", "layer-conv-same", "layer-dilation", "layer-conv-basic", "layer-conv-visualizer")
SOURCES = ("001:58", "001:64", "001:65", "003:174-178", "003:179")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import itertools

    import torch
    from torch import nn

    fractions = 0
    for h, k, s, p, d in itertools.product(range(5, 14), (1, 2, 3, 5), (1, 2, 3), (0, 1, 2), (1, 2)):
        exact = (h + 2 * p - d * (k - 1) - 1) / s + 1
        if exact < 1:
            continue
        conv = nn.Conv2d(1, 1, k, stride=s, padding=p, dilation=d, device=device)
        assert conv(torch.zeros(1, 1, h, h, device=device)).shape[-1] == int(exact)
        fractions += exact != int(exact)
    assert fractions > 100  # the floor matters

    def size(**how: int | str) -> int:
        return int(nn.Conv2d(1, 1, 3, device=device, **how)(torch.zeros(1, 1, 9, 9, device=device)).shape[-1])  # type: ignore[arg-type]  # one dict for ints and "same"

    assert [size(padding=d, dilation=d) for d in (1, 2, 3)] == [9, 9, 9]
    assert size(padding=1, stride=2) == 5
    try:
        nn.Conv2d(1, 1, 3, padding="same", stride=2)
    except ValueError:
        pass
    else:
        raise AssertionError('padding="same" accepted a stride of 2')

    taps = nn.Conv1d(1, 1, 3, dilation=2, bias=False, device=device)
    x = torch.zeros(1, 1, 5, device=device, requires_grad=True)
    taps(x).sum().backward()
    assert x.grad is not None
    assert (x.grad != 0).int().flatten().tolist() == [1, 0, 1, 0, 1]

"""`nn.ModuleList([layer] * 4)` holds one layer four times: one set of weights.

Multiplying a list repeats the reference, not the object. So do `[layer for _ in range(4)]`, and `decoder = encoder` before
both are put into a `ModuleList`. The network runs, has a quarter of the parameters that you think, and the "four" layers
can never learn different things. `sum(p.numel() for p in model.parameters())` shows it.

Make or copy one for each place:

```python
nn.ModuleList(nn.Linear(d, d) for _ in range(4))
nn.ModuleList(copy.deepcopy(layer) for _ in range(4))
decoder = copy.deepcopy(encoder)
```

A copy starts from the same values; layers made anew start from different ones, which is usually better. Layers without
parameters (activations, pooling) may be shared freely.
"""

ROWS = ()
SOURCES = ("https://github.com/zalandoresearch/pytorch-vq-vae/issues/2",
           "https://github.com/yassouali/pytorch-segmentation/pull/159")  # fmt: skip
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    import copy

    from torch import nn

    assert bad["parameters"] < good["parameters"]
    assert bad["distinct_layers"] == 1
    assert good["distinct_layers"] == 4
    layer = nn.Linear(2, 2)
    assert len({id(one) for one in [layer for _ in range(3)]}) == 1
    assert len({id(one) for one in [copy.deepcopy(layer) for _ in range(3)]}) == 3

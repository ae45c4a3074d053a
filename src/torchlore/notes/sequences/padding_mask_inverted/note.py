"""In `key_padding_mask` True means ignore: a mask of the valid places attends to the padding alone.

`nn.MultiheadAttention` and the Transformer layers ignore where `key_padding_mask` (and `src_key_padding_mask`, ...) is True.
Hugging Face's `attention_mask` and a mask such as `positions < lengths` are True where there is a word. Passed as they are, the
model sees the padding only: it learns little, and its answer changes with what the padding holds. A sequence without padding
is then masked completely, which gives NaN.

```python
padding = ids == PAD                      # True: ignore
h = encoder(x, src_key_padding_mask=padding)
h = encoder(x, src_key_padding_mask=~valid)
```

`F.scaled_dot_product_attention` has it the other way round: in its boolean `attn_mask` True means attend.
"""

ROWS = ()
SOURCES = (
    "https://github.com/lucidrains/x-transformers/issues/253",
    "https://github.com/InseeFrLab/torchTextClassifiers/pull/92",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn
    from torch.nn import functional as F

    assert bad["depends_on_padding"] > 0.01
    assert good["depends_on_padding"] < 1e-5
    x = torch.randn(1, 3, 4)
    attention = nn.MultiheadAttention(4, 2, batch_first=True)
    assert attention(x, x, x, key_padding_mask=torch.ones(1, 3, dtype=torch.bool))[0].isnan().all()
    keep = torch.tensor([[[True, False, False]]]).expand(1, 3, 3)
    assert torch.allclose(F.scaled_dot_product_attention(x, x, x, attn_mask=keep), x[:, :1].expand(1, 3, 4), atol=1e-5)

"""An inverted causal mask shows each word the future and hides the past.

The two conventions contradict each other: in `attn_mask` of `nn.MultiheadAttention` and the Transformer layers True means
"may not look", in `F.scaled_dot_product_attention` True means "may look". A lower triangle in the former, an upper one in the
latter, hides exactly what should be seen; training then reaches a loss near 0 by copying the next word. A float mask is
added to the scores: a triangle of ones hides nothing at all.

Take `nn.Transformer.generate_square_subsequent_mask(n)`, or `is_causal=True` in `F.scaled_dot_product_attention`.
"""

ROWS = ()
SOURCES = ("https://github.com/rasbt/LLMs-from-scratch/issues/1061", "https://github.com/pytorch/pytorch/issues/29546")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["first_sees_last"] > 0.01
    assert good["first_sees_last"] == 0

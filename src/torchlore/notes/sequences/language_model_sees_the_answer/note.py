"""A language model without a causal mask copies the next word from its input.

The target of position t is the input of position t + 1. Attention without a mask sees both, and the model learns to copy:
the training and validation loss fall close to 0, and generation, where the next word is not there yet, gives nonsense.

Hide the future: `encoder(x, mask=nn.Transformer.generate_square_subsequent_mask(n), is_causal=True)`, or
`F.scaled_dot_product_attention(q, k, v, is_causal=True)`.
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/tutorials/issues/2478",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["sees_the_future"] > 0.001
    assert good["sees_the_future"] < 1e-5

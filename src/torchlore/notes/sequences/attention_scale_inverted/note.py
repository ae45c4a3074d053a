"""Attention divides by the square root of the width; dividing by `d ** -0.5` multiplies by it.

`self.scale = d ** -0.5` is a factor, `math.sqrt(d)` a divisor. `(q @ k.transpose(-2, -1)) / self.scale` with the factor makes the
scores d times larger than they should be, 64 times for a head of 64. The softmax saturates: each query looks at one key, hardly
any gradient comes through, and training is slow or stuck from the first step.

A milder form divides by the root of the whole width, `embed_size`, where the queries were split into heads: the scores of 8 heads are
then too small by the root of 8, and the attention is flatter than it was meant to be.

Write `q @ k.transpose(-2, -1) * d**-0.5` or `/ math.sqrt(d)`, where d is the width of one head, or let torch do it:
`F.scaled_dot_product_attention(q, k, v)`.
"""

ROWS = ()
SOURCES = ("https://github.com/esceptico/perceiver-io/issues/9",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["spread"] < 2
    assert bad["spread"] > 40

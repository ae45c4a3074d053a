"""Attention's softmax goes over the keys, the last dimension of `q @ k.T`, not over the queries.

`torch.bmm(q, k.transpose(1, 2))` is (batch, queries, keys), and each query spreads a weight of 1 over the keys: `dim=-1`. With `dim=1`
the queries share each key, the weights of one query add up to anything, and the output of a query depends on how many
others there are. It trains, a little worse. In a decoder it is worse than that: the sum over queries looks at later positions, so the
mask no longer hides them.

Write `softmax(dim=-1)`, which is right for any number of dimensions in front, or use `F.scaled_dot_product_attention`.
"""

ROWS = ()
SOURCES = ("https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/19",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["most"] - 1) < 1e-5
    assert bad["most"] > 1.05  # the weights of one query

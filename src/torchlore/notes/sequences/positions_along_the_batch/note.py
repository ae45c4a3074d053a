"""A positional encoding for (length, batch, width) counts samples where the batch comes first.

The encoding of PyTorch's tutorial is (max_len, 1, width) and is cut by `self.pe[:x.size(0)]`. With `batch_first=True` the first
dimension is the batch: sample 5 gets the encoding of position 5 at all its time steps, and no step knows where it stands.
The shapes fit, the loss falls a little, and attention is blind to order; results change with the place in the batch.

Cut along the length and turn it: `x + self.pe[:x.size(1)].transpose(0, 1)`, or keep it as (1, max_len, width) and write
`x + self.pe[:, :x.size(1)]`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/songyangco/GETNext/issues/2",
    "https://github.com/AkiRusProd/numpy-transformer/issues/1",
    "https://github.com/KasperGroesLudvigsen/influenza_transformer/issues/9",
    "https://github.com/cmu-l3/anlp-fall2025-code/issues/1",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["knows_order"] < 1e-4
    assert good["knows_order"] > 1e-2

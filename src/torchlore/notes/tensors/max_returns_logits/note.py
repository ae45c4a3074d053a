"""torch.max(output, 1) returns values and indices; the values are logits, not probabilities.

`torch.max(output, 1)[1]` is the predicted label, and `output.argmax(dim=1)` says the same in words. The other half,
`[0]`, is the largest *score*: a network that ends in a linear layer gives 7.3 or -0.2 there, which is no confidence.

For labels write `output.argmax(dim=1)`. For label and probability: `confidence, label = output.softmax(dim=1).max(
dim=1)`. The result is a named tuple, so `.values` and `.indices` read better than `[0]` and `[1]`. Softmax does not
change which one is largest, so do not compute it for the label alone.
"""

ROWS = ("tensor-max-argmax",)
SOURCES = ("001:22-24",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch

    output = torch.tensor([[3.0, 9.0, 1.0], [-5.0, -7.0, -6.0]], device=device)
    best = torch.max(output, 1)
    assert isinstance(best, tuple)
    assert best[1].tolist() == best.indices.tolist() == output.argmax(dim=1).tolist() == [1, 0]
    assert best.values.tolist() == [9, -5]  # no probabilities
    confidence, label = output.softmax(dim=1).max(dim=1)
    assert torch.equal(label, best.indices)
    assert 0.99 < confidence[0] < 1
    assert 0.6 < confidence[1] < 0.7

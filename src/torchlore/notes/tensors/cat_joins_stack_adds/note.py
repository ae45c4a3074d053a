"""torch.cat joins along a dimension that is there, torch.stack makes a new one.

Three tensors (10, 5): `torch.cat` gives (30, 5), `torch.stack` gives (3, 10, 5). `stack` wants equal shapes; `cat`
lets the joined dimension differ. Samples that become a batch are stacked, batches that become a data set are joined.

`cat` mixes dtypes without a word: one int64 tensor among float16 ones is fine, one float64 tensor turns the whole
result into float64. Check the dtype of what you collect. Collect in a list and join once at the end: joining inside
the loop copies everything again in each turn.
"""

ROWS = ("tensor-cat-stack",)
SOURCES = ("003:128-132",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of

    three = [torch.full((10, 5), float(i), device=device) for i in range(3)]
    assert torch.cat(three, dim=0).shape == (30, 5)
    assert torch.cat(three, dim=1).shape == (10, 15)
    assert torch.stack(three, dim=0).shape == (3, 10, 5)
    assert torch.equal(torch.stack(three), torch.cat([t[None] for t in three]))
    ragged = [torch.zeros(2, 5, device=device), torch.zeros(3, 5, device=device)]
    assert torch.cat(ragged).shape == (5, 5)
    assert error_of(lambda: torch.stack(ragged)) == "RuntimeError"
    assert torch.cat([three[0], three[1].double()]).dtype == torch.float64  # promoted in silence
    assert torch.cat([three[0].half(), three[1].long()]).dtype == torch.float16

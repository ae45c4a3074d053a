"""`softmax` without `dim` guesses one, and on a 3-D tensor it guesses the batch.

`F.softmax(x)` and `nn.Softmax()` choose dimension 0 for tensors of 0, 1 or 3 dimensions and dimension 1 for all others, with
a warning that is easily lost. An attention map of shape (batch, queries, keys) is then normalised over the batch: every
sample depends on its neighbours. `dim=0` on a batch does the same without any warning: the probabilities of one sample no
longer sum to one.

Say which dimension is the classes:

```python
p = F.softmax(scores, dim=-1)      # (N, C), (N, L, C)
p = F.softmax(maps, dim=1)         # (N, C, H, W)
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/svishwa/crowdcount-cascaded-mtl/issues/22",
    "https://github.com/perone/euclidesdb/issues/2",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    from torchlore.notes.proof import warnings_of

    assert bad["depends_on_neighbours"] > 0.01
    assert good["depends_on_neighbours"] < 1e-6
    for shape, chosen in (((3,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((2, 3, 4, 5), 1)):
        x, got = torch.randn(shape), list[torch.Tensor]()
        assert warnings_of(lambda x=x, got=got: got.append(F.softmax(x)))  # type: ignore[misc]  # bound now
        assert torch.equal(got[0], F.softmax(x, dim=chosen))

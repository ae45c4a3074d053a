"""`torch.save` of a slice writes the whole tensor it was cut from.

A slice is a view: it shares the storage, and files keep storages whole so that shared tensors stay shared. Ten rows of
a batch of features take as much disk as the batch. Nobody notices until the disk is full.

`torch.save(x[:10].clone(), path)`. A file that is written already: `lore ckpt show` says how much of it is used, and
`lore ckpt convert IN OUT` writes it small.
"""

ROWS = ()
SOURCES = (
    "https://github.com/pytorch/pytorch/issues/1995",
    "https://github.com/pytorch/pytorch/issues/40157",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim() -> None:
    import io

    import torch

    from torchlore.notes.proof import ailments_of

    def written(value: torch.Tensor) -> int:
        file = io.BytesIO()
        torch.save(value, file)
        return len(file.getvalue())

    big = torch.randn(1000, 100)
    assert written(big[:10]) > 400_000
    assert written(big[:10].clone()) < 10_000
    said = ailments_of({"features": big[:10]})
    assert "400,000 bytes are stored and 4,000 used" in said["oversized-storage"]
    assert ailments_of({"features": big[:10].clone()}) == {}

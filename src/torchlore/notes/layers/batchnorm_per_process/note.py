"""Under DataParallel and DDP each device's BatchNorm sees only its own part of the batch.

A batch of 32 over 8 GPUs is normalised as 8 batches of 4. Each replica computes mean and variance of its own samples and,
under DDP, keeps running statistics of its own: they drift apart between ranks, and the checkpoint holds those of rank 0
alone (DDP broadcasts rank 0's buffers before each forward pass unless `broadcast_buffers=False`). With few samples per
device the statistics are noise.

Convert before wrapping, one process per GPU:

```python
model = nn.SyncBatchNorm.convert_sync_batchnorm(model).to(device)
model = nn.parallel.DistributedDataParallel(model, device_ids=[local_rank])
```

Or use a norm that does not look at the batch: `nn.GroupNorm`, `nn.LayerNorm`.
"""

ROWS = ("layer-bn-per-card",)
SOURCES = ("003:193-194",)
TORCH = "2.11, 2.15"
NEEDS = ("two-processes",)


def claim() -> None:
    import tempfile
    from pathlib import Path

    import torch
    from torch import nn

    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.start_processes(_rank, args=(folder,), nprocs=2, start_method="fork")  # type: ignore[attr-defined, no-untyped-call]  # untyped
        means = [torch.load(Path(folder) / f"{rank}.pt") for rank in range(2)]
    x = torch.arange(24.0).view(8, 3)
    for mean, half in zip(means, x.chunk(2), strict=True):
        assert torch.allclose(mean, half.mean(0) * 0.1, atol=1e-6)  # its own half only
    assert not torch.allclose(means[0], means[1])
    whole = nn.BatchNorm1d(3)
    whole(x)
    assert whole.running_mean is not None
    assert torch.allclose(whole.running_mean, (means[0] + means[1]) / 2, atol=1e-6)


def _rank(rank: int, folder: str) -> None:
    import torch
    from torch import distributed, nn

    store = distributed.FileStore(f"{folder}/store", 2)  # type: ignore[attr-defined]  # exported at run time
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=2)
    norm = nn.BatchNorm1d(3)
    model = nn.parallel.DistributedDataParallel(norm)
    model(torch.arange(24.0).view(8, 3).chunk(2)[rank]).sum().backward()
    torch.save(norm.running_mean, f"{folder}/{rank}.pt")
    distributed.destroy_process_group()

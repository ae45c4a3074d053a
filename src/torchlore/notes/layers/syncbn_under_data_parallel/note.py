"""SyncBatchNorm synchronises between processes only: under DataParallel it is plain BatchNorm.

`nn.SyncBatchNorm` exchanges statistics through a process group. `nn.DataParallel` runs in one process and has none, and
without one the layer falls back to the batch at hand and says nothing. The cure is DDP, one process per GPU.

Convert with the function that torch has for it, before wrapping:

```python
model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
model = nn.parallel.DistributedDataParallel(model.to(device), device_ids=[local_rank])
```

It keeps what hand-written recursions lose: the number of batches seen, the mode, `requires_grad`, and the very Parameter
objects, so that an optimizer built before still holds the live ones.
"""

from collections.abc import Iterator

from torchlore.check.source import Hit, Source

_SYNC = ("torch.nn.SyncBatchNorm", "torch.nn.SyncBatchNorm.convert_sync_batchnorm")
_GROUP = ("torch.nn.parallel.DistributedDataParallel", "torch.distributed.init_process_group")

ROWS = ("layer-syncbn", "layer-syncbn-convert")
SOURCES = ("003:195-200", "003:201-222")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import torch
    from torch import nn

    from torchlore.recipes import layers

    assert bad["wrapper"] == "DataParallel"
    assert bad["synchronised"] is False
    assert good["synchronised"] is True

    plain, sync = nn.BatchNorm1d(3), nn.SyncBatchNorm(3)
    x = torch.randn(8, 3)
    assert torch.equal(plain(x), sync(x))  # no process group: the same, silently

    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    model(x)
    model.eval()
    model[1].weight.requires_grad_(False)
    weight = model[1].weight
    for convert in (nn.SyncBatchNorm.convert_sync_batchnorm, layers.to_sync_batch_norm):
        converted = convert(model).get_submodule("1")
        assert isinstance(converted, nn.SyncBatchNorm)
        assert int(converted.get_buffer("num_batches_tracked")) == 1
        assert not converted.training
        assert converted.weight is weight
        assert not converted.weight.requires_grad


WORDS = ("SyncBatchNorm", "DataParallel")


def find(source: Source) -> Iterator[Hit]:
    if not any(source.calls(*_SYNC)) or any(source.calls(*_GROUP)):
        return
    for call in source.calls("torch.nn.DataParallel", "torch.nn.parallel.DataParallel"):
        message = (
            "SyncBatchNorm needs a process group and is plain BatchNorm under DataParallel: use DistributedDataParallel"
        )
        yield source.hit(call, message)

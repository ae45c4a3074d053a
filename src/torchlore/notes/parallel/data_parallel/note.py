"""nn.DataParallel is the old way to use several GPUs; DistributedDataParallel replaces it.

`nn.DataParallel(module, device_ids=None, output_device=None, dim=0)` runs one process with a thread for each GPU. Each
step it copies the model to every card and gathers the outputs on the first, batch norm sees only a card's share, and
Python's lock holds all threads. Torch's documentation advises DistributedDataParallel even on one machine. Two things
surprise: attributes of the model hide behind `.module`, and every name in the `state_dict` gets the prefix `module.`,
even on a CPU, where the wrapper does nothing else.

Start one process a GPU with `torchrun --nproc-per-node=N train.py` and write
`DistributedDataParallel(model.to(local_rank), device_ids=[local_rank])`, with a `DistributedSampler`.
"""

ROWS = ("parallel-dp-signature", "parallel-dp")
SOURCES = ("000:41-42", "002:111-117")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import inspect

    from torch import nn

    assert list(inspect.signature(nn.DataParallel).parameters) == ["module", "device_ids", "output_device", "dim"]
    assert bad["keys"] == ["module.weight", "module.bias"]
    assert bad["in_features"] == "AttributeError"
    assert good["keys"] == ["weight", "bias"]
    assert good["in_features"] == 4
    assert bad["sum"] == good["sum"]  # it changed nothing else

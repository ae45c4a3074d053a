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


def claim() -> None:
    import inspect

    import torch
    from torch import nn

    from torchlore.notes.proof import error_of
    from torchlore.recipes.device import unwrap

    assert list(inspect.signature(nn.DataParallel).parameters) == ["module", "device_ids", "output_device", "dim"]
    model = nn.Linear(4, 2)
    wrapped = nn.DataParallel(model)
    assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    assert error_of(lambda: wrapped.in_features) == "AttributeError"
    assert unwrap(wrapped) is model
    x = torch.ones(3, 4, device=model.weight.device)
    assert torch.allclose(wrapped(x).cpu(), model(x).cpu())  # the same numbers

"""A weight matrix that is all zeros in a checkpoint was never trained, or never filled.

A layer that starts at zero behind a ReLU passes on no gradient and stays there; a sharded trainer saves empty or zero
placeholders instead of its shards. The file loads without a word either way. Zeros on purpose exist (the last layer of
a residual branch before the first step), so this is a warning.

`lore ckpt show` names the key; compare with an earlier file: `lore ckpt diff OLD NEW`.
"""

ROWS = ()
SOURCES = ("https://github.com/deepspeedai/DeepSpeed/issues/2413",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim() -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import ailments_of

    hidden = nn.Linear(2, 4)
    nn.init.zeros_(hidden.weight)
    nn.init.zeros_(hidden.bias)
    model: nn.Module = nn.Sequential(hidden, nn.ReLU(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(5):
        optimizer.zero_grad()
        model(torch.ones(8, 2)).square().mean().backward()
        optimizer.step()
    assert not hidden.weight.any()  # behind a ReLU that is shut nothing moves it
    said = ailments_of(model.state_dict())
    assert "0.weight is all zeros" in said["all-zero-tensor"]
    assert "2.weight" not in said["all-zero-tensor"]

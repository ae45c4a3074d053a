"""A checkpoint that holds NaN is of a run that broke before it was saved; no later step mends it.

One bad step writes NaN into the weights, the next saves write it over the good files, and resuming reads it back. It
can hide: a NaN in a running mean shows only in `eval()`, one in Adam's moments only at the next step.

`lore ckpt show FILE` names each tensor with its count. Take an older file. In your own loop refuse to save a loss that is
not finite; `lore train` stops before it saves.
"""

ROWS = ()
SOURCES = (
    "https://github.com/Rikorose/DeepFilterNet/issues/30",
    "https://github.com/pytorch/pytorch/issues/1206",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim() -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import ailments_of

    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    assert ailments_of(model.state_dict()) == {}
    model[1](torch.tensor([[1.0, float("nan")], [2.0, 3.0]]))  # one bad batch
    x = torch.randn(4, 2)
    assert model(x).isfinite().all()  # training goes on
    assert model.eval()(x)[:, 1].isnan().all()
    assert "1.running_" in ailments_of(model.state_dict())["nan-in-checkpoint"]
    assert "w holds infinities" in ailments_of({"w": torch.tensor([1.0, float("inf")])})["nan-in-checkpoint"]

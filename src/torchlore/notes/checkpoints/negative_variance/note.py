"""A BatchNorm whose saved running variance is negative gives NaN in `eval()`, and only there.

No training step makes one. It comes from outside: from averaging checkpoints with negative weights, from filling every
float of a state dict with noise, from reading the buffers in the wrong order. In `train()` the batch's own variance is
used and nothing shows.

`lore ckpt show` names the buffer. Recompute the statistics: `reset_running_stats()`, then some batches in `train()`
under `no_grad()`.
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/106605",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim() -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import ailments_of

    norm = nn.BatchNorm1d(2)
    assert norm.running_var is not None
    norm.running_var.copy_(torch.tensor([1.0, -0.5]))
    x = torch.randn(64, 2)
    said = ailments_of({"norm." + name: value for name, value in norm.state_dict().items()})
    assert "norm.running_var is negative" in said["negative-variance"]
    assert norm.eval()(x)[:, 1].isnan().all()
    norm.train().reset_running_stats()
    norm(x)
    assert norm.eval()(x).isfinite().all()

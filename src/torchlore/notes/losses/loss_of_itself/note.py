"""A loss between a thing and itself is at its best from the start and teaches nothing.

`F.kl_div(F.log_softmax(student / T, 1), F.softmax(student / T, 1))` was to compare the student with its teacher, `F.mse_loss(recon, recon)` the
reconstruction with its image. The line was copied and one name stayed. The term is 0, its gradient is 0, the other terms go on, and the
curve of a loss that is 0 looks like success.

Write the target's name.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/generated/torch.nn.KLDivLoss.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["loss"]) < 1e-6
    assert bad["gradient"] < 1e-6
    assert good["gradient"] > 1e-3

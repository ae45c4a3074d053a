"""A best value that is compared and never stored keeps every epoch that beats the start.

`if val_loss < best_loss:` saves the checkpoint, and the line `best_loss = val_loss` is missing. `best_loss` stays at infinity,
every epoch is better than that, and `best.pt` is the last epoch whatever happened before. The log says "saved" each time,
which looks like a run that improves all the way. Early stopping written the same way never stops. The same line outside of the
`if` is no better: then each epoch is compared with the one before it; and a `torch.save` to `best.pt` beside the `if` instead of
in it overwrites the best with the last.

Store it where it is beaten: `best_loss = val_loss` beside the `torch.save`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/ZijiaLewisLu/CVPR2024-FACT/issues/9",
    "https://github.com/PolymathicAI/the_well/pull/60",
    "https://github.com/mindee/doctr/issues/1959",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["kept"] == 3  # the last epoch, and the worst
    assert good["kept"] == 1

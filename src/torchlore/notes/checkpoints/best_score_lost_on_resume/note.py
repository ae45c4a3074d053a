"""A resumed run that starts its best score at 0 again overwrites the best checkpoint at once.

Model, optimizer and epoch are read from the checkpoint, and `best_acc = 0.0` stands where it stood. The first epoch after the restart
beats it whatever it scores, and `best.pth`, the result of all the hours before, is replaced by an ordinary epoch. Early stopping
and "reduce on plateau" by hand forget in the same way.

A constructor that loads first and sets `self.steps = 0` and `self.best = 0.0` afterwards forgets what it has just read.

Save it with the rest and read it back: `{"model": ..., "epoch": epoch, "best_acc": best_acc}` and
`best_acc = checkpoint["best_acc"]`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/facebookresearch/ConvNeXt/issues/94",
    "https://github.com/KaiyangZhou/deep-person-reid/issues/63",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["kept"] == 0.9
    assert bad["kept"] == 0.7

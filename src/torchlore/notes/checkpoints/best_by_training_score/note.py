"""The best by the training score is the one that has learned its training set by heart.

`if train_acc > best: best = train_acc` and `torch.save(...)`, where the same turn computes a `val_acc`: the validation is run, printed and not
asked. The training score grows as long as the network can memorise, so the checkpoint that is kept is nearly always the last one, and an
early stop that waits for the training loss to rise never comes.

Choose, and stop, by the validation score.
"""

ROWS = ()
SOURCES = ("https://github.com/VMarsocci/pangaea-bench/issues/28",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["epoch"] > good["epoch"]
    assert bad["kept"] > good["kept"]

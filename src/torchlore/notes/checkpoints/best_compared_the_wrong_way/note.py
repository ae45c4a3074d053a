"""A best value that starts at infinity and is compared with `>` is never beaten.

`best_loss = float("inf")` and then `if val_loss > best_loss:` is false for ever; `best_acc = 0` and `if val_acc < best_acc:`
the same. No checkpoint is written, or early stopping stops at its first chance, and the script ends without a word. With
both turned round (`best_acc = inf`, compared with `>`) it looks as consistent and saves nothing either.

For what should fall: start at `float("inf")` and test `val_loss < best_loss`. For what should grow: start at
`-float("inf")` (or 0 for an accuracy) and test `val_acc > best_acc`.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["saved"] == []
    assert good["saved"] == [0, 1, 3]

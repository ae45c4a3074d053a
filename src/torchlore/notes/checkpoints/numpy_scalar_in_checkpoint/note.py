"""A NumPy number in a checkpoint makes it unreadable under today's `torch.load`.

`best_acc = np.mean(label == prediction) * 100` is an `np.float64`. It looks like a float and saves without a word; but
since torch 2.6 `torch.load` reads weights and plain Python values only, and refuses the whole file for one NumPy
scalar: the run cannot be resumed. `argparse.Namespace`, `Path` and your own classes are refused in the same way.

Convert when you build the dict: `"best_acc": float(best_acc)`, `"args": vars(args)`, `str(path)`. A file that is already
written loads with `torch.serialization.safe_globals([...])`; `lore ckpt` names what is in it without running it.
"""

ROWS = ("ckpt-resume",)
SOURCES = ("003:558", "003:568-578", "003:583")
TORCH = "2.11, 2.15"
NEEDS = ("numpy",)
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import argparse
    import io
    import pickle
    from pathlib import Path

    import torch

    assert bad["resumed"] == "UnpicklingError"
    assert good["resumed"] == 75.0
    for value in (argparse.Namespace(lr=0.1), Path("data")):
        file = io.BytesIO()
        torch.save({"value": value}, file)
        file.seek(0)
        try:
            torch.load(file)
        except pickle.UnpicklingError:
            pass
        else:
            raise AssertionError(f"{type(value).__name__} was loaded as a weight")

"""A NumPy number in a checkpoint makes it unreadable under today's `torch.load`.

`best_acc = np.mean(label == prediction) * 100` is an `np.float64`. It looks like a float and saves without a word; but
since torch 2.6 `torch.load` reads weights and plain Python values only, and refuses the whole file for one NumPy
scalar: the run cannot be resumed. `argparse.Namespace`, `Path` and your own classes are refused in the same way.

Convert when you build the dict: `"best_acc": float(best_acc)`, `"args": vars(args)`, `str(path)`. A file that is already
written loads with `torch.serialization.safe_globals([...])`; `lore ckpt` names what is in it without running it.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

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


def watch(call: Annotated[Call, "torch.save"]) -> Alarm | None:
    given = call.argument(0, "obj")
    for key, part in given.items() if isinstance(given, dict) else ():
        kind = type(part)
        if kind.__module__ == "numpy" and hasattr(part, "item") and getattr(part, "ndim", 1) == 0:
            return Alarm(
                f'"{key}" is a NumPy {kind.__name__}, and torch.load refuses a file that holds one; save float(...)'
            )
    return None

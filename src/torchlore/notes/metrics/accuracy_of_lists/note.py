"""`np.mean(label == prediction)` needs arrays: of two Python lists it is 0 or 1.

`==` between arrays compares element by element; between lists it asks whether they are the same list. So the accuracy of
`[0, 1, 1]` against `[0, 1, 0]` is 0.0 instead of 66.7 %, without a warning. With two tensors on a GPU the call fails.

Convert once, `np.asarray(labels)`, and take the result out of NumPy if it goes into a checkpoint:
`float(np.mean(np.asarray(label) == np.asarray(prediction)) * 100)`. An `np.float64` in the file stops today's
`torch.load`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, values
from torchlore.check.source import Hit, Source

ROWS = ("metrics-accuracy-np",)
SOURCES = ("003:579-583",)
TORCH = "2.11, 2.15"
NEEDS = ("numpy",)
SEVERITY = "error"
WORDS = ("mean|sum|average|count_nonzero", "numpy|np")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import numpy as np
    import torch

    from torchlore.recipes import metrics

    assert bad["accuracy"] == 0.0
    assert abs(good["accuracy"] - 75.0) < 1e-9
    assert isinstance(np.mean(np.array([1]) == np.array([1])), np.floating)
    assert type(good["accuracy"]) is float
    assert metrics.accuracy(torch.tensor([1, 0, 2, 2]), torch.tensor([1, 0, 2, 1])).item() == 0.75


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("numpy.mean", "numpy.sum", "numpy.average", "numpy.count_nonzero"):
        test = call.args[0] if call.args else None
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.NotEq)):
            continue
        sides = (test.left, test.comparators[0])
        if all(values.sure(source, side, "list") for side in sides):
            names = " and ".join(f"`{source.code(side)}`" for side in sides)
            yield source.hit(
                test,
                f"{names} are lists: `==` asks whether they are equal as a whole; compare np.asarray of both",
                *(edit for side in sides for edit in edits.wrap(source, side, "np.asarray(")),
                safe=source.names.imported.get("np") == "numpy",
            )

"""F.one_hot without num_classes is as wide as the largest label of that batch.

A batch that happens to lack the last class gives a narrower tensor. The next matrix product or comparison fails on a
batch somewhere in the epoch, or, where broadcasting allows it, does not fail at all.

Always pass it: `F.one_hot(labels, num_classes)`. The result is int64; losses want `.float()`. The older way, `zeros`
and `scatter_` with ones, gives the same for labels of shape (N,) and nothing else. Both refuse an ignore label such as
-1 or 255; `torchlore.recipes.tensors.one_hot(labels, C, ignore_index=255)` gives those zeros, and puts the classes
second, where losses want them. Cross-entropy needs no one-hot at all, it takes the labels themselves.
"""

import ast
import re
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import calls, follow, tree, values
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ("tensor-onehot",)
SOURCES = ("003:133-138",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_STEPS = regex(r"forward|loss|step|collate|train|valid|criterion|__getitem__|__call__|mixup|batch", re.IGNORECASE)


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch
    from torch.nn import functional as F

    from torchlore.notes.proof import error_of
    from torchlore.recipes.tensors import one_hot

    assert bad["widths"] == [4, 2]
    assert good["widths"] == [4, 4]

    labels = torch.tensor([0, 2, 1], device=device)
    literal = torch.zeros(3, 4, dtype=torch.long, device=device)
    literal.scatter_(dim=1, index=labels.unsqueeze(1), src=torch.ones(3, 4, dtype=torch.long, device=device))
    assert torch.equal(literal, F.one_hot(labels, 4))
    assert torch.equal(literal, one_hot(labels, 4))
    assert one_hot(labels.view(1, 3, 1), 4).shape == (1, 4, 3, 1)
    assert F.one_hot(labels.view(1, 3, 1), 4).shape == (1, 3, 1, 4)  # any shape
    if device == "cpu":  # on a GPU this is a device assert, which ends the process's use of CUDA
        assert error_of(lambda: F.one_hot(torch.tensor([-1, 0]), 4)) == "RuntimeError"
        assert error_of(lambda: F.one_hot(torch.tensor([255, 0]), 4)) == "RuntimeError"


WORDS = ("one_hot",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.nn.functional.one_hot"):
        width = tree.argument(call, 1, "num_classes")
        if tree.lacks(call, 1, "num_classes") or tree.literal(width) == -1:
            labels = tree.argument(call, 0, "tensor")
            if labels is None or _whole(source, labels) or follow.in_test(source, call):
                continue
            message = (
                f"without num_classes the width follows the largest label in `{source.code(labels)}`, batch by batch: "
                f"write `one_hot({source.code(labels)}, num_classes)`"
            )
            part = isinstance(labels, ast.Attribute | ast.Subscript)  # `graph.ndata["label"]`: of a whole set, may be
            part |= bool(re.search("support|query|episode|shot", source.code(labels)))  # holds each of its classes
            yield source.hit(call, message, severity=None if _by_batch(source, call) and not part else "hint")


def _by_batch(source: Source, call: ast.Call) -> bool:
    """In a loop, or in a function that gets one batch; elsewhere it may well be the labels of a whole set."""
    home = tree.function(source, call)
    if home is None or tree.loops(source, call) or _STEPS.search(home.name):
        return bool(tree.loops(source, call)) or home is not None
    above = [tree.function(at, one) for at, one, _ in calls.callers(as_function(source, home))]
    return bool(above) and all(one is not None and one.name == "forward" for one in above)


def _whole(source: Source, labels: ast.expr) -> bool:
    """A literal tensor or a range holds every class by construction."""
    found = values.made_by(source, labels, "torch.arange", "torch.tensor", "torch.eye", "torch.randperm")
    if found is None or not isinstance(found.node, ast.Call):
        return False
    literal = tree.literal(found.node.args[0]) if found.node.args else tree.UNKNOWN
    return found.name != "torch.tensor" or literal is not tree.UNKNOWN


def watch(call: Annotated[Call, "one_hot"]) -> Alarm | None:
    if call.argument(1, "num_classes", -1) != -1 or call.result is None:
        return None
    widths = call.memory.setdefault("widths", set())
    widths.add(call.result.shape[-1])
    if len(widths) < 2:
        return None
    return Alarm(f"one_hot has given {sorted(widths)} columns on this line, as the batch has it: pass num_classes")

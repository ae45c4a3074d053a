"""`len(loader.dataset)` is the whole dataset even if a sampler draws a fifth of it.

With `DataLoader(data, sampler=SubsetRandomSampler(indices))` the loader hands out `len(indices)` samples, but its
dataset is still everything. A loss or a count of correct answers summed over the loader and divided by
`len(loader.dataset)` comes out too small by that factor: a validation loss that looks five times better than it is.

Divide by `len(loader.sampler)`, or by a count you keep yourself (`seen += labels.size(0)`), which is right with every
sampler, with `drop_last`, and under several processes.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/udacity/deep-learning-v2-pytorch/pull/336",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_PARTIAL = ("torch.utils.data.SubsetRandomSampler", "torch.utils.data.DistributedSampler")
WORDS = ("sampler", "dataset", "DataLoader", "len")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["accuracy"] == 1.0
    assert bad["accuracy"] == 0.2


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("len"):
        given = call.args[0] if call.args else None
        if not isinstance(given, ast.Attribute) or given.attr != "dataset" or not _divides(source, call):
            continue
        loaders = source.values(given.value)
        made = [one.node for one in loaders if one.name == "torch.utils.data.DataLoader" and one.source is source]
        if not made or len(made) != len(loaders):
            continue
        samplers = [tree.argument(one, None, "sampler") for one in made if isinstance(one, ast.Call)]
        if all(one is not None and {v.name for v in source.values(one)} <= set(_PARTIAL) for one in samplers):
            code = source.code(given.value)
            yield source.hit(
                call,
                f"`{code}` draws with a sampler, and `{source.code(call)}` counts what it leaves out too: divide by "
                f"`len({code}.sampler)`",
                edits.replace(source, given, f"{code}.sampler"),
            )


def _divides(source: Source, node: ast.AST) -> bool:
    up = source.parents[node]
    return (
        isinstance(up, ast.BinOp | ast.AugAssign)
        and isinstance(up.op, ast.Div)
        and node is not getattr(up, "left", None)
    )

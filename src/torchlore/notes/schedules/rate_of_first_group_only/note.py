"""`param_groups[0]["lr"]` is the rate of one group: with two, the other one keeps its own.

An optimizer that was given one list of parameters has one group, and writing `optimizer.param_groups[0]["lr"]` changes the rate of
all. With a second group, say a backbone and a head, the same line changes the first one only. The head goes on at its old rate,
and the log, which reads `param_groups[0]` too, shows a decay that half of the network never sees.

Change every group, each from its own rate: `for group in optimizer.param_groups: group["lr"] *= 0.1`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, uses
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = (
    "https://github.com/chenyuntc/simple-faster-rcnn-pytorch/issues/21",
    "https://github.com/rasbt/LLMs-from-scratch/issues/692",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, list[float]], good: dict[str, list[float]]) -> None:
    assert bad["rates"] == [0.001, 0.1]
    assert good["rates"] == [0.001, 0.01]


def find(source: Source) -> Iterator[Hit]:
    writes = [one for use in uses.attributes(source, "param_groups") if (one := _write(source, use)) is not None]
    if len(writes) != 1 or _others(source):
        return
    optimizer, target = writes[0]
    made = [one.node for one in source.values(optimizer) if one.kind == "optimizer"]
    given = [tree.argument(one, 0, "params") for one in made if isinstance(one, ast.Call)]
    lists = [follow.followed(source, one) for one in given if one is not None]
    if lists and len(lists) == len(made) and all(_is_split(one) for one in lists):
        name = source.code(optimizer)
        told = f"`{name}` has another group, whose rate stays: write `for group in {name}.param_groups:` around this"
        yield source.hit(target, told)


def _is_split(node: ast.expr) -> bool:
    dicts = [one for one in node.elts if isinstance(one, ast.Dict)] if isinstance(node, ast.List) else []
    return len(dicts) > 1


def _write(source: Source, use: ast.Attribute) -> tuple[ast.expr, ast.Subscript] | None:
    """`optimizer.param_groups[0]["lr"]` where it is written."""
    group = source.parents[use]
    entry = source.parents[group] if isinstance(group, ast.Subscript) and tree.literal(group.slice) == 0 else None
    written = isinstance(entry, ast.Subscript) and isinstance(entry.ctx, ast.Store)
    return (
        (use.value, entry)
        if isinstance(entry, ast.Subscript) and written and tree.literal(entry.slice) == "lr"
        else None
    )


def _others(source: Source) -> bool:
    """Whether the rate of another group is set too: by its number, by a name, or in a loop."""
    stores = [
        one for one in source.all(ast.Subscript) if isinstance(one.ctx, ast.Store) and tree.literal(one.slice) == "lr"
    ]
    return len(stores) > 1 or "lr_scheduler" in source.text

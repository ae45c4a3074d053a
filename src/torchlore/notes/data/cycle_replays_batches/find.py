"""The rule of cycle-replays-batches."""

import ast
from collections.abc import Iterator

from torchlore.check import tree
from torchlore.check.source import Hit, Source

WORDS = ("cycle",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("itertools.cycle"):
        given = call.args[0] if len(call.args) == 1 else None
        made = source.values(given) if given is not None else ()
        if made and all(one.kind == "loader" and _draws(one.node) for one in made):
            told = "from the second round on `cycle` repeats the batches of the first, in their order and with their augmentation"
            yield source.hit(call, f"{told}: ask the loader anew, `while True: yield from loader`")


def _draws(node: ast.AST | None) -> bool:
    """Whether another pass would bring other batches: the loader shuffles, or has a sampler."""
    if not isinstance(node, ast.Call):
        return False
    shuffles = tree.literal(tree.argument(node, 2, "shuffle")) is True
    return shuffles or any(tree.keyword(node, one) is not None for one in ("sampler", "batch_sampler"))

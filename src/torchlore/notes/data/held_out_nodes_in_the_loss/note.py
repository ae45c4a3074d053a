"""A loss over all nodes of a graph learns the test's answers: take those of `train_mask`.

Where one graph holds training and test nodes, the model sees all of them, and the masks alone keep them apart. `F.cross_entropy(out,
data.y)` without the mask differentiates the test nodes' answers too, and the accuracy over `test_mask` says how well they were learned
by heart. Nothing looks odd: the sizes fit better than with the mask.

Take the mask on both sides: `F.cross_entropy(out[data.train_mask], data.y[data.train_mask])`.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, tree, uses
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/waittim/graph-fraud-detection/issues/3",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
WORDS = ("backward", "*test*|*val*")
_HELD_OUT = re.compile(
    r"(^|[._])(test|val|valid|validation)(_?(mask|idx|index|indices|ids|nodes|nid))$|^(idx|mask|ids?|index)_(test|val)$"
)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["accuracy"] > 0.95
    assert good["accuracy"] < 0.7


def find(source: Source) -> Iterator[Hit]:
    if "ignore_index" in source.text or "reduction" in source.text:
        return  # they may be left out by their number, or by a mask behind the loss
    held_out = {
        tree.dotted(one.value) for one in source.all(ast.Subscript) if _HELD_OUT.search(tree.dotted(one.slice))
    } - {""}
    seen: set[ast.AST] = set()
    for loop in flow.training_loops(source) if held_out else ():
        for event in loop.direct("loss"):
            call = event.node if isinstance(event.node, ast.Call) and event.source is source else None
            if call is None or len(call.args) != 2 or call in seen:
                continue
            scores, answers = tree.dotted(call.args[0]), tree.dotted(call.args[1])
            if scores and answers in held_out and not _bound_in(source, answers, loop.node):
                seen.add(call)
                told = f"`{answers}` holds the answers of the test nodes too, which are cut out elsewhere: take the training nodes of `{scores}` and `{answers}`"
                yield source.hit(call, told)


def _bound_in(source: Source, name: str, loop: tree.Loop) -> bool:
    """Whether each turn has answers of its own: `for batch in loader`, `labels = labels[idx_train]`."""
    root = name.partition(".")[0]
    stored = (one for one in uses.names(source, root) if isinstance(one.ctx, ast.Store))
    return any(tree.inside(source, one, loop) or tree.loops(source, one) for one in stored)

"""`torch.no_grad()` on a line of its own does nothing: it only makes an object.

`no_grad`, `inference_mode`, `enable_grad` and `autocast` act while a `with` block or a decorated function runs. Called
as a statement they return a context manager that is thrown away at once. Nothing raises; evaluation goes on building
graphs, memory grows, and mixed precision is never switched on.

Write `with torch.no_grad():` around the block, or `@torch.no_grad()` above the function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import tree
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/asteroid-team/asteroid/issues/643",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"

_CONTEXTS = ("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast",
             "torch.autograd.detect_anomaly", "torch.random.fork_rng")  # fmt: skip


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["has_graph"]
    assert not good["has_graph"]


WORDS = ("no_grad|inference_mode|enable_grad|autocast|detect_anomaly|fork_rng",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls(*_CONTEXTS):
        if tree.is_statement(source, call):
            code = source.code(call)
            if _done_below(source, call):
                continue  # a leftover
            yield source.hit(
                call, f"`{code}` alone makes an object and throws it away: write `with {code}:` around the block"
            )


def _done_below(source: Source, call: ast.Call) -> bool:
    """Whether the same stands as a `with` further down in the block."""
    up = source.parents[source.parents[call]]
    later = (one for one in getattr(up, "body", []) if isinstance(one, ast.With) and one.lineno > call.lineno)
    return any(source.code(item.context_expr) == source.code(call) for one in later for item in one.items)


def watch(call: Annotated[Call, "no_grad", "inference_mode", "autocast"]) -> Alarm | None:
    if not call.discarded:
        return None
    return Alarm(
        f"{call.name}() stands alone and changes nothing; write `with torch.{call.name}(...):` around the block"
    )

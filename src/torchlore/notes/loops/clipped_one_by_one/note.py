"""Clipping each parameter by itself changes the direction of the step.

`clip_grad_norm_` scales all gradients by one factor, so that the step keeps its direction and only its length is bounded. Called
in a loop on one parameter at a time it gives each its own factor: large gradients are cut, small ones are not, and the total
norm may still be the bound times the root of the number of parameters.

Call it once: `nn.utils.clip_grad_norm_(model.parameters(), max_norm)`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/huggingface/transformers/pull/614",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"
_CLIPS = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_norm")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["alike"] < 0.99
    assert good["alike"] > 0.9999


WORDS = ("clip_grad_norm_|clip_grad_norm", "parameters|named_parameters")


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls(*_CLIPS):
        given, loop = call.args[0] if call.args else None, next(iter(tree.loops(source, call)), None)
        name = given.id if isinstance(given, ast.Name) else ""
        walked = loop.iter if isinstance(loop, ast.For) else None
        one = loop.target.elts[-1] if isinstance(loop, ast.For) and isinstance(loop.target, ast.Tuple) else None
        own = tree.dotted(one if one is not None else getattr(loop, "target", call)) == name != ""
        if own and walked is not None and follow.method(walked) in ("parameters", "named_parameters"):
            told = f"each parameter is clipped by itself, which changes the direction of the step: clip `{source.code(walked)}` once"
            yield source.hit(call, told, severity="warning")

"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, frameworks, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_SCALERS = (
    "torch.amp.GradScaler",
    "torch.cuda.amp.GradScaler",
    "torch.cuda.amp.grad_scaler.GradScaler",
    "torch.amp.grad_scaler.GradScaler",
)
_EPOCH = regex(r"^(ep|e|_?epoch\w*|\w*_epoch)$")

WORDS = ("GradScaler",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls(*_SCALERS):
        if tree.literal(tree.argument(call, None, "enabled")) is False or frameworks.owned(source, call):
            continue
        if tree.leaves_after(source, call) or any(
            isinstance(up, ast.ExceptHandler) for up in tree.ancestors(source, call)
        ):
            continue  # a new start after a batch that went wrong
        if any(_is_epoch(one) for one in tree.loops(source, call)) or _in_helper(source, call):
            yield source.hit(
                call, "a new GradScaler in every epoch forgets its scale: make it once, beside the optimizer"
            )


def _is_epoch(loop: ast.AST) -> bool:
    return isinstance(loop, ast.For) and _EPOCH.match(tree.dotted(loop.target)) is not None


def _in_helper(source: Source, call: ast.Call) -> bool:
    """Whether it is made in a function that an epoch loop calls, beside the batches and not beside the optimizer."""
    home = tree.function(source, call)
    if home is None or home.name == "__init__" or not tree.under(source, home, ast.For, ast.While):
        return False
    if any(tree.inside(source, one, home) for one, _ in uses.calls_under(source, "torch.optim.")):
        return False
    around = [tree.loops(where, one) for where, one, _ in calls.callers(as_function(source, home))]
    return bool(around) and all(any(_is_epoch(one) for one in loops) for loops in around)

"""The rule of averaged-weights-left-in."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, follow, project, tree
from torchlore.check.source import Hit, Source

_APPLY = ("apply_shadow", "copy_to")
_BACK = {"restore", "restore_weights", "unapply", "unapply_shadow", "restore_shadow", "swap", "load_state_dict"}
WORDS = ("apply_shadow|copy_to",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods(*_APPLY):
        ema, home = tree.dotted(tree.receiver(call)), tree.function(source, call) or source.tree
        if not ema or ema == "self" or not tree.is_statement(source, call):
            continue
        stored = any(_is(one, ema, ("store",)) for one in tree.under(source, home, ast.Call))
        if follow.method(call) == "copy_to" and not stored:
            continue  # into another model, or for good
        owner = tree.class_of(source, call)
        around = tree.under(source, owner or home, ast.Call)
        if any(_is(one, ema, _BACK) or "restore" in tree.dotted(one.func).lower() for one in around):
            continue
        if _repeats(source, call):
            told = f"`{ema}.{follow.method(call)}` leaves the averaged weights in the model, and the training goes on from them"
            yield source.hit(call, f"{told}: call `{ema}.restore` after the evaluation")


def _is(call: ast.Call, ema: str, ways: set[str] | tuple[str, ...]) -> bool:
    return follow.method(call) in ways and tree.dotted(tree.receiver(call)) in (ema, ema.rpartition(".")[2])


def _repeats(source: Source, call: ast.Call, hops: int = 3) -> bool:
    """Whether it runs in a loop, here or where its function is called, with no `break` or `return` right after."""
    if tree.loops(source, call):
        statement = tree.statement(source, call)
        block = getattr(source.parents[statement], "body", [])
        return tree.ends(block) not in (ast.Break, ast.Return)
    home = tree.function(source, call)
    if home is None or not hops:
        return False
    found = calls.callers(project.as_function(source, home))
    return any(other is source and _repeats(source, made, hops - 1) for other, made, _ in found)

"""The rule of accumulate-never-entered."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, uses, values
from torchlore.check.source import Hit, Source

WORDS = ("*accelerat*", "backward", "step")
_OTHERWISE = {"accumulate", "no_sync", "sync_gradients"}  # it counts by these


def find(source: Source) -> Iterator[Hit]:
    if any(uses.any_attributes(source, _OTHERWISE)):
        return
    for call in source.methods("backward"):
        accelerator = tree.receiver(call)
        made = values.made_by(source, accelerator, "accelerate.Accelerator") if _every_batch(source, call) else None
        given = made.node if made is not None and isinstance(made.node, ast.Call) else None
        steps = tree.argument(given, 4, "gradient_accumulation_steps") if given is not None else None
        if made is None or steps is None or tree.literal(follow.followed(made.source or source, steps)) in (1, None):
            continue
        name, code = source.code(accelerator), (made.source or source).code(steps)
        told = f"`{name}.backward` divides by `{code}`, and without `with {name}.accumulate(model):` every batch is a step of its own"
        yield source.hit(call, f"{told}: put the body of the loop into it")
        return


def _every_batch(source: Source, call: ast.Call) -> bool:
    """Whether an optimizer steps beside it in each turn, under no test."""
    around = tree.loops(source, call)
    beside = [one for one in tree.under(source, around[0], ast.Call) if follow.method(one) == "step"] if around else []
    return bool(beside) and not any(tree.conditions(source, one) for one in (call, *beside))

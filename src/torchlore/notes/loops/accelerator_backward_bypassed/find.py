"""The rule of accelerator-backward-bypassed."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, tree
from torchlore.check.source import Hit, Source

WORDS = ("Accelerator", "backward")


def find(source: Source) -> Iterator[Hit]:
    for made in source.calls("accelerate.Accelerator"):
        held = source.parents[made]
        name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        steps, precision = (
            tree.argument(made, 4, "gradient_accumulation_steps"),
            tree.argument(made, 2, "mixed_precision"),
        )
        counts = steps is not None and tree.literal(steps) != 1
        scales = tree.literal(precision) == "fp16"
        if not name or not (counts or scales):
            continue
        for call in source.methods("backward"):
            loss = tree.receiver(call)
            home = name.startswith("self.") or tree.function(source, call) is tree.function(source, made)
            if (
                not home
                or tree.dotted(loss) == name
                or call.args
                or call.keywords
                or not tree.is_statement(source, call)
            ):
                continue
            if counts and not any(name in source.code(one) for one in tree.contexts(source, call)) and not scales:
                continue  # outside of `accumulate` it may divide by hand
            what = "is not divided by the accumulation steps" if counts else "is not scaled for fp16"
            code = f"{name}.backward({source.code(loss)})"
            yield source.hit(call, f"this loss {what}: write `{code}`", edits.replace(source, call, code))

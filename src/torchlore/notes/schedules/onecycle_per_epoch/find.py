"""The rule of onecycle-per-epoch."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, follow, frameworks, tree
from torchlore.check.source import Hit, Source

_MODULE = "torch.optim.lr_scheduler."
_LENGTH = {"OneCycleLR": (2, "total_steps"), "CosineAnnealingLR": (1, "T_max"), "LinearLR": (3, "total_iters"),
           "PolynomialLR": (1, "total_iters")}  # fmt: skip
_WARMUPS = tuple(f"transformers.{room}get_{shape}_schedule_with_warmup" for room in ("", "optimization.")
                 for shape in ("linear", "cosine", "polynomial_decay", "cosine_with_hard_restarts"))  # fmt: skip
WORDS = ("step|configure_optimizers", "|".join((*_LENGTH, "*schedule_with_warmup*")))


def find(source: Source) -> Iterator[Hit]:
    yield from _configured(source) if "configure_optimizers" in source.text else ()
    if "lr_scheduler" not in source.text:
        return
    for loop in flow.loops(source):
        inner = [event for event in loop.of("step") if event.loops[-1] is not loop.node and event.detail != "closure"]
        for event in loop.direct("schedule") if inner and not frameworks.owned(source, loop.node) else ():
            made = source.values(event.expr) if event.expr is not None and event.source is source else ()
            calls = [one.node for one in made if isinstance(one.node, ast.Call) and one.source is source]
            inside = any(
                other.owner == event.owner for other in loop.of("schedule") if other.loops[-1] is not loop.node
            )
            if (
                not any(not _late(test, loop.node) for test, _ in event.conditions)
                and calls
                and len(calls) == len(made)
                and not inside
                and all(_in_batches(source, one) for one in calls)
            ):
                kind = made[0].name.rpartition(".")[2]
                yield source.hit(
                    event.at,
                    f"{kind} was planned in batches and is stepped once an epoch, so the rate hardly moves: step it "
                    "after each optimizer.step()",
                )


def _configured(source: Source) -> Iterator[Hit]:
    """A schedule planned in batches that Lightning is handed as it is: it steps each once an epoch, but for `"interval": "step"`."""
    for call in source.calls(f"{_MODULE}OneCycleLR", *_WARMUPS):
        home = tree.function(source, call)
        if home is None or home.name != "configure_optimizers" or not frameworks.owned(source, call):
            continue
        code = source.code(home)
        by_hand = "interval" in code or "lr_schedulers()" in source.text or "lr_scheduler_step" in source.text
        if by_hand or not (_in_batches(source, call) or _by_trainer(source, call)):
            continue
        kind = source.name(call.func).rpartition(".")[2]
        told = f"Lightning steps this {kind} once an epoch, and it was planned in batches, so the rate hardly moves"
        yield source.hit(
            _handed(source, call, home), f'{told}: hand it over as `{{"scheduler": ..., "interval": "step"}}`'
        )


def _by_trainer(source: Source, call: ast.Call) -> bool:
    """Whether its length is the number of all batches, as Lightning or a name tells it."""
    total = tree.argument(call, 2, "total_steps") or tree.argument(call, 2, "num_training_steps")
    said = source.code(follow.followed(source, total)) if total is not None else ""
    planned = source.name(call.func) in _WARMUPS and re.search(r"(total|max|train\w*)_steps$", said) is not None
    return planned or "stepping_batches" in said or "num_training_batches" in said


def _handed(source: Source, call: ast.Call, home: tree.FunctionNode) -> ast.AST:
    """Where it is given back, in the function that makes it."""
    held = source.parents[call]
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    used = [one for one in tree.under(source, home, ast.Name, ast.Attribute) if name and tree.dotted(one) == name]
    back = [one for one in used if isinstance(tree.statement(source, one), ast.Return)]
    return back[-1] if back else call


def _late(test: ast.expr, loop: ast.AST) -> bool:
    """`if epoch >= 10:` waits for an epoch and says nothing of batches."""
    left = test.left if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Gt | ast.GtE) else None
    return isinstance(loop, ast.For) and isinstance(left, ast.Name) and left.id == tree.dotted(loop.target)


def _in_batches(source: Source, call: ast.Call) -> bool:
    """Whether its length was given in batches: by `steps_per_epoch`, or as a product with the length of a loader."""
    kind = source.name(call.func).rpartition(".")[2]
    position, name = _LENGTH.get(kind, (None, ""))
    per_epoch = tree.argument(call, 4, "steps_per_epoch") if kind == "OneCycleLR" else None
    if per_epoch is not None:
        return bool(tree.literal(per_epoch) != 1)
    length = tree.argument(call, position, name) if name else None
    code = source.code(follow.followed(source, length)) if length is not None else ""
    product = "*" in code or code.startswith("len(")
    return "len(" in code and "load" in code and ".dataset" not in code and product

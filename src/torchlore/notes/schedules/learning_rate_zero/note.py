"""A learning rate of 0 trains nothing, and a schedule can leave it there for good.

A warm-up that starts at 0, a `LambdaLR` whose integer division gives 0, a cosine that was stepped past its end or per
batch instead of per epoch: the loop runs, the loss is printed, and not one weight moves. Nothing warns.

Print `optimizer.param_groups[0]["lr"]` beside the loss. Divide with `/`, not `//`; start a warm-up at `(step + 1) / n`;
give a schedule as many steps as it will really be stepped.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import follow, tree, uses
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/lambdalr-learning-rate-is-zero/82110",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.optim.lr_scheduler.LambdaLR"):
        factor = tree.argument(call, 1, "lr_lambda")
        if not isinstance(factor, ast.Lambda) or not isinstance(factor.body, ast.BinOp):
            continue
        body, names = factor.body, [one.arg for one in factor.args.args]
        if isinstance(body.op, ast.FloorDiv) and isinstance(body.left, ast.Name) and body.left.id in names:
            told = f"`{source.code(body)}` is 0 until the step reaches `{source.code(body.right)}`: divide with `/`"
            yield source.hit(body, told)
    for call in source.calls("torch.optim.SGD", "torch.optim.Adam", "torch.optim.AdamW", "torch.optim.RMSprop"):
        rate = tree.argument(call, 1, "lr")
        if (
            rate is not None
            and tree.literal(rate) == 0
            and not (_changed_later(source) or follow.in_test(source, call))
            and _steps(source, call)
        ):
            yield source.hit(rate, "a learning rate of 0 trains nothing: give one above 0")


def _steps(source: Source, call: ast.Call) -> bool:
    """Whether this optimizer steps, and nobody loads another rate into it."""
    held = source.parents[call]
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    used = {
        source.parents[one] for one in (*source.all(ast.Name), *source.all(ast.Attribute)) if tree.dotted(one) == name
    }
    asked = {one.attr for one in used if isinstance(one, ast.Attribute)}
    return bool(name) and "step" in asked and "load_state_dict" not in asked


def _changed_later(source: Source) -> bool:
    """Whether the rate is set by hand or by a scheduler somewhere."""
    return "param_groups" in source.text or uses.says(source, "scheduler") or "sched" in source.text


def watch(step: Step) -> Alarm | None:
    rates = [float(rate) for rate in step.rates]
    if not step.in_a_row(20, bool(rates) and not any(rates)):
        return None
    told = "the learning rate has been 0 for 20 steps, so no weight moves; look at the schedule"
    places = [record.step_place for record in step.record.schedulers if record.step_place is not None]
    return Alarm(told, at=places[0] if places else step.record.place, evidence=f"rates {rates} at step {step.number}")

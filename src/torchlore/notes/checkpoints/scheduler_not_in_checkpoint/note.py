"""A checkpoint without the scheduler resumes at the wrong learning rate.

Model and optimizer are saved, the scheduler is forgotten. On resume a new scheduler is built: it counts from 0 again,
and starts from the rate it finds in the optimizer, or in the constructor. The run goes on at a rate that the
uninterrupted run never had; nothing says so. The same holds for the random state, the scaler of mixed precision and the
position in the data.

```python
checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict(),
              "scheduler": scheduler.state_dict(), "epoch": epoch + 1}
...
scheduler.load_state_dict(checkpoint["scheduler"])
```

`torchlore.recipes.checkpoint` saves all of them and restores them in the right order.
"""

import ast
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import flow, frameworks, saved, tree, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ("ckpt-resume", "ckpt-save-best")
SOURCES = ("003:552-578",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, list[float]], good: dict[str, list[float]]) -> None:
    assert good["resumed"] == good["uninterrupted"]
    assert bad["uninterrupted"] == good["uninterrupted"]
    assert all(a > 1.2 * b for a, b in zip(bad["resumed"][1:], bad["uninterrupted"][1:], strict=True))


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.save"):
        parts = saved.contents(source, call)
        kept = [expr for _, expr in parts.items if values.sure(source, expr, "optimizer_state")]
        said = any("sched" in f"{key} {source.code(expr)}".lower() for key, expr in parts.items)
        if not kept or said or not parts.whole or frameworks.owned(source, call):
            continue
        if scheduler := _stepped(source, call):
            message = (
                f"the state of `{scheduler}` is not saved, so a resumed run starts its schedule again: add "
                f'`"scheduler": {scheduler}.state_dict()`'
            )
            yield source.hit(call, message, severity="hint" if _only_read_for_the_model(source) else None)


def _only_read_for_the_model(source: Source) -> bool:
    """The file reads checkpoints back, but for the weights alone: nobody resumes."""
    loads = [tree.receiver(one) for one in source.methods("load_state_dict")]
    return (
        any(source.calls("torch.load"))
        and bool(loads)
        and not any(values.maybe(source, one, "optimizer", "scheduler", weak=True) for one in loads)
    )


def _stepped(source: Source, save: object) -> str:
    """The scheduler that steps in the function that saves, or in one that leads to it."""
    set_by_hand = [
        one for one in source.all(ast.Attribute) if one.attr == "last_epoch" and isinstance(one.ctx, ast.Store)
    ]
    told = {source.code(one.value) for one in set_by_hand}
    for _, events in flow.entries(source) if any(source.methods("step")) else ():
        saves = any(event.what == "save" and event.node is save for event in events)
        for event in events if saves else ():
            if event.what != "schedule" or event.expr is None or event.source is not source:
                continue
            made = source.values(event.expr)
            keeps_time = any(
                value.node is not None and tree.keyword(value.node, "last_epoch")  # type: ignore[arg-type]  # a call
                for value in made
                if value.kind == "scheduler"
            )
            if not keeps_time and source.code(event.expr) not in told:
                return source.code(event.expr)
    return ""


def watch(call: Annotated[Call, "torch.save"]) -> Alarm | None:
    given = call.argument(0, "obj")
    parts = [part for part in given.values() if isinstance(part, dict)] if isinstance(given, dict) else []
    stepped = [one for one in call.run.schedulers if one.steps and one.thing is not None]
    if not stepped or not any({"state", "param_groups"} <= part.keys() for part in parts):
        return None
    if any("sched" in str(key).lower() for key in given) or any("last_epoch" in part for part in parts):
        return None
    kind = type(stepped[0].thing).__name__
    return Alarm(
        f"the optimizer is saved without its {kind}, so a resumed run starts the schedule again; save its state_dict() too"
    )

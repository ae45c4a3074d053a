"""With a GradScaler the gradients are 65,536 times too large: unscale before you clip.

`scaler.scale(loss).backward()` multiplies every gradient by the scale. Clipping them to a norm of 1 then clips the
scaled ones: after `scaler.step`, which divides again, the update has a norm of 1/65536. Training does not fail, it
hardly moves.

```python
scaler.scale(loss).backward()
scaler.unscale_(optimizer)
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
scaler.step(optimizer)
scaler.update()
```

`scaler.step` knows that it was unscaled. With bfloat16 no scaler is needed at all.
"""

import re
from collections.abc import Iterator

from torchlore.check import edits, flow, frameworks
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/milesial/Pytorch-UNet/issues/468",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] < 1e-4
    assert 0.09 < good["moved"] < 0.11  # lr 0.1 times a norm of 1


WORDS = ("clip_grad_norm_|clip_grad_value_|clip_grad_norm|clip_grads_with_norm_", "step", "*scale*")


def find(source: Source) -> Iterator[Hit]:
    if "scale" not in source.text:
        return
    for loop in flow.training_loops(source):
        scaled = [event for event in loop.direct("backward") if event.detail == "scaler"]
        steps = [event for event in loop.of("step") if event.detail == "scaler"]
        if not scaled or not steps or frameworks.owned(source, loop.node):
            continue
        order = list(loop.events)
        freed = [order.index(one) for one in loop.of("unscale")]
        for clip in loop.of("clip"):
            if clip.detail == "method" or order.index(clip) < order.index(scaled[0]) or clip.source is not source:
                continue
            if any(one < order.index(clip) for one in freed):
                continue
            step = next((one for one in steps if order.index(one) > order.index(clip)), None)
            if step is None or step.expr is None or step.source is not source:
                continue
            scaler = source.code(step.node.func.value)  # type: ignore[attr-defined]  # scaler.step(...)
            line = f"{scaler}.unscale_({source.code(step.expr)})"
            yield source.hit(
                clip.node,
                f"the gradients are still multiplied by the scale of `{scaler}` here: call `{line}` first",
                edits.insert_before(source, clip.node, line),
            )


def watch(step: Step) -> Alarm | None:
    early = re.search("B[^UB]*C[^B]*U[^B]*S$", step.order)  # scaler.step unscales by itself, after the clipping
    if not step.in_a_row(2, bool(early)):
        return None
    clip = step.of("clip")[-1].place
    return Alarm(
        "the gradients are clipped while they are still scaled; call scaler.unscale_(optimizer) before", at=clip
    )

"""A `backward()` in an evaluation leaves gradients in the weights, and the next step applies them.

`loss.backward()` fills the `.grad` of every parameter behind the loss, also where only the input's gradient is wanted: a
saliency map, an adversarial example, a penalty that is measured. Where the training loop clears gradients after its step and
not before its backward, those of the validation data are still there when the next batch adds its own. The model then
learns from data that it must not see, with a step that is too long, once an epoch.

Ask for the one gradient that is wanted, which touches no other:

```python
(gradient,) = torch.autograd.grad(loss, image)
```

or call `optimizer.zero_grad()` before each training `backward()`.
"""

from __future__ import annotations

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/BorealisAI/advertorch/issues/113",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved_by_validation"] > 0
    assert good["moved_by_validation"] == 0


def watch(call: Annotated[Call, "backward"]) -> Alarm | None:
    facts: dict[str, Any] = call.kwargs
    left = call.notes.setdefault("left", {})  # optimizer's key -> the evaluation's line whose gradients it holds
    touched = [key for key, now in facts["traces"].items() if now is not None and now != facts["before"].get(key)]
    for key in [key for key in left if facts["before"].get(key) is None]:
        del left[key]
    if facts["evaluates"]:
        left.update((key, left.get(key, call.place)) for key in touched)
        return None
    found = [left.pop(key) for key in touched if key in left]
    if not found:
        return None
    return Alarm(
        "this backward() belongs to an evaluation, and its gradients are still in the weights when training goes on; take "
        "torch.autograd.grad(loss, input), or call zero_grad() before the next backward()",
        at=found[0],
        evidence=f"a model in eval mode; the backward in {call.place.function or 'the loop'}, line {call.place.line}, adds to them"
        if call.place
        else "",
    )

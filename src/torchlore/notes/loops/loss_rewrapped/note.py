"""A loss wrapped in `torch.tensor(...)` again is a new number: backward reaches no weight.

`torch.tensor(loss, requires_grad=True)`, `Variable(loss)`, or a loss rebuilt from `.item()` has the right value and no
history. `backward()` fills the `.grad` of that new tensor and of nothing else; the optimizer steps along nothing and the
loss stays where it was. `requires_grad=True` is what made the error message go away, and the training with it.

Call `backward()` on what the model and the loss returned. If it does not require a gradient, look for the `.item()`,
`.detach()`, `no_grad` or NumPy call before it.
"""

from __future__ import annotations

import weakref
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = (
    "https://discuss.pytorch.org/t/loss-backward-element-0-of-tensors-does-not-require-grad-and-does-not-have-a-grad-fn/82571",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0


def watch(call: Annotated[Call, "backward", "requires_grad_", "tensor"]) -> Alarm | None:
    if call.name != "backward":
        if getattr(call.result, "requires_grad", False) and (call.result.numel() == 1 or _holds_graphs(call)):
            call.notes["made"] = (weakref.ref(call.result), call.place, _holds_graphs(call))
        return None
    loss = call.args[0]
    ref, place, graphs = call.notes.get("made", (None, None, False))
    made = ref() if ref is not None else None
    if graphs and made is not None and set(call.kwargs.get("leaves") or ()) == {id(made)}:
        told = "the losses are put into a new tensor without their history, so no weight gets a gradient; join them with torch.stack"
        return Alarm(told, at=place, evidence="the new tensor is all that backward() reaches")
    if (
        not call.kwargs.get("leaf")
        or loss.numel() != 1
        or id(loss) in call.run.held()
        or type(loss).__name__ == "Parameter"
    ):
        return None
    told = "backward() is called on a tensor without a history, so no weight gets a gradient; call it on what the loss returned"
    line = call.memory.setdefault("at", place if made is loss else None)
    return Alarm(told, at=line, evidence="the loss is a leaf")


def _holds_graphs(call: Call) -> bool:
    """`torch.tensor([loss, other], requires_grad=True)` of tensors that have a history."""
    given = call.argument(0, "data") if call.name == "tensor" else None
    parts = list(given[:64]) if isinstance(given, list | tuple) else []
    return any(getattr(one, "grad_fn", None) is not None for one in parts)

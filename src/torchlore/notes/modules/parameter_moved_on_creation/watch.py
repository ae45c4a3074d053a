"""What a running program shows of it."""

import weakref
from typing import Any

from torchlore.watch.pictures import Alarm, Step, assignment


def watch(step: Step) -> Alarm | None:
    if step.number > 2:
        return None
    held = step.run.held()
    for root in step.run.modules():
        for name, module in root.named_modules():
            for key, value in vars(module).items():
                told = _is_none(value, held)
                full = f"{name}.{key}" if name else key
                if not told or full in step.memory.setdefault("told", set()):
                    continue
                before = step.memory.setdefault(full, weakref.ref(value))
                if step.number == 2 and before() is value:  # made once, not anew in each forward
                    step.memory["told"].add(full)
                    line = assignment(type(module), key)
                    return Alarm(f"`{full}` {told}; wrap it in nn.Parameter last", at=line)
    return None


def _is_none(value: Any, held: set[int]) -> str:
    """What a tensor is that should be a parameter and is none; "" for all else."""
    if (
        not hasattr(value, "grad_fn")
        or not value.requires_grad
        or type(value).__name__ != "Tensor"
        or id(value) in held
    ):
        return ""
    made = value.grad_fn
    if made is None:
        return "asks for a gradient and is no parameter, so nobody trains, moves or saves it"
    first = made.next_functions[0][0] if made.next_functions else None
    if type(getattr(first, "variable", None)).__name__ != "Parameter":
        return ""
    return "is made from a Parameter and is none itself"

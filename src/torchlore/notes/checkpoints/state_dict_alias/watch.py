"""What a running program shows of it."""

import weakref
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "Module.state_dict", "Module.load_state_dict", "torch.save"]) -> Alarm | None:
    kept = call.notes.setdefault(
        "kept", []
    )  # weak reference to a tensor of a state_dict, its version then, the step, the line
    if call.name == "Module.state_dict":
        first = next((one for one in (call.result or {}).values() if hasattr(one, "_version") and one.dim()), None)
        if first is not None:
            kept[:] = [*kept[-99:], (weakref.ref(first), first._version, call.run.steps, call.place)]  # noqa: SLF001 - the documented counter of writes
        return None
    given = call.argument(1, "state_dict") if call.name == "Module.load_state_dict" else call.argument(0, "obj")
    inside = {id(one) for one in _tensors(given, 3)}
    for ref, version, steps, place in kept:
        one = ref()
        if one is None or id(one) not in inside or steps == call.run.steps or one._version == version:  # noqa: SLF001 - see above
            continue
        loads = call.name == "Module.load_state_dict"
        told = "the state that is loaded back holds" if loads else "the state that is saved was taken earlier and holds"
        return Alarm(
            f"{told} the model's own tensors, which training has changed since; keep copy.deepcopy(model.state_dict())",
            at=place,
            certain=loads,
            evidence=f"taken at step {steps}, used at step {call.run.steps}",
        )
    if call.name == "Module.load_state_dict" and given:
        own = {value.data_ptr() for value in call.owner.state_dict().values() if value.numel()}
        loaded = [value for value in _tensors(given, 1) if value.numel()]
        if loaded and own and all(value.data_ptr() in own for value in loaded):
            told = "every tensor that is loaded is the module's own, so nothing changes; are the two the same module?"
            return Alarm(
                told, certain=False, evidence=f"{len(loaded)} of {len(loaded)} tensors share the module's memory"
            )
    return None


def _tensors(given: Any, depth: int) -> Iterator[Any]:
    if hasattr(given, "_version"):
        yield given
    elif isinstance(given, dict | list | tuple) and depth:
        for one in given.values() if isinstance(given, dict) else given:
            yield from _tensors(one, depth - 1)

"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "LSTM", "GRU", "RNN"]) -> Alarm | None:
    given, result = call.argument(2, "hx"), call.result
    last = call.memory.get("last")  # where the state of the call before lies, and the batch it belongs to
    state = _first(result[1]) if isinstance(result, tuple) and len(result) == 2 else None
    pointer = state.data_ptr() if state is not None else 0
    call.memory["last"] = (pointer, call.run.batches)
    start = _first(given)
    carried = start is not None and last is not None and start.data_ptr() == last[0] and last[1] < call.run.batches
    shuffled = [one for one in call.run.loaders if one.batches and _is_shuffled(one.thing)]
    if not call.times(2, carried and bool(shuffled)):
        return None
    kind = type(call.owner).__name__
    told = f"this {kind} starts from the state of the batch before, and the loader is shuffled, so it is that of other sequences"
    return Alarm(f"{told}; start each batch from zeros", certain=False)


def _first(state: Any) -> Any:
    return state[0] if isinstance(state, tuple) and state else state


def _is_shuffled(loader: Any) -> bool:
    return type(getattr(loader, "sampler", None)).__name__ == "RandomSampler"

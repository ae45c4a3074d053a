"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "forward", "gt", "ge", "round"]) -> Alarm | None:
    if call.name == "forward":
        if hasattr(type(call.result), "untyped_storage"):  # an object may have a __getattr__ of its own
            call.notes["output"] = (call.result.untyped_storage().data_ptr(), call.result.numel())
        return None
    given, other = call.args[0], call.args[1] if len(call.args) > 1 else None
    half = isinstance(other, float) and other == 0.5
    if not (half or call.name == "round") or not call.run.counts["binary_cross_entropy_with_logits"]:
        return None
    if call.notes.get("output") != (given.untyped_storage().data_ptr(), given.numel()):
        return None
    found = call.values(given)
    if found is None or (found.low >= 0 and found.high <= 1):
        return None
    return Alarm(
        "the model gives logits, and 0.5 is the threshold for probabilities; compare with 0, or apply a sigmoid first",
        evidence=f"the outputs run from {found.low:.3g} to {found.high:.3g}",
    )

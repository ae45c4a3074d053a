"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "cross_entropy", "binary_cross_entropy_with_logits"]) -> Alarm | None:
    maker = call.made_by(call.input)
    if maker not in ("relu", "sigmoid", "tanh") or (maker == "sigmoid" and call.name != "cross_entropy"):
        return None
    return Alarm(
        f"{call.name} gets the output of a {maker} for scores, which keeps them from saying no; give it what the last layer returns",
        at=call.origin(call.input),
        evidence=f"input of shape {tuple(call.input.shape)} made by {maker}",
    )

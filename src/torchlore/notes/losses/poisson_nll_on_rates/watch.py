"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "poisson_nll_loss"]) -> Alarm | None:
    made = call.made_by(call.input)
    if not call.argument(2, "log_input", True) or made not in ("softplus", "relu", "exp", "sigmoid", "softmax"):
        return None
    told = (
        f"poisson_nll_loss takes the logarithm of the rate and gets the rate, made by {made}; give it log_input=False"
    )
    return Alarm(told, evidence=f"the input was made by {made}")

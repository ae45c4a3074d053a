"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "ctc_loss"]) -> Alarm | None:
    given = call.argument(0, "log_probs")
    if given is None or given.device.type != "cpu" or not given.numel():
        return None
    sums = given.detach()[:8].float().exp().sum(-1)
    if bool(((sums - 1).abs() < 0.05).all()):
        return None
    return Alarm(
        "ctc_loss takes log-probabilities and gets raw outputs; apply log_softmax over the classes first",
        evidence=f"the exponentials of a row sum to {float(sums.max()):.3g} and not to one",
    )

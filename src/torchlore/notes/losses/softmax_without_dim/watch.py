"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "softmax", "log_softmax", "softmin", "nll_loss"]) -> Alarm | None:
    scores = call.args[0] if call.args else None
    if call.name == "nll_loss":
        return _over_the_batch(call)
    if scores is not None and call.argument(1, "dim") == 0:
        return _asked_for_the_batch(call, scores)
    if scores is None or call.argument(1, "dim") is not None or scores.dim() != 3 or scores.shape[0] < 2:
        return None
    return Alarm(
        f"`{call.name}` without `dim` normalises a 3-D tensor over its first dimension, the batch; add dim=-1",
        evidence=f"its input is {tuple(scores.shape)}",
    )


def _asked_for_the_batch(call: Call, scores: Any) -> Alarm | None:
    """`dim=0` of what a linear layer gives for several rows, again and again."""
    rows = scores.dim() == 2 and min(scores.shape) > 1 and call.made_by(scores) == "addmm" and bool(call.modules)
    if not call.in_a_row(3, rows):
        return None
    return Alarm(
        f"`{call.name}` with dim=0 runs over the rows of {tuple(scores.shape)}, so the samples compete with each other; give it dim=-1",
        certain=False,
    )


def _over_the_batch(call: Call) -> Alarm | None:
    """Log-probabilities whose columns sum to one, and not the rows: the samples compete with each other."""
    given = call.input
    if call.made_by(given) != "logsoftmax" or given.dim() != 2 or given.device.type != "cpu" or len(given) < 2:
        return None
    shares = given.detach().float().exp()
    rows, columns = (float((shares.sum(dim) - 1).abs().max()) for dim in (1, 0))
    if rows < 0.01 or columns > 0.01:
        return None
    return Alarm("this log_softmax runs over the batch, so the samples compete with each other; give it dim=1")

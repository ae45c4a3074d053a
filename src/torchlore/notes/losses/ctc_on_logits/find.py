"""The rule of ctc-on-logits."""

from collections.abc import Iterator

from torchlore.check import losses, tree, values
from torchlore.check.source import Hit, Source

_WRONG = {"logits": "raw outputs", "probs": "probabilities", "relu": "raw outputs"}
WORDS = (losses.SAID,)


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "CTCLoss", "ctc_loss"):
        given = tree.argument(loss.call, 0, "log_probs")
        made = values.state(source, given) if given is not None else None
        if given is None or made is None or made.state not in _WRONG:
            continue
        code = source.code(given)
        better = f"`{code}.log()`" if made.state == "probs" else f"`{code}.log_softmax(-1)`"
        told = f"ctc_loss takes log-probabilities and gets {_WRONG[made.state]}: give it {better}"
        yield source.hit(loss.call, told)

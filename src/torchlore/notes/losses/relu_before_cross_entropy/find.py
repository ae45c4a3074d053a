"""The rule of relu-before-cross-entropy."""

from collections.abc import Iterator

from torchlore.check import follow, losses, values
from torchlore.check.activation import activation_hit
from torchlore.check.source import Hit, Source

_SQUEEZED = {"relu": "a ReLU", "sigmoid": "a sigmoid", "tanh": "a tanh"}


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy"):
        given = values.state(source, loss.input) if loss.input is not None else None
        soft = given is None or "eaky" in given.name or follow.in_test(source, loss.call)
        if given is not None and given.state in _SQUEEZED and not soft:
            told = f"`{{loss}}` takes raw scores, and {_SQUEEZED[given.state]} keeps them from saying no: end the net in a linear layer"
            yield activation_hit(source, loss, given, told)

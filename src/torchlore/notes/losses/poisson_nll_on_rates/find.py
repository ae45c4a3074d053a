"""The rule of poisson-nll-on-rates."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, losses, origin, tree, values
from torchlore.check.source import Hit, Source

_RATES = {"softplus", "relu", "sigmoid", "probs"}
_SHAPED = ("squeeze", "unsqueeze", "view", "reshape", "flatten", "contiguous")
WORDS = (losses.SAID,)


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "PoissonNLLLoss", "poisson_nll_loss"):
        made = loss.made.node if loss.made is not None else loss.call
        place = 0 if loss.made is not None else 2
        told = not isinstance(made, ast.Call) or not tree.lacks(made, place, "log_input")
        if loss.input is None or told:
            continue
        given = values.state(source, loss.input)
        name = given.state if given is not None and given.state in _RATES else _exponential(source, loss.input)
        if name:
            own = loss.made is not None and loss.made.source is source
            here = made if own and isinstance(made, ast.Call) else loss.call
            message = (
                f"this loss takes the logarithm of the rate and gets the rate, made by {name}: add `log_input=False`"
            )
            yield source.hit(here, message)


def _exponential(source: Source, node: ast.expr) -> str:
    home, whole = origin.origin(source, node)
    while follow.method(whole) in _SHAPED and isinstance(whole, ast.Call) and not home.name(whole.func):
        home, whole = origin.origin(home, tree.receiver(whole))
    called = isinstance(whole, ast.Call) and (home.name(whole.func) == "torch.exp" or follow.method(whole) == "exp")
    return "exp" if called else ""

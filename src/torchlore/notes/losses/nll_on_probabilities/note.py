"""`NLLLoss` takes log-probabilities: fed a softmax or raw scores it is no likelihood at all.

`nn.NLLLoss` only picks the entry of the true class and changes its sign; the logarithm is your business. With probabilities
the loss lies between -1 and 0 and its gradient does not grow when the model is wrong: it learns slowly and stops early. With
raw scores it falls without end, by making all scores larger.

```python
loss = F.nll_loss(F.log_softmax(scores, dim=1), labels)
loss = F.cross_entropy(scores, labels)     # the same in one
```

A negative loss is the sign to look for.
"""

import ast
import re
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import classes, follow, losses, tree, values
from torchlore.check.calls import callers
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/Lightning-AI/lightning-bolts/issues/654",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_GIVEN = {"probs": "the output of a softmax", "logits": "raw scores", "sigmoid": "the output of a sigmoid"}
_LOG = regex(r"log(?!its)|LSE|import \*", re.IGNORECASE)
_MAKERS = {"softmax": "a softmax", "addmm": "a linear layer", "mm": "a linear layer", "convolution": "a convolution"}
WORDS = (losses.SAID,)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    assert bad["loss"] < 0
    assert good["loss"] > 0
    assert good["confidence"] > bad["confidence"]
    x, y = torch.randn(8, 3), torch.randint(0, 3, (8,))
    assert torch.allclose(F.nll_loss(F.log_softmax(x, 1), y), F.cross_entropy(x, y))
    assert torch.allclose(F.nll_loss(x, y), -x[torch.arange(8), y].mean())  # it picks, no more


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "NLLLoss", "nll_loss"):
        given = values.state(source, loss.input) if loss.input is not None else None
        if given is not None and given.state in _GIVEN:
            message = f"the input of NLLLoss must be log-probabilities and is {_GIVEN[given.state]}: use `log_softmax`"
            picked = tree.literal(loss.option("reduction")) == "none"  # one may want the probability of each label
            toy = given.state == "logits" and follow.in_test(source, loss.call)  # of what is no matter of the loss
            toy = toy or tree.is_shown(source, loss.call)  # a lesson that shows what it gives
            place, at = _place(source, loss.call, given)
            yield source.hit(place, message + at, severity="hint" if toy else "warning" if picked else None)
        elif loss.input is not None and losses.called_logits(source, loss.input):
            code = source.code(loss.input)
            told = f"`{code}` goes into NLLLoss, which takes log-probabilities: use `log_softmax` first"
            unseen = isinstance(follow.binding(source, loss.input), ast.Call) or _from_elsewhere(source, loss.input)
            yield source.hit(loss.call, told, severity="hint" if unseen else "warning")  # an unseen net may end in one
        elif loss.input is not None and given is None and _of_a_net(source, loss.input):
            told = "NLLLoss takes log-probabilities, and nothing in this file takes a logarithm: end the net with `log_softmax`"
            yield source.hit(loss.call, told, severity="warning")


def _place(source: Source, call: ast.Call, given: values.Value) -> tuple[ast.Call, str]:
    """The softmax, where this file has it: that is what to change; else the loss."""
    made = given.node if given.source is source and given.state != "logits" else None
    return (made, f" (line {call.lineno})") if isinstance(made, ast.Call) else (call, "")


def _from_elsewhere(source: Source, node: ast.expr) -> bool:
    """A parameter, for which another function gives what a net has made: nobody has seen that net."""
    home = tree.function(source, node)
    arg = next((one for one in tree.parameters(home) if one.arg == tree.dotted(node)), None) if home else None
    return home is not None and arg is not None and bool(callers(as_function(source, home)))


def _of_a_net(source: Source, node: ast.expr) -> bool:
    """`net(x)` or `net(x)[rows]` of a class of this file, in which no word speaks of a logarithm."""
    while isinstance(node, ast.Subscript):
        node = node.value
    made = follow.followed(source, node)
    if not isinstance(made, ast.Call) or _LOG.search(source.text) or follow.in_test(source, made):
        return False
    nets = [classes.class_behind(source, one) for one in values.values(source, made.func)]
    return bool(nets) and all(one is not None and one.source is source and classes.is_module(one) for one in nets)


def watch(call: Annotated[Call, "nll_loss"]) -> Alarm | None:
    maker, seen = _MAKERS.get(call.made_by(call.input)), call.values(call.input)
    if maker is None and (seen is None or seen.high <= 0.1):
        return None
    given = f"the output of {maker}" if maker else f"values up to {seen.high:.3g}" if seen else ""
    at = call.origin(call.input) if maker else None
    return Alarm(f"nll_loss takes log-probabilities but gets {given}; use log_softmax or cross_entropy", at=at)

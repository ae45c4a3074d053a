"""The third argument of SGD is the momentum: a weight decay given there is none.

`torch.optim.SGD(params, lr, weight_decay)` takes the decay for the momentum. There is then hardly any momentum, because 5e-4 is
as good as none, and no decay at all; the run is slower and overfits, and every number that is printed looks sane. Classes that
inherit from SGD do it too: `super().__init__(params, lr, weight_decay)`. In Adagrad the third place is `lr_decay`, in RMSprop
`alpha`, in Adam the two betas, with `eps` behind them: `Adam(params, lr, betas, weight_decay)` has no decay and an `eps` of 5e-4.

Give everything behind the rate by name: `SGD(params, lr, weight_decay=5e-4)`.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/YudeWang/SEAM/issues/21",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_PLACES = {
    "SGD": ("params", "lr", "momentum", "dampening", "weight_decay"),
    "Adagrad": ("params", "lr", "lr_decay", "weight_decay"),
    "RMSprop": ("params", "lr", "alpha", "eps", "weight_decay", "momentum"),
    "Adadelta": ("params", "lr", "rho", "eps", "weight_decay"),
    **dict.fromkeys(("Adam", "AdamW", "NAdam", "RAdam", "Adamax"), ("params", "lr", "betas", "eps", "weight_decay")),
    "ASGD": ("params", "lr", "lambd", "alpha", "t0", "weight_decay"),
}
_SAYS = (
    ("weight_decay", re.compile(r"^(wd|w_decay|(\w+_)?weight_?decay(_\w+)?|weightdecay|l2(_\w+)?)$", re.IGNORECASE)),
    ("momentum", re.compile(r"^(\w+_)?(momentum|mom)$", re.IGNORECASE)),
)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert (bad["momentum"], bad["weight_decay"]) == (5e-4, 0)
    assert (good["momentum"], good["weight_decay"]) == (0, 5e-4)


WORDS = ("|".join(_PLACES), "*decay*|*mom*|*wd*|*l2*")


def find(source: Source) -> Iterator[Hit]:
    made = ((call, name) for name in _PLACES for call in source.calls(f"torch.optim.{name}"))
    for call, name in (*made, *_inherited(source)):
        behind = zip(_PLACES.get(name, ())[1:], call.args[1:], strict=False)  # groups may be called by what they set
        for place, given in behind:
            meant = _meant(source, given)
            if meant and place != meant and not any(isinstance(one, ast.Starred) for one in call.args):
                told = f"this place is `{place}` of `{name}`, so there is no such {meant}: write `{meant}={source.code(given)}`"
                yield source.hit(given, told)


def _inherited(source: Source) -> Iterator[tuple[ast.Call, str]]:
    """`super().__init__(params, lr, weight_decay)` of a class that inherits from an optimizer of torch."""
    for call in source.methods("__init__"):
        cls = tree.class_of(source, call)
        bases = [source.name(one) for one in cls.bases] if cls is not None else []
        own = isinstance(call.func, ast.Attribute) and source.code(call.func.value).startswith("super(")
        if own and len(bases) == 1 and bases[0].startswith("torch.optim."):
            yield call, bases[0].rpartition(".")[2]


def _meant(source: Source, node: ast.expr) -> str:
    """What an argument is called by who wrote it: `args.weight_decay`, `WD`, `cfg["momentum"]`."""
    key = tree.literal(node.slice) if isinstance(node, ast.Subscript) else None
    word = key if isinstance(key, str) else source.code(node).rpartition(".")[2]
    return next((name for name, says in _SAYS if says.match(word)), "")

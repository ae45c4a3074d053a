"""The schedulers' `verbose=` is gone: passing it is a TypeError.

Deprecated in torch 2.2, the keyword was removed for every scheduler in 2.7, and code that passes it stops where the scheduler
is built. Old notes and tutorials are full of it.

Leave it out and print the rate yourself, where you print the rest of the epoch: `scheduler.get_last_lr()`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, uses
from torchlore.check.source import Hit, Source

ROWS = ("schedule-plateau",)
SOURCES = ("003:533",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import torch
    from torch.optim import lr_scheduler

    assert bad["error"] == "TypeError"
    assert good["error"] == ""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    for build in (lr_scheduler.ExponentialLR, lr_scheduler.StepLR):
        try:
            build(optimizer, 1, verbose=True)  # type: ignore[call-arg]  # the mistake
        except TypeError:
            pass
        else:
            raise AssertionError(f"{build.__name__} takes verbose again")


WORDS = ("verbose", "lr_scheduler")


def find(source: Source) -> Iterator[Hit]:
    for keyword in uses.keywords(source, "verbose") if not follow.before(source, "2.7") else ():
        call = source.parents[keyword]
        if isinstance(call, ast.Call):
            name = source.name(call.func)
            if name.startswith("torch.optim.lr_scheduler."):
                kind = name.rpartition(".")[2]
                message = (
                    f"{kind} takes no `verbose` any more, this is a TypeError: leave it out and print `get_last_lr()`"
                )
                yield source.hit(keyword, message, edits.remove_argument(source, call, keyword.value))

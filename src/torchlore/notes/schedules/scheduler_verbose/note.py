"""The schedulers' `verbose=` is gone: passing it is a TypeError.

Deprecated in torch 2.2, the keyword was removed for every scheduler, and code that passes it stops where the scheduler
is built. Old notes and tutorials are full of it.

Leave it out and print the rate yourself, where you print the rest of the epoch: `scheduler.get_last_lr()`.
"""

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

"""The learning rate in use is `optimizer.param_groups[i]["lr"]`, one for each group.

`next(iter(optimizer.param_groups))["lr"]` reads the first group only; with a slow backbone and a fast head that is half
of the truth. The `lr` you passed to the constructor is no help once a scheduler has run.

`scheduler.get_last_lr()` is the list of all groups' rates as the scheduler last set them, and
`[g["lr"] for g in optimizer.param_groups]` is what the next step will use. Write there to change it; the groups inside
`optimizer.state_dict()` are copies.
"""

ROWS = ("schedule-current-lr",)
SOURCES = ("003:519-529",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    from typing import Any

    import torch
    from torch import nn

    body, head = nn.Linear(2, 2), nn.Linear(2, 2)
    groups: list[dict[str, Any]] = [{"params": body.parameters(), "lr": 1e-3}, {"params": head.parameters()}]
    optimizer = torch.optim.SGD(groups, lr=1e-2)
    assert next(iter(optimizer.param_groups))["lr"] == 1e-3  # the first group only
    assert [g["lr"] for g in optimizer.param_groups] == [1e-3, 1e-2]

    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [g["lr"] for g in optimizer.param_groups]
    assert max(scheduler.get_last_lr()) < 2e-3
    assert optimizer.defaults["lr"] == 1e-2  # what the constructor was given, not what is used

    optimizer.state_dict()["param_groups"][0]["lr"] = 7.0
    assert optimizer.param_groups[0]["lr"] < 1.0  # it was a copy

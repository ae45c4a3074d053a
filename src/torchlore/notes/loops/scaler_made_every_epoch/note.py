"""A GradScaler made anew every epoch forgets the scale it has learned and skips steps again.

The scaler starts at 65,536, halves its scale whenever a gradient overflows, skipping that step, and doubles it after 2,000
steps without one. What it has learned is its state. Made in `train_epoch`, every epoch begins with the same skipped steps, the
scale never grows, and the schedulers count steps that were never made.

Make it once beside the optimizer, hand it to `train_epoch(model, loader, optimizer, scaler)`, and put
`scaler.state_dict()` into the checkpoint.
"""

import weakref
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/conservationtechlab/animl-py/issues/298",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["skipped"] == 4  # one in each epoch
    assert good["skipped"] == 1


def watch(call: Annotated[Call, "GradScaler.step"]) -> Alarm | None:
    optimizer = call.argument(1, "optimizer")
    known = call.memory.get("scaler")
    again = known is not None and known() is not call.owner and call.memory.get("optimizer") == id(optimizer)
    call.memory["scaler"], call.memory["optimizer"] = weakref.ref(call.owner), id(optimizer)
    if not call.owner.is_enabled() or not call.times(2, again):
        return None
    return Alarm("this optimizer is stepped by the third GradScaler; make one, before the loop, and keep it")

"""Watch a running program: its events become pictures, sentinels look at them, findings come out.

Importing this package imports no torch; the probes are set only once the program itself has imported it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from torchlore.watch.pictures import Alarm, Batch, Call, Phase, Place, Step

if TYPE_CHECKING:
    from torchlore.watch.session import Options, Sentinel, Watch, watching


def __getattr__(name: str) -> Any:
    """The session is imported when it is asked for: notes need the pictures alone."""
    if name not in ("Options", "Sentinel", "Watch", "watching"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("torchlore.watch.session"), name)


__all__ = ["Alarm", "Batch", "Call", "Options", "Phase", "Place", "Sentinel", "Step", "Watch", "watching"]

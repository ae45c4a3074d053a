"""Numbers that live on a device, read later: a copy is asked for now and looked at once it has arrived by itself."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


class Deferred:
    """One number on its way from the device; asking for the next one before it has arrived does nothing."""

    def __init__(self, arrived: Callable[[float], None]) -> None:
        self.arrived = arrived
        self.event: torch.cuda.Event | None = None
        self.buffer: Tensor | None = None

    def ask(self, value: Tensor) -> None:
        """Take in what has arrived, then ask for this one."""
        if self.event is not None and self.event.query() and self.buffer is not None:
            self.arrived(float(self.buffer))
            self.event = None
        if self.event is None and not torch.cuda.is_current_stream_capturing():
            if self.buffer is None:
                self.buffer = torch.empty((), dtype=torch.float32, pin_memory=True)
            self.buffer.copy_(value.detach(), non_blocking=True)
            self.event = torch.cuda.Event()
            self.event.record()

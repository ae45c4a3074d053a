"""Ctrl-C and SIGTERM finish the step; a second Ctrl-C leaves at once. The handlers set a flag and do nothing else."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """Whether somebody asked the run to end."""

    def __init__(self) -> None:
        self.name = ""  # of the signal; "" while nobody asked

    def __bool__(self) -> bool:
        return bool(self.name)

    def ask(self, number: int, _frame: FrameType | None) -> None:
        """Note the first signal; let a second Ctrl-C through."""
        if self.name and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.name = signal.Signals(number).name


@contextmanager
def stopping() -> Iterator[Stop]:
    """Inside, signals ask for an orderly end; after it, they mean what they meant before."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread may set handlers; a library user in a thread keeps their own
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    before = {number: signal.signal(number, stop.ask) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

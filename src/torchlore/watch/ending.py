"""The last word where a signal ends the program."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable


def on_sigterm(tell: Callable[[], None]) -> None:
    """Call `tell` when SIGTERM ends this process, and then end it as the signal would have.

    Nothing of the program runs in between: no `finally`, no flush of its output. A program that handles the signal itself, or was
    started to ignore it, is left alone; so are its children. Python runs a handler between two of its own steps: a program that
    is stuck in a library ends where that gives control back, or by SIGKILL.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return
    owner = os.getpid()

    def handle(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        try:
            if os.getpid() == owner:
                tell()
        finally:
            os.kill(os.getpid(), number)

    def forget() -> None:
        if signal.getsignal(signal.SIGTERM) is handle:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    signal.signal(signal.SIGTERM, handle)
    os.register_at_fork(after_in_child=forget)

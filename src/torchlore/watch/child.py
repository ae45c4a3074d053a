"""The watch in a process that a watched program has started."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

from torchlore.watch.hook import after_import
from torchlore.watch.reading import Reading
from torchlore.watch.runner import begin, leave
from torchlore.watch.session import Options, Watcher, catalogue_sentinels


def begin_child(settings: dict[str, Any]) -> None:
    """Watch from the import of torch on; what is found is left in the parent's folder when the process ends."""
    options = Options(
        share=settings["share"],
        steps=settings["steps"],
        only=frozenset(settings["only"]),
        ignore=frozenset(settings["ignore"]),
        roots=tuple(settings["roots"]),
        source=settings["reads"],
    )
    watcher, reading = Watcher([], options), Reading(options)
    folder = settings["folder"]
    after_import("torch", lambda: begin(watcher, catalogue_sentinels, folder, reading), lambda: _read(reading))
    atexit.register(leave, watcher, folder, reading)


def _read(reading: Reading) -> None:
    """The first of a launcher's processes reads the script that all of them run."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    if os.environ.get("RANK") == "0" and script:
        reading.begin(os.path.abspath(script))  # noqa: PTH100 - symlinks stay, as with python

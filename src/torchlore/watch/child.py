"""The watch in a process that a watched program has started."""

from __future__ import annotations

import atexit
from typing import Any

from torchlore.watch.hook import after_import
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
    )
    watcher = Watcher([], options)
    after_import("torch", lambda: begin(watcher, catalogue_sentinels, settings["folder"]))
    atexit.register(leave, watcher, settings["folder"])

"""A Lightning callback: `Trainer(callbacks=[LoreWatch()])`."""

from __future__ import annotations

import sys
from typing import Any

from lightning.pytorch import Callback

from torchlore.finding import Finding
from torchlore.watch.output import line
from torchlore.watch.session import Options, Watch


class LoreWatch(Callback):
    """Watches `fit` and tells what it found when that ends; `findings` keeps it."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.watch: Watch | None = None

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:  # noqa: ARG002 - Lightning's signature
        """Begin before the optimizers are made."""
        if stage == "fit":
            self.watch = Watch(options=Options())
            self.watch.begin()

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:  # noqa: ARG002 - Lightning's signature
        """End, also after an exception."""
        if self.watch is not None:
            self.findings, self.watch = self.watch.end(), None
            for one in self.findings:
                print(line(one), file=sys.stderr)

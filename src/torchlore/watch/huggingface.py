"""A callback for the Trainer of transformers: `Trainer(..., callbacks=[LoreWatch()])`."""

from __future__ import annotations

import sys
from typing import Any

from transformers import TrainerCallback

from torchlore.finding import Finding
from torchlore.watch.output import line
from torchlore.watch.session import Options, Watch


class LoreWatch(TrainerCallback):
    """Watches `train` and tells what it found when that ends; `findings` keeps it."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.watch: Watch | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002 - the Trainer's signature
        """Begin."""
        self.watch = Watch(options=Options())
        self.watch.begin()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002 - the Trainer's signature
        """End and tell."""
        if self.watch is not None:
            self.findings, self.watch = self.watch.end(), None
            for one in self.findings:
                print(line(one), file=sys.stderr)

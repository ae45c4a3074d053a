"""In a notebook: every cell is checked before it runs, and watched while it does."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from torchlore.finding import Finding
from torchlore.watch.hook import after_import
from torchlore.watch.output import line
from torchlore.watch.session import Options, Watch


class Cells:
    """What was told of the cells so far: one watch goes through all of them, as models live on between cells."""

    def __init__(self) -> None:
        self.watch = Watch(options=Options())
        self.told: set[tuple[str, str, int]] = set()
        self.rules: dict[str, Any] = {}

    def begin(self) -> None:
        """Load the rules; set the probes now or as soon as a cell imports torch."""
        engine, catalogue = (importlib.import_module(f"torchlore.{name}") for name in ("check.engine", "catalogue"))
        self.rules = {slug: engine.Rule(slug, find) for slug, find in catalogue.parts("find").items()}
        after_import("torch", self.watch.begin)

    def before(self, info: Any) -> None:
        """Check the source of a cell; lines with magics are left out."""
        plain = "".join(
            one if not one.lstrip().startswith(("%", "!")) else "\n" for one in info.raw_cell.splitlines(True)
        )
        engine = importlib.import_module("torchlore.check.engine")
        self.tell([one for one in engine.check_text(plain, self.rules, "cell") if one.slug != engine.SYNTAX])

    def after(self, _result: Any) -> None:
        """Tell what the watch has found since the last cell."""
        self.tell(self.watch.watcher.ledger.results())

    def tell(self, findings: list[Finding]) -> None:
        """Each trap and line once."""
        for one in findings:
            if (one.slug, one.path, one.line) not in self.told:
                self.told.add((one.slug, one.path, one.line))
                print(line(one), file=sys.stderr)


_loaded: dict[int, tuple[Cells, Callable[[Any], None], Callable[[Any], None]]] = {}


def load(shell: Any) -> None:
    """Begin with this shell."""
    cells = Cells()
    cells.begin()
    _loaded[id(shell)] = (cells, cells.before, cells.after)
    shell.events.register("pre_run_cell", cells.before)
    shell.events.register("post_run_cell", cells.after)


def unload(shell: Any) -> None:
    """End with this shell."""
    cells, before, after = _loaded.pop(id(shell))
    shell.events.unregister("pre_run_cell", before)
    shell.events.unregister("post_run_cell", after)
    cells.watch.end()

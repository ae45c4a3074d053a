"""In a notebook: every cell is checked before it runs, and watched while it does."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from torchlore.finding import Finding
from torchlore.watch.hook import after_import
from torchlore.watch.output import line
from torchlore.watch.session import Options, Watch

LOOK_BACK = 60  # cells before this one that are read to know what its names are


class Cells:
    """What was told of the cells so far: one watch goes through all of them, as models live on between cells."""

    def __init__(self, shell: Any) -> None:
        from torchlore.check.config import load as configured
        from torchlore.check.project import Project
        from torchlore.check.runner import Work
        from torchlore.cli.check import all_rules

        config = configured(Path.cwd() / "notebook.ipynb")  # the settings of the project it runs in
        self.work = Work(all_rules(), config, Project(torch=config.torch))
        self.shell = shell
        self.watch = Watch(options=Options())
        self.told: set[tuple[str, str, int]] = set()
        after_import("torch", self.watch.begin)

    def before(self, info: Any) -> None:
        """Check a cell as the end of the program that the cells before it are."""
        from torchlore.check.runner import check_notebook, shown

        earlier = self.shell.history_manager.input_hist_raw[1:]
        number = len(earlier) + 1
        skipped = max(0, len(earlier) - LOOK_BACK)
        texts = [""] * skipped + earlier[skipped:] + [info.raw_cell]
        cells = [{"cell_type": "code", "source": text} for text in texts]
        said = check_notebook("", json.dumps({"cells": cells}), self.work)
        here = [one for one in said if isinstance(one, Finding) and one.path == f":cell {number}"]
        self.tell(
            replace(one, path=f"cell {number}")
            for one in here
            if one.slug in self.work.rules and shown(one, self.work.config)
        )

    def after(self, _result: Any) -> None:
        """Tell what the watch has found since the last cell."""
        self.tell(self._in_cell(one) for one in self.watch.watcher.ledger.results())

    def _in_cell(self, one: Finding) -> Finding:
        """With the number that the notebook shows beside the cell, where the line is a cell's."""
        named = self.shell.compile.format_code_name(one.path)
        return replace(one, path=named[1].replace("In[", "cell ").rstrip("]")) if named else one

    def tell(self, findings: Iterable[Finding]) -> None:
        """Each trap and line once."""
        for one in findings:
            if (one.slug, one.path, one.line) not in self.told:
                self.told.add((one.slug, one.path, one.line))
                print(line(one), file=sys.stderr)


_loaded: dict[int, tuple[Cells, Callable[[Any], None], Callable[[Any], None]]] = {}


def load(shell: Any) -> None:
    """Begin with this shell."""
    cells = Cells(shell)
    _loaded[id(shell)] = (cells, cells.before, cells.after)
    shell.events.register("pre_run_cell", cells.before)
    shell.events.register("post_run_cell", cells.after)


def unload(shell: Any) -> None:
    """End with this shell."""
    cells, before, after = _loaded.pop(id(shell))
    shell.events.unregister("pre_run_cell", before)
    shell.events.unregister("post_run_cell", after)
    cells.watch.end()

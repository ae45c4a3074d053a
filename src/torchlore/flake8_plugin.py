"""The rules of `lore check` in flake8, by their codes: it is a plugin wherever both are installed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchlore import __version__
from torchlore.check import config as configuration
from torchlore.check import runner
from torchlore.check.codes import code
from torchlore.check.project import Project
from torchlore.finding import Finding

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Sequence

    from torchlore.check.engine import Rule


class Plugin:
    """What flake8 makes for each file."""

    name = "torchlore"
    version = __version__

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        del tree  # flake8 knows a plugin for whole files by this argument
        self.filename, self.text = filename, "".join(lines)

    def run(self) -> Iterator[tuple[int, int, str, type]]:
        """Errors and warnings under the project's settings, as flake8 wants them."""
        if "torch" not in self.text:
            return
        config = replace(configuration.load(Path(self.filename)), known=_names())
        work = runner.Work(_rules(), config, Project(torch=config.torch))
        for one in runner.check_text(self.filename, self.text, work):
            if isinstance(one, Finding) and runner.shown(one, config):
                yield one.line, one.column - 1, f"{code(one.slug)} {one.message} ({one.slug})", Plugin


@cache
def _names() -> frozenset[str]:
    from torchlore.cli.check import names

    return names()


@cache
def _rules() -> dict[str, Rule]:
    from torchlore.cli.check import all_rules

    return all_rules()

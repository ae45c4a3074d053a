"""What the source of a program shows: `lore check` reads it in a process of its own while the program imports torch.

A run shows what happens, and only what this run does; the source also shows what is missing. The two are told together.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

from torchlore.finding import Finding, Severity
from torchlore.watch.ledger import shown_path
from torchlore.watch.places import Map
from torchlore.watch.session import Options

SECONDS = 30.0  # for reading: half a second, but for a first run on a busy machine that compiles our own files
SOURCE = Path(__file__).parents[2]
EVIDENCE = "read in the source"
UNUSED = "unused-suppression"  # it may be for what a run shows


class Reading:
    """The reading of one program's source. It begins and ends while torch is imported: the program never has our child."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.child: subprocess.Popen[bytes] | None = None
        self.findings: list[Finding] = []
        self.trouble = ""

    def begin(self, path: str) -> None:
        """Start reading the file of a program, if it is the user's and the source is to be read."""
        if not self.options.source or not Map().judge(path):
            return
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        try:
            self.child = subprocess.Popen(_command(path), stdin=nothing, stdout=pipe, stderr=pipe)
        except OSError as error:
            self.trouble = f"{type(error).__name__}: {error}"

    def end(self) -> list[Finding]:
        """What was read; nothing, and why in `trouble`, where it could not be."""
        if self.child is None:
            return []
        try:
            out, error = self.child.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.communicate()
            self.trouble = f"it takes longer than {SECONDS:g} s"
            return []
        if self.child.returncode not in (0, 1):
            self.trouble = error.decode(errors="replace").strip().rpartition("\n")[2]
            return []
        self.findings = [one for one in map(_finding, json.loads(out)) if self._wanted(one.slug)]
        return self.findings

    def _wanted(self, slug: str) -> bool:
        only, ignore = self.options.only, self.options.ignore
        return slug != UNUSED and (not only or slug in only) and slug not in ignore

    def together(self, seen: list[Finding]) -> list[Finding]:
        """What was seen and what was read; where each shows a trap once in one file, the run tells it at the source's line.

        The run has the numbers and the line where it shows, the source the line that is to be changed.
        """
        times = Counter((one.slug, one.path) for one in seen)
        often = Counter((one.slug, one.path) for one in self.findings)
        lines = {(one.slug, one.path): one.line for one in self.findings}
        told = []
        for one in seen:
            key = (one.slug, one.path)
            if times[key] == often[key] == 1 and lines[key] != one.line:
                shows = f"it shows in line {one.line}"
                told.append(replace(one, line=lines[key], evidence="; ".join(filter(None, (one.evidence, shows)))))
            else:
                told.append(one)
        return [*told, *self._beside(seen)]

    def _beside(self, seen: list[Finding]) -> list[Finding]:
        """What was read and not seen in the run: where both show a trap in one file, the run says it better."""
        lines: dict[tuple[str, str], set[int]] = {}
        for one in seen:
            lines.setdefault((one.slug, one.path), set()).add(one.line)
        often = Counter((one.slug, one.path) for one in self.findings)
        return [
            one
            for one in self.findings
            if (key := (one.slug, one.path)) not in lines or (often[key] > 1 and one.line not in lines[key])
        ]


def _command(path: str) -> list[str]:
    """`lore check` on this file, blind to the program's folder and to its settings of Python."""
    start = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); from torchlore.cli import main; sys.exit(main())"
    return [sys.executable, "-I", "-c", start, "check", "--imports", "--jobs=1", "--format=json", path]


def _finding(one: dict[str, object]) -> Finding:
    place = shown_path(str(Path(str(one["path"])).absolute()))
    found = Finding(str(one["slug"]), str(one["message"]), Severity(str(one["severity"])), place, int(str(one["line"])))
    return replace(found, evidence=EVIDENCE)

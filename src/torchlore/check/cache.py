"""Remembers findings by content, so that a file that did not change is not checked twice."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchlore import keep
from torchlore.finding import Edit, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable


def digest(*parts: bytes) -> str:
    """A short name for some bytes."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        state.update(part)
        state.update(b"\0")
    return state.hexdigest()


def rules_digest(folders: Iterable[Path], choices: str) -> str:
    """What the findings depend on besides the files: the tool's own sources, the rules', Python, the settings."""
    state = hashlib.blake2b(digest_size=16)
    state.update(f"{sys.version_info[:3]}{choices}".encode())
    for top in folders:
        for path in sorted(top.glob("**/*.py")):
            if path.name in ("bad.py", "good.py", "cases.py", "errata.py"):
                continue
            stat = path.stat()
            state.update(f"{path}{stat.st_mtime_ns}{stat.st_size}".encode())
    return state.hexdigest()


class Cache:
    """One file of results for one project and one set of rules; a broken or foreign file counts as empty."""

    def __init__(self, project: str, key: str) -> None:
        self.path = keep.folder() / f"check-{digest(project.encode())}.json"
        self.key = key
        self.entries: dict[str, Any] = {}
        self.changed = False
        try:
            stored = json.loads(self.path.read_bytes())
            if stored["key"] == key:
                self.entries = dict(stored["entries"])
        except (OSError, ValueError, KeyError, TypeError):
            self.entries = {}

    def get(self, path: str, content: str, project: str) -> list[Finding] | None:
        """What was found in a file with this content; `project` is the digest of all files, for those that look around."""
        entry = self.entries.get(path)
        if entry is None or entry[0] != content or entry[1] not in ("", project):
            return None
        return [_finding(path, row) for row in entry[2]]

    def put(self, path: str, content: str, project: str, findings: Iterable[Finding]) -> None:
        """Remember what was found; `project` is "" for a file whose findings depend on no other."""
        self.entries[path] = [content, project, [_row(found) for found in findings]]
        self.changed = True

    def save(self) -> None:
        """Write the file in one move; a cache that cannot be written is no trouble."""
        if not self.changed:
            return
        temporary = self.path.with_suffix(f".{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps({"key": self.key, "entries": self.entries}), encoding="utf-8")
            temporary.replace(self.path)
        except OSError:
            return


def _row(found: Finding) -> list[Any]:
    edits = [[edit.start, edit.end, edit.text] for edit in found.edits]
    return [found.slug, found.message, str(found.severity), found.path, found.line, found.column, found.end_line,
            found.end_column, edits, found.safe]  # fmt: skip


def _finding(path: str, row: list[Any]) -> Finding:  # noqa: ARG001  # a notebook's finding names its cell in its own path
    slug, message, severity, where, line, column, end_line, end_column, edits, safe = row
    return Finding(slug, message, Severity(severity), where, line, column, end_line, end_column,
                   tuple(Edit(*edit) for edit in edits), safe)  # fmt: skip

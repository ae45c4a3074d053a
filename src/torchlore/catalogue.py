"""The catalogue: every folder under notes/ that holds a note.py is a note. Nothing registers itself."""

from __future__ import annotations

import ast
import difflib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from torchlore import keep
from torchlore.finding import Severity

NOTES = Path(__file__).parent / "notes"


class UnknownNote(LookupError):
    """No note has this slug; the message names the nearest ones."""


@dataclass(frozen=True)
class Erratum:
    """A defect of a source document: what stood there, code that proves it, what that code does, what to write."""

    id: str
    where: str
    written: str
    proof: str
    happens: str
    instead: str


@dataclass(frozen=True)
class Note:
    """One thing known about PyTorch: a page, a claim that is run, and the detectors of its trap."""

    folder: Path

    @property
    def slug(self) -> str:
        """The name used everywhere: page, rule, sentinel, suppression comment, report."""
        return self.folder.name.replace("_", "-")

    @property
    def room(self) -> str:
        """The chapter."""
        return self.folder.parent.name

    @cached_property
    def written(self) -> str:
        """The text of note.py."""
        return self.script("note").read_text(encoding="utf-8")

    @cached_property
    def page(self) -> str:
        """The docstring, read without importing the note."""
        return self.written.split('"""', 2)[1].replace("\\\\", "\\")

    @property
    def title(self) -> str:
        """The first line of the page: one sentence."""
        return self.page.split("\n", 1)[0].strip()

    @property
    def text(self) -> str:
        """The rest of the page, in Markdown."""
        return self.page.partition("\n")[2].strip()

    @cached_property
    def module(self) -> ModuleType:
        """The note's own module; it imports no torch."""
        return _loaded(self.folder, "note")

    def part(self, name: str) -> Callable[..., Any] | None:
        """`find`, `watch` or `claim`, where the note has it: in note.py, or in a file of that name beside it."""
        home = _loaded(self.folder, name) if self.script(name).exists() else self.module
        found: Callable[..., Any] | None = getattr(home, name, None)
        return found

    def facts(self, name: str) -> tuple[str, ...]:
        """`ROWS`, `SOURCES` or `NEEDS`: () where the note names none."""
        return tuple(getattr(self.module, name, ()))

    @property
    def torch(self) -> str:
        """The torch versions on which the claim was seen to hold."""
        return str(getattr(self.module, "TORCH", ""))

    @property
    def severity(self) -> Severity:
        """How grave its findings are, read without importing the note."""
        found = re.search(r'^SEVERITY = "(\w+)"', self.written, re.MULTILINE)
        return Severity(found[1]) if found else Severity.WARNING

    @property
    def errata(self) -> tuple[Erratum, ...]:
        """What the source documents got wrong about it."""
        if not self.script("errata").exists():
            return ()
        return tuple(_loaded(self.folder, "errata").ERRATA)

    def script(self, name: str) -> Path:
        """The path of `bad`, `good`, `cases`, `note` or `errata`; it need not exist."""
        return self.folder / f"{name}.py"

    @property
    def is_trap(self) -> bool:
        """Whether there is a script that falls in."""
        return self.script("bad").exists()

    def wants(self, parameter: str) -> bool:
        """Whether the claim takes this parameter (`device`)."""
        claim = self.part("claim")
        return claim is not None and parameter in inspect.signature(claim).parameters


def _loaded(folder: Path, name: str) -> ModuleType:
    """A file of a note as a module, by its path: to search hundreds of folders costs more than to run them."""
    full = f"torchlore.notes.{folder.parent.name}.{folder.name}.{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, folder / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None  # a path that ends in .py has both
        sys.modules[full] = module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[full]
            raise
    return sys.modules[full]


@cache
def notes() -> tuple[Note, ...]:
    """Every note, by room and slug."""
    return tuple(Note(path.parent) for path in sorted(NOTES.glob("*/*/note.py")))


def note(slug: str) -> Note:
    """The note with this slug, or UnknownNote with suggestions."""
    by_slug = {one.slug: one for one in notes()}
    if slug in by_slug:
        return by_slug[slug]
    near = difflib.get_close_matches(slug, by_slug, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "`lore notes` lists them all"
    raise UnknownNote(f"no note is called {slug!r}: {hint}")


def parts(name: str) -> dict[str, Callable[..., Any]]:
    """Slug -> function, for every note that has this part: `parts("find")` are the checker's rules."""
    having = (one for one in notes() if one.script(name).exists() or f"def {name}(" in one.written)
    with keep.bytecode():
        return {one.slug: part for one in having if (part := one.part(name)) is not None}


def search(words: str) -> list[Note]:
    """Notes that hold every word in slug, room, title or text; those with a word in slug or title come first."""
    wanted = words.lower().split()

    def holds(text: str) -> bool:
        return all(word in text.lower() for word in wanted)

    found = [one for one in notes() if holds(f"{one.slug} {one.room} {one.page}")]
    return sorted(found, key=lambda one: not holds(f"{one.slug} {one.room} {one.title}"))


def recipes_used(path: Path) -> list[str]:
    """Recipes a script imports: the link from note to recipe is the import itself, so it cannot rot."""
    if not path.exists():
        return []
    nodes = (n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.ImportFrom))
    ours = (n for n in nodes if (n.module or "").startswith("torchlore.recipes"))
    return [f"{n.module}.{alias.name}" for n in ours for alias in n.names]

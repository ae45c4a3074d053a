"""What every note must keep, as functions of a note and the detectors around it; each returns "" or what is wrong."""

import functools
import math
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from torchlore.catalogue import Note, notes
from torchlore.check.engine import Rule, check_text
from torchlore.check.fixes import fix
from torchlore.check.gate import words
from torchlore.verify import isolated, run_claim, run_script, warm
from torchlore.watch import Sentinel, watching

SCRIPTS = ("bad", "good", "cases")
warm()


@functools.cache
def rules(known: tuple[Note, ...] | None = None) -> dict[str, Rule]:
    """Every static rule by its slug."""
    having = ((note, find) for note in known or notes() if (find := note.part("find")))
    return {note.slug: Rule(note.slug, find, note.severity, words(find)) for note, find in having}


@functools.cache
def sentinels(known: tuple[Note, ...] | None = None) -> list[Sentinel]:
    """Every sentinel."""
    return [Sentinel(note.slug, watch, note.severity) for note in known or notes() if (watch := note.part("watch"))]


def claim(note: Note) -> str:
    """The claim holds when run."""
    return isolated(lambda: run_claim(note, "cpu"))


def marked(text: str) -> set[tuple[int, str]]:
    """(line, slug) of each `# trap: slug` mark."""
    return {(n, slug) for n, line in enumerate(text.splitlines(), 1) for slug in re.findall(r"# trap: ([\w-]+)", line)}


def flags(note: Note, known: dict[str, Rule]) -> str:
    """All rules together flag exactly the marked lines of all its scripts."""
    for name in SCRIPTS:
        if not note.script(name).exists():
            continue
        text = note.script(name).read_text(encoding="utf-8")
        wanted = {(line, slug) for line, slug in marked(text) if slug in known}
        said = {(found.line, found.slug): found for found in check_text(text, known, f"{name}.py")}
        if missed := sorted(wanted - said.keys()):
            return f"{name}.py: missed alarms {missed}"
        if false := sorted(said.keys() - wanted):
            return f"{name}.py: false alarms {[(place, said[place].message) for place in false]}"
    return ""


def fixes(note: Note, known: dict[str, Rule]) -> str:
    """Where a safe fix is offered, the fixed bad.py is silent, settles, runs, and gives what good.py gives."""
    bad = note.script("bad").read_text(encoding="utf-8")
    fixed, count = fix(bad, lambda text: check_text(text, known))
    if count == 0:
        return ""
    if left := check_text(fixed, known):
        return f"the fixed script still has {[(one.line, one.slug) for one in left]}"
    if fix(fixed, lambda text: check_text(text, known))[0] != fixed:
        return "a second run of the fix changes the script again"

    def compare() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fixed.py"
            path.write_text(fixed, encoding="utf-8")
            given, wanted = run_script(str(path)), run_script(str(note.script("good")))
        for name in wanted.keys() & given.keys():
            assert same(given[name], wanted[name]), f"{name} is {given[name]!r}, good.py gives {wanted[name]!r}"

    return isolated(compare)


def same(one: object, other: object) -> bool:
    """Equal, or numbers equal to float precision."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-7) or (math.isnan(one) and math.isnan(other))
    return one == other


def watched(path: Path, known: list[Sentinel]) -> list[tuple[int, str, str]]:
    """What the sentinels say of a script that runs under a neutral name: (line, slug, message)."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(shutil.copy(path, Path(folder) / "script.py"))
        with watching(known) as found:
            run_script(str(script))
    return [(one.line, one.slug, one.message) for one in found]


def speaks(note: Note, known: list[Sentinel]) -> str:
    """Its sentinel speaks on bad.py; no sentinel at all speaks on good.py."""

    def listen() -> None:
        if note.part("watch"):
            said = watched(note.script("bad"), known)
            assert note.slug in {slug for _, slug, _ in said}, f"silent on bad.py; others said {said}"
        said = watched(note.script("good"), known)
        assert not said, f"on good.py: {said}"

    return isolated(listen)


# --- a process that nothing has run in ------------------------------------------------------------------------------


class Clean:
    """A process forked before any test ran: what it forks in turn has no threads of other tests behind it."""

    def __init__(self, answers: dict[str, Callable[..., str]]) -> None:
        self.ours, theirs = Pipe()
        if os.fork() == 0:
            self.ours.close()
            _serve(theirs, answers)
        theirs.close()

    def ask(self, name: str, *args: object) -> str:
        """The answer of that name to these arguments, found there."""
        self.ours.send((name, args))
        return self.ours.recv()


def _serve(theirs: Connection, answers: dict[str, Callable[..., str]]) -> NoReturn:
    while True:
        try:
            name, args = theirs.recv()
        except EOFError:
            os._exit(0)
        try:
            said = answers[name](*args)
        except BaseException as error:  # noqa: BLE001 - it is the test's answer, and this process must go on
            said = f"{type(error).__name__}: {error}"
        theirs.send(said)

"""The contract every note keeps. Adding a note adds its tests; nobody writes them."""

import io
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import torch  # before the forks, so that each child has it

from torchlore.catalogue import Erratum, Note, notes
from torchlore.catalogue import note as find_note
from torchlore.verify import absent, isolated

sys.path.insert(0, str(Path(__file__).parent))
import contract

by_note = pytest.mark.parametrize("note", notes(), ids=lambda note: note.slug)
by_trap = pytest.mark.parametrize("note", [note for note in notes() if note.is_trap], ids=lambda note: note.slug)
errata = [(note, erratum) for note in notes() for erratum in note.errata]
NAMES = {"ROWS", "SOURCES", "TORCH", "NEEDS", "SEVERITY", "WORDS", "claim", "find", "watch"}


@by_note
def test_the_page_says_what_happens_and_what_to_write(note: Note) -> None:
    assert note.title.endswith(".")
    assert len(note.title) <= 100, len(note.title)
    assert len(note.text.split("\n\n")) >= 2
    assert len(note.text) > 200
    assert note.module.__doc__ == note.page
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", note.slug)


@by_note
def test_the_facts_are_stated(note: Note) -> None:
    assert note.facts("SOURCES"), "SOURCES says where it was read"
    assert re.match(r"\d+\.\d+", note.torch), "TORCH says on which versions it was seen"
    assert note.part("claim") is not None
    twice = [part for part in ("find", "watch") if part in vars(note.module) and note.script(part).exists()]
    assert not twice, f"{twice[0]} stands in note.py and in a file of its own, of which only the file is asked"
    public = {name for name in vars(note.module) if not name.startswith("_")}
    stray = {name for name in public - NAMES if vars(note.module)[name].__class__.__name__ == "function"}
    assert not {n for n in stray if vars(note.module)[n].__module__ == note.module.__name__}, (
        "private helpers start with _"
    )
    if note.is_trap:
        assert f"# trap: {note.slug}" in note.script("bad").read_text()
        assert "# trap:" not in note.script("good").read_text()
        assert note.part("find") or note.part("watch"), "a trap is found by somebody"
        assert "SEVERITY" in vars(note.module)
        assert note.severity == note.module.SEVERITY
    else:
        assert not [name for name in ("find", "watch") if note.part(name)], "a detector needs bad.py and good.py"


@by_note
def test_the_claim_holds_when_run(note: Note) -> None:
    if missing := absent(note, "cpu"):
        pytest.skip(f"needs {missing}")
    assert clean.ask("claim", note.slug) == ""


@by_trap
def test_the_checker_flags_exactly_the_marked_lines(note: Note) -> None:
    assert contract.flags(note, contract.rules()) == ""


@by_trap
def test_the_fixed_script_gives_what_the_good_one_gives(note: Note) -> None:
    if missing := absent(note, "cpu"):
        pytest.skip(f"needs {missing}")
    assert clean.ask("fixes", note.slug) == ""


@by_trap
def test_the_sentinel_speaks_on_bad_and_none_speaks_on_good(note: Note) -> None:
    if missing := absent(note, "cpu"):
        pytest.skip(f"needs {missing}")
    assert clean.ask("speaks", note.slug) == ""


def last_line(erratum: Erratum) -> str:
    """What the proof ends with: its last printed line, or the error."""
    out, space = io.StringIO(), {"torch": torch, "__name__": "__main__"}
    try:
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            exec(compile(erratum.proof, "proof", "exec"), space)
    except BaseException as error:  # noqa: BLE001 - a proof may end in any error, SystemExit too
        return f"{type(error).__name__}: {error}"
    return out.getvalue().strip().rpartition("\n")[2]


def prove(erratum: Erratum) -> str:
    """That the proof ends as the erratum says."""

    def end() -> None:
        ended = last_line(erratum)
        assert ended.startswith(erratum.happens), f"it ended with {ended!r}, not {erratum.happens!r}"

    return isolated(end)


clean = contract.Clean(
    {
        "claim": lambda slug: contract.claim(find_note(slug)),
        "fixes": lambda slug: contract.fixes(find_note(slug), contract.rules()),
        "speaks": lambda slug: contract.speaks(find_note(slug), contract.sentinels()),
        "proof": lambda slug, name: prove(next(one for one in find_note(slug).errata if one.id == name)),
    }
)  # forked here, when all that it calls is known and no test has run


@pytest.mark.parametrize(("note", "erratum"), errata, ids=[f"{e.id}-{n.slug}" for n, e in errata])
def test_an_erratum_ends_as_it_says(note: Note, erratum: Erratum) -> None:
    assert all([erratum.where, erratum.written, erratum.happens, erratum.instead])
    if not erratum.proof:
        return

    if not absent(note, "cpu"):
        assert clean.ask("proof", note.slug, erratum.id) == ""


def test_every_row_of_the_catalogue_is_covered() -> None:
    expected = set(Path(__file__).with_name("rows.txt").read_text().split())
    covered = [row for note in notes() for row in note.facts("ROWS")]
    assert len(expected) == 151
    assert sorted(expected - set(covered)) == []
    assert sorted(set(covered) - expected) == []


def test_every_erratum_is_answered_once() -> None:
    ids = sorted(erratum.id for note in notes() for erratum in note.errata)
    assert ids == [f"E{number:03}" for number in range(1, 122)]

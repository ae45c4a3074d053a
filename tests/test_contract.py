"""Seeded faults: the contract must catch each of them, by the right test. A contract without teeth proves nothing."""

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlore.catalogue import Note, notes
from torchlore.catalogue import note as find_note

sys.path.insert(0, str(Path(__file__).parent))
import contract

SLUG = "missing-zero-grad"  # has a claim, a rule, a safe fix and a sentinel
SILENT = "\n\ndef watch(step: 'Step'):\n    return None\n"
SPEAKS = "\n\ndef watch(step: 'Step'):\n    from torchlore.watch import Alarm\n    return Alarm('always')\n"


def seeded(folder: Path, file: str, change: Callable[[str], str]) -> Note:
    """A copy of the note with one file changed, in a room of its own: modules are known by room and note."""
    copy = folder / folder.name / SLUG.replace("-", "_")
    shutil.copytree(find_note(SLUG).folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    path = copy / file
    before = path.read_text()
    path.write_text(change(before))
    assert path.read_text() != before, "the fault was not planted"
    return loaded(copy)


def loaded(folder: Path) -> Note:
    spec = importlib.util.spec_from_file_location("seeded_note", folder / "note.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = Note(folder)
    made.__dict__["module"] = module
    return made


def around(note: Note) -> tuple[Note, ...]:
    """The whole catalogue with this copy in place of the original."""
    return tuple(note if other.slug == SLUG else other for other in notes())


def test_the_original_keeps_the_contract() -> None:
    note = find_note(SLUG)
    assert note.part("find")
    assert note.part("watch")
    assert contract.claim(note) == ""
    assert contract.flags(note, contract.rules()) == ""
    assert contract.fixes(note, contract.rules()) == ""
    assert contract.speaks(note, contract.sentinels()) == ""


def test_an_inverted_claim_is_caught(tmp_path: Path) -> None:
    note = seeded(tmp_path, "note.py", lambda text: text.replace('bad["gradient"] > 5', 'bad["gradient"] < 5'))
    assert "AssertionError" in contract.claim(note)


def test_a_rule_that_looks_for_the_wrong_thing_is_caught(tmp_path: Path) -> None:
    note = seeded(
        tmp_path, "find.py", lambda text: text.replace('source.methods("backward")', 'source.methods("forwards")')
    )
    assert "missed alarms" in contract.flags(note, contract.rules(around(note)))


def test_a_rule_that_flags_correct_code_is_caught(tmp_path: Path) -> None:
    lax = "\n\ndef _first_unzeroed(source, loop):\n    return loop.of('step')[0]\n"
    note = seeded(tmp_path, "find.py", lambda text: text + lax)
    assert "false alarms" in contract.flags(note, contract.rules(around(note)))


def test_a_fix_that_changes_the_result_is_caught(tmp_path: Path) -> None:
    note = seeded(
        tmp_path,
        "find.py",
        lambda text: text.replace('f"{name}.zero_grad()")]', 'f"{name}.zero_grad(); loss = loss * 2")]'),
    )
    assert "good.py gives" in contract.fixes(note, contract.rules(around(note)))


def test_a_fix_that_leaves_the_finding_is_caught(tmp_path: Path) -> None:
    note = seeded(tmp_path, "find.py", lambda text: text.replace('f"{name}.zero_grad()")]', '"pass")]'))
    assert "still has" in contract.fixes(note, contract.rules(around(note)))


def test_a_silent_sentinel_is_caught(tmp_path: Path) -> None:
    note = seeded(tmp_path, "note.py", lambda text: text + SILENT)
    assert "silent on bad.py" in contract.speaks(note, contract.sentinels(around(note)))


def test_a_sentinel_that_always_speaks_is_caught_on_other_good_scripts(tmp_path: Path) -> None:
    note = seeded(tmp_path, "note.py", lambda text: text + SPEAKS)
    others = contract.sentinels(around(note))
    assert "on good.py" in contract.speaks(note, others)
    assert "on good.py" in contract.speaks(find_note("zero-grad-between-backward-and-step"), others)


@pytest.mark.parametrize("line", ["import torch", "import numpy", "from torch import nn"])
def test_torch_at_the_top_of_a_note_is_caught(tmp_path: Path, line: str) -> None:
    import test_rooms

    note = seeded(tmp_path, "note.py", lambda text: text.replace("\nROWS", f"\n{line}\n\nROWS", 1))
    assert {name.split(".")[0] for name in test_rooms.top_imports(note.script("note"))} & {"torch", "numpy"}

"""Small programs, one file for each source of them: each begins with `=== what it does`, and `trap: slug` marks the lines that are found."""

import re
from pathlib import Path

import pytest

from torchlore.check import engine

PROGRAMS = {
    f"{path.stem} {place}: {name}": text  # several may be called "clean"
    for path in sorted((Path(__file__).parent / "programs").glob("*.txt"))
    for place, (name, text) in enumerate(
        re.findall(r"^=== (.*)\n((?:(?!=== ).*\n)*)", path.read_text(), flags=re.MULTILINE), start=1
    )
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_marked_lines_are_found(rules, name):
    program = PROGRAMS[name]
    marks = re.finditer(r"trap: ([\w-]+)", program)
    wanted = {(program[: one.start()].count("\n") + 1, one[1]) for one in marks}
    found = {(one.line, one.slug) for one in engine.check_text(program, rules, "train.py") if one.severity != "hint"}
    assert found == wanted

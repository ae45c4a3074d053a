"""The same program in another style: the rules find the same traps, and nothing new in the good scripts."""

import sys
import zlib
from collections import Counter
from pathlib import Path

import pytest

from torchlore.catalogue import NOTES

sys.path.insert(0, str(Path(__file__).parent.parent / "bench"))
from check_styles import compare
from styles import STYLES

EACH = 10  # of so many notes one, by its name, so that a new note changes no other's turn
LOST = {  # the share of findings that may be lost, where it is more than one in fifty
    "a = a + b": 0.15,  # what it takes away was a change in place, which is then none
    "arguments split": 0.03,
    "receivers split": 0.03,
    "inlined": 0.05,  # a name that said what it holds is gone
    "trainer class": 0.08,
    "as methods": 0.04,
    "train step": 0.08,
    "builders": 0.08,
    "build all": 0.06,
    "tensor methods": 0.06,
    "torch functions": 0.1,
}
FINE = {  # rules that may say more: the import is a second place where the old name stands
    ("from imports", "removed-torch-function"),
    ("from imports", "renamed-torch-function"),
}


def chosen(name, style):
    """The scripts of this name that are rewritten in this style."""
    turn = list(STYLES).index(style) % EACH
    return [
        path for path in sorted(NOTES.glob(f"*/*/{name}.py")) if zlib.crc32(path.parent.name.encode()) % EACH == turn
    ]


@pytest.mark.parametrize("style", STYLES)
def test_findings_are_kept(style, rules):
    changes = [one for path in chosen("bad", style) for one in compare(path, [style], rules)]
    kept, lost = (sum((one[part] for one in changes), Counter()) for part in (2, 3))
    assert lost.total() <= 2 + LOST.get(style, 0.02) * (kept + lost).total(), f"lost: {lost}"


@pytest.mark.parametrize("style", STYLES)
def test_good_scripts_stay_quiet(style, rules):
    scripts = chosen("good", style)
    new = {
        (one.path.parent.name, slug) for path in scripts for one in compare(path, [style], rules) for slug in one.new
    }
    assert not {(where, slug) for where, slug in new if (style, slug) not in FINE}


def test_a_trap_that_only_one_style_shows_would_be_missed(rules, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import torch\n\nx = torch.zeros(2)\nx += 1\nprint(x)\n", encoding="utf-8")
    assert [one.style for one in compare(script, list(STYLES), rules)] == [
        "torch as th",
        "from imports",
        "in main",
        "a = a + b",
    ]

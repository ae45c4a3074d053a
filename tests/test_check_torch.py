"""`lore check --torch`: the installed torch itself is asked."""

import subprocess
import sys
from pathlib import Path

OLD = """\
import torch
from torch import nosuchthing
from torch.optim.lr_scheduler import ReduceLROnPlateau as Plateau

if torch.cuda.is_availabel():
    pass
Plateau(opt, verbose=True)
torch.optim.SGD([], lr=0.1, momentum=0.9)
nosuchthing(torch.eye(2))
if hasattr(torch, "nothing"):
    torch.nothing()
try:
    torch.nothing()
except AttributeError:
    pass
torch.relu(torch.zeros(2)).anything_at_all()
torch.gone  # lore: ignore[not-in-this-torch] shown in a talk
"""


def test_misspelt_removed_and_strange_words_are_found_and_guarded_ones_are_not(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(OLD)
    command = [
        sys.executable,
        "-m",
        "torchlore",
        "check",
        "--torch",
        "--select",
        "not-in-this-torch",
        "--format",
        "concise",
        "old.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    lines = [int(line.split(":")[1]) for line in done.stdout.splitlines()]
    assert lines == [5, 7, 9]
    assert "write `is_available`" in done.stdout
    assert "takes no `verbose`" in done.stdout

"""What README and the documents say exists, exists: code blocks run, commands and their flags are known, links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_code_in_readme_runs():
    found = blocks(ROOT / "README.md", "python")
    assert found
    for code in found:
        exec(compile(code, "README.md", "exec"), {})


def commands() -> list[tuple[str, tuple[str, ...]]]:
    """(command, its long flags) of every `lore …` line of the console blocks and of inline code."""
    found = set()
    for page in PAGES:
        lines = [
            line[2:] for block in blocks(page, "console") for line in block.splitlines() if line.startswith("$ lore ")
        ]
        lines += re.findall(r"`(lore [a-z][^`|]*)`", page.read_text(encoding="utf-8"))
        for line in lines:
            words = shlex.split(line.split(" # ")[0].replace("…", ""), comments=True)
            if len(words) > 1 and words[1].isalpha():
                flags = [word.split("=")[0] for word in words[2:] if word.startswith("--")]
                stop = [i for i, word in enumerate(words) if word.endswith(".py") and words[1] == "watch"]
                flags = [f for f in flags if not stop or words.index(f) < stop[0]] if stop else flags
                found.add((" ".join(words[1:3]) if words[1] == "ckpt" else words[1], tuple(sorted(set(flags)))))
    return sorted(found)


@pytest.mark.parametrize("command", sorted({name for name, _ in commands()}))
def test_the_commands_are_known(command: str):
    done = subprocess.run(
        [sys.executable, "-m", "torchlore", *command.split(), "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name, flags in commands():
        if name == command:
            assert not [flag for flag in flags if flag not in done.stdout], f"{name} {flags}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target

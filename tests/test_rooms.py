"""Which room may import which. The table is the architecture; this test keeps it true."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import torchlore

ROOT = Path(torchlore.__file__).parent
MAY_IMPORT = {
    "__init__": set(),
    "__main__": {"cli"},
    "finding": set(),
    "keep": set(),
    "recipes": {"recipes"},
    "check": {"check", "finding", "keep", "__init__"},
    "watch": {"watch", "finding", "report"},
    "ckpt": {"ckpt", "finding"},
    "notes": {"check", "watch", "catalogue"},
    "catalogue": {"finding", "keep"},
    "handbook": {"catalogue", "check", "finding"},
    "site": {"site", "catalogue", "handbook", "__init__"},
    "verify": {"catalogue"},
    "doctor": {"doctor", "finding"},
    "editor": {"catalogue", "check", "finding", "handbook", "__init__"},
    "flake8_plugin": {"check", "finding", "__init__"},
    "report": {"report", "finding"},
    "train": {"train", "recipes", "finding", "keep", "report"},
    "extract": {"extract", "train", "recipes", "report", "finding"},
    "cli": {
        "cli",
        "catalogue",
        "check",
        "ckpt",
        "doctor",
        "finding",
        "handbook",
        "keep",
        "report",
        "train",
        "verify",
        "watch",
        "__init__",
    },
}
WITH_TORCH = {"recipes", "train", "extract"}  # every other room starts without it
PROBES = {
    "deep",
    "deferred",
    "graph",
    "keepers",
    "probes",
    "probes_data",
    "probes_loop",
    "probes_step",
    "showing",
}  # of watch: imported once the program has torch
SCRIPTS = {"bad", "good", "cases"}  # a user's code: it may import anything
FILES = sorted(path for path in ROOT.rglob("*.py") if path.stem not in SCRIPTS or path.parts[-4] != "notes")


def top_imports(path: Path) -> set[str]:
    """Modules imported when the file is; an import inside a function is lazy, one under TYPE_CHECKING never happens."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write the whole name of the module"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    used = top_imports(path)
    ours = {name.split(".")[1] for name in used if name.startswith("torchlore.")}
    rooms = {name if (ROOT / name).exists() or (ROOT / f"{name}.py").exists() else "__init__" for name in ours}
    assert rooms <= MAY_IMPORT[room]
    if room not in WITH_TORCH and not (room == "watch" and path.stem in PROBES):
        assert not {name for name in used if name.split(".")[0] in ("torch", "torchvision", "numpy")}


@pytest.mark.parametrize(
    "words",
    ["--help", "notes", "explain conv-output-size", "check --help", "train --help", "watch --help", "doctor --help"],
)
def test_the_command_line_starts_without_torch(words: str) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "torchlore", *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "there is no command" in done.stderr:
        pytest.skip(f"no such command yet: {words}")
    assert done.returncode == 0, done.stderr[-2000:]
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "torchlore.cli" in imported
    assert not imported & {"torch", "torchvision", "numpy"}


def test_importing_the_package_imports_nothing() -> None:
    code = "import sys; before = set(sys.modules); import torchlore; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["torchlore"]

"""How fast `lore check` is beside ruff and TorchFix on the same files, CPU seconds: `python bench/check_speed.py FOLDER …`."""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(sys.executable).parent


def cpu_seconds(command: list[str], folder: Path) -> float:
    """User and system seconds of a command and of what it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command[:4])}: exit status {done.returncode}: {done.stderr[-1000:]}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def copied(folders: list[Path], into: Path) -> int:
    """The Python files of all folders, copied so that no tool finds a configuration; returns their lines."""
    lines = 0
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            target = into / folder.name / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
            lines += path.read_bytes().count(b"\n")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--torchfix", type=Path, help="the folder TorchFix is timed on; it is slow")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        here, few = Path(name) / "all", Path(name) / "few"
        os.environ["XDG_CACHE_HOME"] = str(Path(name) / "cache")
        lines, small = copied(asked.folders, here), copied([asked.torchfix], few) if asked.torchfix else 0
        check = [sys.executable, "-m", "torchlore", "check", "-j", "1", "--format", "json"]
        ruff = [str(BIN / "ruff"), "check", "--isolated", "--no-cache", "--quiet", "--output-format", "concise"]
        jobs = [
            ("ruff check --select ALL", [*ruff, "--select", "ALL", "."], here, lines),
            ("ruff check, default rules", [*ruff, "."], here, lines),
            ("lore check, no cache", [*check, "--no-cache", "."], here, lines),
            ("lore check, cache being filled", [*check, "."], here, lines),
            ("lore check, warm cache", [*check, "."], here, lines),
        ]
        if asked.torchfix:
            torchfix = [str(BIN / "torchfix"), "-j", "1", "--select", "ALL", "."]
            jobs += [
                ("TorchFix --select ALL", torchfix, few, small),
                ("lore check, no cache, the same files", [*check, "--no-cache", "."], few, small),
            ]
        print("| run | lines | CPU s | thousand lines a CPU second |\n| --- | ---: | ---: | ---: |")
        for what, command, folder, size in jobs:
            taken = cpu_seconds(command, folder)
            print(f"| {what} | {size:,} | {taken:.2f} | {size / taken / 1000:,.1f} |", flush=True)


if __name__ == "__main__":
    main()

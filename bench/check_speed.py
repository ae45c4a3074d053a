"""How fast `lore check` is beside ruff and TorchFix on the same files, in processor seconds.

`python bench/check_speed.py FOLDER …` times ruff and lore; `--torchfix VENV/bin/torchfix` times TorchFix too, once and on
all of the files (it does under a thousand lines a second); `--best 5` runs the others five times and takes the best;
`--rules` tells what each rule costs, for those who write them. Bytecode is in place before the clock starts, as it is
where a package is installed; no tool finds a cache.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

BIN = Path(sys.executable).parent
ONE = "import torch\nfrom torch import nn\n\nnet = nn.Linear(2, 2)\nx = torch.zeros(1, 2)\nx.cuda()\nprint(net(x))\n"


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


def compare(folders: list[Path], torchfix: Path | None, best: int) -> None:
    """Print the table of all tools, and how lore without a cache stands to ruff and TorchFix."""
    with tempfile.TemporaryDirectory() as name:
        here, alone = Path(name) / "all", Path(name) / "one"
        alone.mkdir()
        (alone / "one.py").write_text(ONE, encoding="utf-8")
        os.environ.update(XDG_CACHE_HOME=str(Path(name) / "cache"), PYTHONPYCACHEPREFIX=str(Path(name) / "bytecode"))
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        lines = copied(folders, here)
        check = [sys.executable, "-m", "torchlore", "check", "-j", "1", "--format", "json"]
        ruff = [str(BIN / "ruff"), "check", "--isolated", "--no-cache", "--quiet", "--output-format", "concise"]
        jobs = [
            ("ruff check --select ALL", [*ruff, "--select", "ALL", "."], here, lines),
            ("ruff check, default rules", [*ruff, "."], here, lines),
            ("lore check, no cache", [*check, "--no-cache", "."], here, lines),
            ("lore check, cache being filled", [*check, "."], here, lines),
            ("lore check, warm cache", [*check, "."], here, lines),
            ("lore check of one file of 7 lines", [*check, "one.py"], alone, 7),
        ]
        if torchfix:
            jobs.append(
                ("TorchFix --select ALL", [str(torchfix.absolute()), "-j", "1", "--select", "ALL", "."], here, lines)
            )
            subprocess.run([str(torchfix.absolute()), "--version"], capture_output=True, check=False)
        subprocess.run([*check, "one.py"], cwd=alone, capture_output=True, check=False)
        print("| run | lines | CPU s | thousand lines a CPU second |\n| --- | ---: | ---: | ---: |")
        seconds: dict[str, float] = {}
        for what, command, folder, size in jobs:
            once = "filled" in what or "TorchFix" in what  # a cache is filled once
            taken = seconds[what] = min(cpu_seconds(command, folder) for _ in range(1 if once else best))
            print(f"| {what} | {size:,} | {taken:.2f} | {size / taken / 1000:,.1f} |", flush=True)
        cold, ruff_all = seconds["lore check, no cache"], seconds["ruff check --select ALL"]
        print(f"\nWithout a cache lore takes {cold / ruff_all:.1f} times ruff's time with all rules", end="")
        print(f" and is {seconds['TorchFix --select ALL'] / cold:.0f} times as fast as TorchFix." if torchfix else ".")


def rules_alone(folders: list[Path]) -> None:
    """Print what each rule takes, those first that take most; who asks first pays for what others use too."""
    from torchlore.check import config, runner
    from torchlore.check.engine import Rule
    from torchlore.check.files import discover
    from torchlore.cli.check import all_rules

    taken: Counter[str] = Counter()
    again: Counter[str] = Counter()

    def timed(rule: Rule) -> Rule:
        def find(source):
            begun = time.perf_counter()
            found = list(rule.find(source))
            ended = time.perf_counter()
            taken[rule.slug] += ended - begun
            list(rule.find(source))  # all that it asks is known by now
            again[rule.slug] += time.perf_counter() - ended
            return found

        return Rule(rule.slug, find, rule.severity, rule.words)

    begun = time.perf_counter()
    for folder in folders:
        files = [path for path in discover([str(folder)], config.Config())[0] if path.endswith(".py")]
        runner.check(files, {slug: timed(rule) for slug, rule in all_rules().items()}, config.Config())
    whole = time.perf_counter() - begun - sum(again.values())
    for slug, seconds in taken.most_common(40):
        print(f"{seconds / whole:6.1%}  {slug}")
    print(f"{sum(taken.values()) / whole:6.1%}  all rules; the rest is reading and parsing")
    print(
        f"{sum(again.values()) / whole:6.1%}  all rules where what they ask is known: the difference is worked out once for all"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--torchfix", type=Path, help="the command of TorchFix, from an environment of its own")
    parser.add_argument("--best", type=int, default=1, metavar="N", help="the best of N runs, but for TorchFix")
    parser.add_argument("--rules", action="store_true", help="what each rule costs")
    asked = parser.parse_args()
    if asked.rules:
        rules_alone(asked.folders)
    else:
        compare(asked.folders, asked.torchfix, asked.best)


if __name__ == "__main__":
    main()

"""A program plainly and under `lore watch`, with the same seeds: is its output the same, and what was said?

    python bench/watch_pair.py --cwd REPO/mnist main.py --epochs 1
    python bench/watch_pair.py --list programs.txt     # one such line a program: NAME FOLDER SCRIPT ARGUMENTS

Figures of time and speed are taken out before the comparison. Any repository's training program will do; none is kept here.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDED = """import os, random, runpy, sys
import numpy, torch
random.seed(0), numpy.random.seed(0), torch.manual_seed(0)
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
runpy.run_path(sys.argv[0], run_name="__main__")
"""
TIMES = re.compile(r"[\d.]+ ?(ms/batch|ms|s\b|sec|it/s)|time[: ]+\S+|SPS.*|mfu.*|\d+:\d\d(:\d\d)?|_\d{10}")
SAID = re.compile(r"^\S+:\d+: (error|warning|hint) .*|^watch: .*", re.MULTILINE)


def pair(name: str, cwd: str, words: list[str], timeout: float) -> None:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "TQDM_DISABLE": "1", "MPLBACKEND": "Agg"}
    with tempfile.TemporaryDirectory() as folder:
        seeded = Path(folder) / "seeded.py"
        seeded.write_text(SEEDED)
        ways = {"plain": [sys.executable], "watched": [sys.executable, "-m", "torchlore", "watch"]}
        done = {}
        for way, head in ways.items():
            try:
                done[way] = subprocess.run(
                    [*head, str(seeded), *words],
                    cwd=cwd,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=timeout,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                print(f"{name}: {way} took longer than {timeout:.0f} s", flush=True)
                return
    plain, watched = done["plain"], done["watched"]
    if plain.returncode:
        print(f"{name}: does not run here: {(plain.stderr.strip().splitlines() or ['?'])[-1]}", flush=True)
        return
    same = TIMES.sub("", plain.stdout) == TIMES.sub("", watched.stdout) and watched.returncode == 0
    lines = len(plain.stdout.splitlines())
    print(f"{name}: {'same' if same else 'DIFFERENT'} output of {lines} lines")
    for line in dict.fromkeys(one[0] for one in re.finditer(SAID, watched.stderr)):
        print(f"    {line}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cwd", default=".")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--list", type=Path, help="a file with lines `NAME FOLDER SCRIPT ARGUMENTS…`")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    if args.program:
        pair(args.program[0], args.cwd, args.program, args.timeout)
    for line in args.list.read_text().splitlines() if args.list else ():
        name, folder, *words = shlex.split(line)
        pair(name, folder, words, args.timeout)


if __name__ == "__main__":
    main()

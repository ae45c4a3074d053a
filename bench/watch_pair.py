"""A program plainly and under `lore watch`, with the same seeds: are output and weights the same, and what was said?

    python bench/watch_pair.py --cwd REPO/mnist main.py --epochs 1
    python bench/watch_pair.py --list programs.txt     # one such line a program: NAME FOLDER SCRIPT ARGUMENTS

Compared are standard output, with figures of time and speed taken out, the exit status, and bit for bit the weights after
every optimizer step (after 300 steps every twentieth) and the random states at the end. Any repository's training program
will do; none is kept here.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDED = """import atexit, hashlib, os, random, runpy, sys
import numpy, torch
from torch.optim.optimizer import register_optimizer_step_post_hook
random.seed(0), numpy.random.seed(0), torch.manual_seed(0)
sys.argv = sys.argv[1:]
seen, steps = hashlib.sha256(), 0

def stepped(optimizer, args, kwargs):
    global steps
    steps += 1
    if steps <= 300 or steps % 20 == 0:
        for one in (p for group in optimizer.param_groups for p in group["params"]):
            seen.update(one.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    if steps == int(os.environ["PAIR_STEPS"]):
        sys.exit(0)

def ended():
    seen.update(repr((random.getstate(), torch.get_rng_state().tolist())).encode())
    seen.update(numpy.random.get_state()[1])
    with open(os.environ["PAIR_DIGEST"], "w") as file:
        file.write(f"{steps} {seen.hexdigest()}")

register_optimizer_step_post_hook(stepped)
atexit.register(ended)
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
runpy.run_path(sys.argv[0], run_name="__main__")
"""
TIMES = re.compile(
    r"\w*(runtime|per_second|[Tt]ime|ETA|eta)\W+[\d.:]+( \([\d.:]+\))?|[\d.]+ ?(ms/batch|ms|s\b|sec|it/s)|time[: ]+\S+|[BD]T [\d.]+ \([\d.]+\)|\w*(time|data|img/s): [\d.]+( \([\d.]+\))?|SPS.*|mfu.*|\d+:\d\d(:\d\d)?|_\d{10}"
)
SAID = re.compile(r"^\S+:\d+: (error|warning|hint) .*|^watch: .*", re.MULTILINE)


def pair(name: str, cwd: str, words: list[str], args: argparse.Namespace) -> None:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "TQDM_DISABLE": "1", "MPLBACKEND": "Agg"}
    environment["PAIR_STEPS"] = str(args.steps)
    with tempfile.TemporaryDirectory() as folder:
        seeded = Path(folder) / "seeded.py"
        seeded.write_text(SEEDED)
        watch = ["-m", "torchlore", "watch", "--share", str(args.share)]
        ways = {"plain": [sys.executable], "watched": [sys.executable, *watch]}
        done, weights = {}, {}
        for way, head in ways.items():
            digest = Path(folder) / way
            try:
                done[way] = subprocess.run(
                    [*head, str(seeded), *words],
                    cwd=cwd,
                    env=environment | {"PAIR_DIGEST": str(digest)},
                    capture_output=True,
                    text=True,
                    timeout=args.timeout,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                print(f"{name}: {way} took longer than {args.timeout:.0f} s", flush=True)
                return
            weights[way] = digest.read_text() if digest.exists() else "none"
    plain, watched = done["plain"], done["watched"]
    if plain.returncode:
        print(f"{name}: does not run here: {(plain.stderr.strip().splitlines() or ['?'])[-1]}", flush=True)
        return
    told = {"status": watched.returncode == 0, "weights": weights["plain"] == weights["watched"]}
    both = [TIMES.sub("", one.stdout).splitlines() for one in (plain, watched)]
    told["output"] = both[0] == both[1]
    verdict = "same" if all(told.values()) else f"DIFFERENT {[what for what, same in told.items() if not same]}"
    lines, steps = len(plain.stdout.splitlines()), weights["plain"].split()[0]
    print(f"{name}: {verdict}; {lines} lines of output, weights after {steps} steps")
    for one, other in [pair for pair in itertools.zip_longest(*both) if pair[0] != pair[1]][:3]:
        print(f"    plain   {one}\n    watched {other}")
    for line in dict.fromkeys(one[0] for one in re.finditer(SAID, watched.stderr)):
        print(f"    {line}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cwd", default=".")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--steps", type=int, default=0, help="both ways end with this optimizer step (0: never)")
    parser.add_argument("--share", type=float, default=1, help="percent of the time for watching")
    parser.add_argument("--list", type=Path, help="a file with lines `NAME FOLDER SCRIPT ARGUMENTS…`")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    if args.program:
        pair(args.program[0], args.cwd, args.program, args)
    for line in args.list.read_text().splitlines() if args.list else ():
        name, folder, *words = shlex.split(line)
        pair(name, folder, words, args)


if __name__ == "__main__":
    main()

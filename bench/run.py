"""Run every benchmark whose parts are here, one after the other: `make bench`, or `python bench/run.py NAME …`.

The GPU rows need a GPU; `check_speed.py` and `precision.py` also take folders of your own.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def torch_package() -> str:
    """Where torch's own source lies: half a million lines that are on every machine."""
    found = importlib.util.find_spec("torch")
    return str(Path(found.origin).parent) if found and found.origin else "."


def has_gpu() -> bool:
    """Asked in another process, so that no benchmark starts with a GPU context that it did not make."""
    ask = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", ask], check=False).returncode == 0


def plan(*, gpu: bool) -> dict[str, list[str]]:
    """The command line of each benchmark by its name."""
    package = torch_package()
    found = {
        "startup": ["startup.py"],
        "check": ["check_speed.py", package],
        "watch": ["watch_overhead.py", "--all"],
        "train": ["train.py"],
        "video": ["video_decode.py"],
        "recipes-a": ["recipes_a.py", "--device", "cuda" if gpu else "cpu"],
        "recipes-b": ["recipes_b.py", "--device", "cuda" if gpu else "cpu"],
        "recipes-c": ["recipes_c.py", "--device", "cuda" if gpu else "cpu"],
        "ckpt": ["ckpt.py", "--big"],
        "retrieval": ["retrieval.py"],
    }
    torchfix = Path(sys.executable).parent / "torchfix"  # comes with the extra `bench`
    if torchfix.exists():  # 63,000 lines: it takes two minutes for them
        rooms = [str(Path(package) / room) for room in ("nn", "optim")]
        found["check-torchfix"] = ["check_speed.py", *rooms, "--torchfix", str(torchfix)]
    return found | ({"watch-gpu": ["watch_gpu.py"]} if gpu else {})


def main() -> int:
    """Run the chosen ones; the exit status says whether one failed."""
    known = plan(gpu=has_gpu())
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(known)}; none means all")
    names = parser.parse_args().names or list(known)
    if unknown := sorted(set(names) - known.keys()):
        parser.error(f"no benchmark is called {', '.join(unknown)}")
    failed = []
    environment = os.environ | {"PYTHONPATH": str(HERE.parent / "src")}
    for name in names:
        print(f"\n==> {name}: python bench/{' '.join(known[name])}", flush=True)
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, str(HERE / known[name][0]), *known[name][1:]], env=environment, check=False
        )
        print(f"    {time.perf_counter() - start:.0f} s", flush=True)
        if done.returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())

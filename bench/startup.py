"""How long the commands take to answer: median of ten, against bare Python and against importing torch."""

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "lore --help": [sys.executable, "-m", "torchlore", "--help"],
    "lore notes": [sys.executable, "-m", "torchlore", "notes"],
    "lore explain conv-output-size": [sys.executable, "-m", "torchlore", "explain", "conv-output-size"],
    "lore check --help": [sys.executable, "-m", "torchlore", "check", "--help"],
    "lore train --help": [sys.executable, "-m", "torchlore", "train", "--help"],
    "python -c 'import torch'": [sys.executable, "-c", "import torch"],
}


def median_ms(command: list[str], times: int = 10) -> float:
    """Wall time of a command in milliseconds."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(time.perf_counter() - begun)
    return 1000 * statistics.median(taken)


def main() -> None:
    figures = {name: median_ms(command) for name, command in COMMANDS.items()}
    torch = figures["python -c 'import torch'"]
    print(f"{'command':34}{'ms':>8}{'of import torch':>18}")
    for name, value in figures.items():
        print(f"{name:34}{value:8.0f}{value / torch:18.1%}")


if __name__ == "__main__":
    main()

"""Count what `lore check` says about each given repository, by rule: `python bench/precision.py FOLDER …`."""

import argparse
import collections
import json
import subprocess
import sys
from pathlib import Path

SEVERITIES = ("error", "warning", "hint")


def findings(folder: Path, jobs: int) -> list[dict[str, object]]:
    """All findings in a folder, hints too, in the order of the report."""
    command = [sys.executable, "-m", "torchlore", "check", "-j", str(jobs), "--no-cache", "--hints"]
    command += ["--format", "json", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2) or "internal error" in done.stderr:
        raise SystemExit(f"{folder}: exit status {done.returncode}: {done.stderr[-2000:]}")
    if done.stderr:
        print(done.stderr.strip(), file=sys.stderr)  # a file that cannot be read: the rest is checked
    return list(json.loads(done.stdout))


def notebook_lines(path: Path) -> int:
    """How many lines the code cells of a notebook have."""
    try:
        cells = json.loads(path.read_text(errors="replace")).get("cells", [])
    except ValueError:
        return 0
    return sum("".join(cell["source"]).count("\n") + 1 for cell in cells if cell["cell_type"] == "code")


def lines(folder: Path) -> int:
    """How many lines of Python a folder holds, those of notebook cells included."""
    total = sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py") if path.is_file())
    return total + sum(notebook_lines(path) for path in folder.rglob("*.ipynb"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--twice", action="store_true", help="check that a second run says the same in the same order")
    parser.add_argument("--json", type=Path, help="write all findings to this file")
    asked = parser.parse_args()
    rules: collections.Counter[tuple[str, str]] = collections.Counter()
    found: dict[str, list[dict[str, object]]] = {}
    print("| repository | lines | errors | warnings | hints |\n| --- | ---: | ---: | ---: | ---: |")
    for folder in asked.folders:
        found[folder.name] = findings(folder, asked.jobs)
        if asked.twice and findings(folder, asked.jobs) != found[folder.name]:
            raise SystemExit(f"{folder}: a second run said something else")
        kinds = collections.Counter(str(one["severity"]) for one in found[folder.name])
        counts = " | ".join(str(kinds[severity]) for severity in SEVERITIES)
        print(f"| {folder.name.replace('+', '/')} | {lines(folder):,} | {counts} |", flush=True)
        rules.update((str(one["severity"]), str(one["slug"])) for one in found[folder.name])
    print("\n| severity | rule | findings |\n| --- | --- | ---: |")
    for (severity, slug), count in sorted(rules.items(), key=lambda item: (SEVERITIES.index(item[0][0]), -item[1])):
        print(f"| {severity} | {slug} | {count} |")
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

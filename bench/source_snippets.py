"""How many wrong-result defects of the source documents `lore check` reports: `python bench/source_snippets.py DOCUMENTS CATALOGUE`.

DOCUMENTS is the folder of the five documents, CATALOGUE the Markdown file whose section "Runs, but the result is wrong"
lists the defects with document and lines. A defect counts where a finding stands on its lines.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROW = re.compile(r"^\| (E\d+) \| ([^|]*) \| ([^|]*) \|", re.MULTILINE)
PLACE = re.compile(r"(\d{3}):(\d+)(?:-(\d+))?")


def defects(catalogue: str) -> list[tuple[str, list[tuple[str, int, int]], str]]:
    """Number, places and words of each defect that gives a wrong result."""
    section = catalogue.split("### B.", 1)[1].split("### C.", 1)[0]
    found = []
    for number, where, words in ROW.findall(section):
        places = [(document, int(first), int(last or first)) for document, first, last in PLACE.findall(where)]
        places += [(places[0][0], int(one), int(one)) for one in re.findall(r",(\d+)", where) if places]
        found.append((number, places, words.strip()))
    return found


def findings(documents: Path) -> dict[str, list[tuple[int, int, str]]]:
    """First and last line and slug of what is found in each document, hints included."""
    said = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        for path in sorted(documents.glob("*.txt")):
            (Path(name) / f"{path.name[:3]}.md").write_bytes(path.read_bytes())
        command = [
            sys.executable,
            "-m",
            "torchlore",
            "check",
            "--markdown",
            "--hints",
            "--no-cache",
            "--format",
            "json",
            ".",
        ]
        done = subprocess.run(command, cwd=name, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr)
        for one in json.loads(done.stdout):
            said[one["path"][:3]].append((one["line"], max(one["end_line"], one["line"]), one["slug"]))
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("catalogue", type=Path)
    asked = parser.parse_args()
    said = findings(asked.documents)
    wanted = defects(asked.catalogue.read_text(encoding="utf-8"))
    count = 0
    for number, places, words in wanted:
        slugs = sorted({slug for document, first, last in places for start, end, slug in said[document]
                        if start <= last and first <= end})  # fmt: skip
        count += bool(slugs)
        print(f"{number}  {'; '.join(slugs) or '-':40}  {words}")
    total = sum(len(group) for group in said.values())
    kinds = len({slug for group in said.values() for _, _, slug in group})
    print(f"{count} of {len(wanted)} defects; {total} findings of {kinds} kinds in all")


if __name__ == "__main__":
    main()

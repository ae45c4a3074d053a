"""Does `lore check` find the usual traps in real programs? It plants them there, one at a time, and looks.

`python bench/check_planted.py FOLDER …` takes the training scripts of other people's repositories, makes one small mistake in a
copy of a file (a `zero_grad()` gone, two lines exchanged, a `ModuleList` turned into a list), and counts how often check
says something that it did not say before. `--missed` names the places where it did not; `--kind NAME` (repeatable) plants
some only. A planted mistake need not be one (another line may do the same), so the shares are lower bounds: read what is missed.
"""

import argparse
import itertools
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from plants import KINDS, Edit, Text

from torchlore.check import runner
from torchlore.check.config import Config
from torchlore.check.engine import Rule
from torchlore.cli.check import all_rules

SOURCE_FOLDERS = {"test", "tests", "build", "site-packages", ".git"}


def changed(text: str, edits: list[Edit]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def files(folders: list[Path], most: int) -> list[Path]:
    """Training scripts, at most so many of each repository, always the same ones."""
    chosen: list[Path] = []
    for folder in folders:
        found = []
        for path in sorted(folder.rglob("*.py")):
            if SOURCE_FOLDERS.isdisjoint(path.relative_to(folder).parts) and path.stat().st_size < 100_000:
                text = path.read_text(encoding="utf-8", errors="replace")
                if "import torch" in text and text.isascii() and re.search(r"backward\(|nn\.Module|DataLoader\(", text):
                    found.append(path)
        random.Random(0).shuffle(found)
        chosen += found[:most]
    return chosen


def said(path: Path, rules: Mapping[str, Rule]) -> Counter[tuple[str, str]]:
    """What check says of a file, which may look into those it imports."""
    return Counter((one.slug, one.message) for one in runner.check([str(path)], rules, Config()).findings)


def tried(path: Path, kinds: Sequence[str], rules: Mapping[str, Rule]) -> Iterator[tuple[str, int, set[str]]]:
    """Each mistake that a file can have, at most two of a kind: the kind, the line, and the rules that speak of it."""
    old = path.read_text(encoding="utf-8")
    try:
        text = Text(old)
    except SyntaxError:
        return
    plants = [(kind, plant) for kind in kinds for plant in itertools.islice(KINDS[kind](text), 2)]
    before = said(path, rules) if plants else Counter()
    for kind, plant in plants:
        path.write_text(changed(old, plant.edits), encoding="utf-8")
        new = said(path, rules) - before
        path.write_text(old, encoding="utf-8")
        yield kind, plant.line, {slug for slug, _ in new}


def copied(folders: Sequence[Path], into: Path) -> list[Path]:
    """The Python files of the folders, so that nothing of theirs is touched."""
    for folder in folders:
        for path in folder.rglob("*.py"):
            target = into / folder.name / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return [into / folder.name for folder in folders]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--most", type=int, default=12, help="files of one repository")
    parser.add_argument("--missed", action="store_true")
    args = parser.parse_args()
    rules, kinds = all_rules(), args.kind or list(KINDS)
    found: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for path in files(copied(args.folders, Path(name)), args.most):
            for kind, line, slugs in tried(path, kinds, rules):
                planted[kind] += 1
                found[kind] += bool(slugs)
                if args.missed and not slugs:
                    print(f"{kind}: {path.relative_to(name)}:{line}", flush=True)
    for kind in kinds:
        if planted[kind]:
            print(f"{kind:24}{found[kind]:5} of {planted[kind]:4}  {found[kind] / planted[kind]:.0%}")


if __name__ == "__main__":
    main()

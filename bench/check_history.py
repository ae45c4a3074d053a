"""What `lore check` would have said before a repair: small commits that call themselves one, in the history of git repositories.

`python bench/check_history.py REPOSITORY …` (folders with or without a work tree) checks each changed Python file before and
after the commit, on its own, and lists the commits whose finding is gone afterwards. Most repairs are no silent traps, and
nobody says which are: the list is for reading, and what is not on it too (`--others` prints those).
"""

import argparse
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from torchlore.check import engine
from torchlore.cli.check import all_rules
from torchlore.finding import Finding, Severity

SAYS_SO = re.compile(
    r"\b(fix(e[sd])?|bugs?|wrong|incorrect|correct(ed)?|forg[eo]t(ten)?|missing|mistake|oops|typo|leak|oom)\b",
    re.IGNORECASE,
)
ELSEWHERE = re.compile(r"(^|/)(tests?/|test_|docs?/|setup\.py)")
LARGEST = 24  # changed lines of a repair that can be read at a glance


def git(folder: Path, *words: str) -> str:
    """What a git command prints; empty where it fails, as for a file that was not there before."""
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def repairs(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Hash, subject and Python files of each small commit that says it repairs something."""
    log = git(folder, "log", "--no-merges", "--format=%x01%H%x02%s%x03", "--numstat", "--", "*.py")
    for entry in log.split("\x01")[1:]:
        head, _, table = entry.partition("\x03")
        commit, _, subject = head.partition("\x02")
        rows = [row.split("\t") for row in table.strip().splitlines() if row.count("\t") == 2]
        plain = all(row[0].isdigit() and row[1].isdigit() and "=>" not in row[2] for row in rows)
        if not SAYS_SO.search(subject) or not plain or not 1 <= len(rows) <= 3:
            continue
        files = [row[2] for row in rows if row[2].endswith(".py") and not ELSEWHERE.search(row[2])]
        if files and sum(int(row[0]) + int(row[1]) for row in rows) <= LARGEST:
            yield commit, subject, files


def said(text: str, rules: dict[str, engine.Rule]) -> list[Finding]:
    """Errors and warnings in one file on its own; a file that did not parse is another story."""
    found = engine.check_text(text, rules, "before.py")
    return [one for one in found if one.severity is not Severity.HINT and one.slug != engine.SYNTAX]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--others", action="store_true", help="print the changes of the other repairs too")
    asked = parser.parse_args()
    looked = found = 0
    rules = dict(all_rules())
    for folder in asked.folders:
        for commit, subject, files in repairs(folder):
            for file in files:
                before, after = git(folder, "show", f"{commit}^:{file}"), git(folder, "show", f"{commit}:{file}")
                if "torch" not in before or not after:
                    continue
                looked += 1
                was, now = said(before, rules), Counter(one.slug for one in said(after, rules))
                gone = [one for one in was if sum(other.slug == one.slug for other in was) > now[one.slug]]
                found += bool(gone)
                for line in sorted({f"{file}:{one.line} {one.slug}" for one in gone}):
                    print(f"{folder} {commit[:8]} {line} | {subject}", flush=True)
                if asked.others and not gone:
                    print(
                        f"{folder.name} {commit[:8]} {subject}\n{git(folder, 'show', '-U2', '--format=', commit, '--', file)}"
                    )
    print(f"{looked} repaired files, a finding gone in {found}")


if __name__ == "__main__":
    main()

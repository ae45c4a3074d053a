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
from itertools import islice
from pathlib import Path

from torchlore.check import engine
from torchlore.check.syntax import SYNTAX
from torchlore.cli.check import all_rules
from torchlore.finding import Finding, Severity

SAYS_SO = re.compile(
    r"\b(fix|fixes|fixed|bug|bugs|wrong|incorrect|correct|corrected|forgot|forgotten|missing|mistake|oops|typo|leak|oom|"
    r"out of memory|error|issue)\b",
    re.IGNORECASE,
)
ABOUT = re.compile(  # what a silent trap is made of
    r"zero_grad|\.eval\(|\.train\(|no_grad|detach|\.item\(|shuffle|softmax|sigmoid|\.step\(|scheduler|clip_grad|requires_grad|"
    r"state_dict|permute|\.view\(|reshape|transpose|reduction|weight_decay|manual_seed|dim=|\.data\b|deepcopy|\.clone\(|super\(|"
    r"ModuleList|register_buffer|retain_graph|backward|\.parameters\(|criterion|loss|accuracy|acc\b|correct|argmax|\.max\(|"
    r"len\(.*loader|Dropout|BatchNorm|pack_padded|batch_first|mask|ormalize|ToTensor|set_epoch|DataLoader|squeeze|volatile|"
    r"\.cuda\(|mean\(|sum\(|\blr\b|momentum|best_|\bema\b"
)
TALK = re.compile(r"\s*(print|logger|import|from)\b")
ELSEWHERE = re.compile(r"(^|/)(tests?/|test_|docs?/|setup\.py)")
LARGEST = 24  # changed lines of a repair that can be read at a glance
MOST = 150  # repairs of one repository


def git(folder: Path, *words: str) -> str:
    """What a git command prints; empty where it fails, as for a file that was not there before."""
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def repairs(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Hash, subject and Python files of each small commit that says it repairs something."""
    log = git(folder, "log", "--no-merges", "-n", "3000", "--format=%x01%H%x02%s%x03", "--numstat", "--", "*.py")
    for entry in log.split("\x01")[1:]:
        head, _, table = entry.partition("\x03")
        commit, _, subject = head.partition("\x02")
        rows = [row.split("\t") for row in table.strip().splitlines() if row.count("\t") == 2]
        files = [row[2] for row in rows]
        plain = all(row[0].isdigit() and row[1].isdigit() and "=>" not in row[2] for row in rows)
        if not SAYS_SO.search(subject) or not plain or not 1 <= len(rows) <= 3:
            continue
        small = sum(int(row[0]) + int(row[1]) for row in rows) <= LARGEST
        if small and not any(ELSEWHERE.search(file) for file in files):
            yield commit, subject, files


def may_matter(change: str) -> bool:
    """Whether a changed line names something that silent traps are made of, and not all of them only talk."""
    lines = [line[1:] for line in change.splitlines() if re.match(r"[+-](?![+-]{2} )", line)]
    code = [line for line in lines if line.strip() and not line.strip().startswith("#")]
    return any(ABOUT.search(line) for line in code) and not all(TALK.match(line) for line in code)


def said(text: str, rules: dict[str, engine.Rule]) -> list[Finding]:
    """Errors and warnings in one file on its own."""
    found = engine.check_text(text, rules, "before.py")
    return [one for one in found if one.severity is not Severity.HINT]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--others", action="store_true", help="print the changes of the other repairs too")
    asked = parser.parse_args()
    looked = found = 0
    rules = dict(all_rules())
    for folder in asked.folders:
        for commit, subject, files in islice(repairs(folder), MOST):
            for file in files:
                before, after = git(folder, "show", f"{commit}^:{file}"), git(folder, "show", f"{commit}:{file}")
                change = git(folder, "diff", "-U2", f"{commit}^", commit, "--", file)
                was = said(before, rules) if "torch" in before and after and may_matter(change) else None
                if was is None or any(one.slug == SYNTAX for one in was):
                    continue
                looked += 1
                now = Counter(one.slug for one in said(after, rules))
                gone = [one for one in was if sum(other.slug == one.slug for other in was) > now[one.slug]]
                found += bool(gone)
                for line in sorted({f"{file}:{one.line} {one.slug}" for one in gone}):
                    print(f"{folder} {commit[:8]} {line} | {subject}", flush=True)
                if asked.others and not gone:
                    print(f"{folder} {commit[:8]} {subject}\n{change}")
    print(f"{looked} repaired files, a finding gone in {found}")


if __name__ == "__main__":
    main()

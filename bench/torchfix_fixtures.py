"""How many findings of TorchFix's own suite `lore check` has, by line: `python bench/torchfix_fixtures.py TORCHFIX/tests/fixtures`.

The fixtures are TorchFix's (BSD-3) and are not kept here. A finding counts where one of ours stands on its line under a
slug that means the same.
"""

import argparse
import re
import sys
from pathlib import Path

from torchlore.check import config, runner
from torchlore.check.project import Project
from torchlore.cli.check import all_rules
from torchlore.finding import Finding

EXPECTED = re.compile(r"^(\d+):\d+ (TOR\d+) (.*)$", re.MULTILINE)
TIME = (2, 5)  # the torch of TorchFix's last release, for which torch.load was unsafe
MEANS = {  # TorchFix's code -> slugs of ours that mean the same
    "TOR001": {"removed-torch-function"},
    "TOR002": {"requires-grad-on-module", "misspelt-setting"},
    "TOR003": {"reentrant-checkpoint"},
    "TOR004": {"removed-torch-function"},
    "TOR101": {"removed-torch-function", "renamed-torch-function", "deprecated-amp"},
    "TOR102": {"unsafe-torch-load"},
    "TOR103": {"removed-torch-function", "renamed-torch-function"},
    "TOR104": {"renamed-torch-function"},
    "TOR105": {"renamed-torch-function"},
    "TOR106": {"imprecise-near-zero"},
    "TOR107": {"imprecise-near-zero"},
    "TOR108": {"imprecise-near-zero"},
    "TOR201": {"torchvision-pretrained"},
    "TOR202": {"renamed-torch-function"},
    "TOR203": set(),
    "TOR401": {"dataloader-no-workers"},
    "TOR402": {"zero-grad-to-zeros"},
    "TOR901": set(),
}


def missing(path: Path, work: runner.Work) -> tuple[int, list[str]]:
    """How many findings a fixture expects, and those that we do not have."""
    said = runner.check_text(str(path), path.read_text(encoding="utf-8"), work)
    failed = [str(one) for one in said if not isinstance(one, Finding)]
    if failed:
        raise SystemExit("\n".join(failed))
    ours = {(one.line, one.slug) for one in said if isinstance(one, Finding)}
    expected = EXPECTED.findall(path.with_suffix(".txt").read_text(encoding="utf-8"))
    lacking = [f"{path.name}:{line} {code} {words}" for line, code, words in expected
               if not any((int(line), slug) in ours for slug in MEANS[code])]  # fmt: skip
    return len(expected), lacking


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fixtures", type=Path)
    parser.add_argument("--least", type=int, default=70, help="exit with 1 below this many")
    asked = parser.parse_args()
    rules, total, lacking = all_rules(), 0, []
    for path in sorted(asked.fixtures.glob("*/checker/*.py")):
        count, more = missing(path, runner.Work(rules, config.Config(), Project(torch=TIME)))
        total, lacking = total + count, lacking + more
    print("\n".join(["not found:", *lacking]))
    print(f"{total - len(lacking)} of {total}")
    sys.exit(total - len(lacking) < asked.least)


if __name__ == "__main__":
    main()

"""Does `lore check` know a trap when the same program is written in another style?

`python bench/check_styles.py FILE …` rewrites each script in every style of bench/styles.py and compares what all rules say
before and after; without files it takes the scripts of the notes. Printed for each style: findings kept, lost and new;
`--rules` lists the rules and files behind what changed, `--style NAME` (repeatable) takes only some, `--then NAME` rewrites
what came out once more.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from styles import STYLES, plain, rewritten

from torchlore.catalogue import NOTES
from torchlore.check.engine import Rule, check_text
from torchlore.cli.check import all_rules


class Change(NamedTuple):
    """What one rewriting of one script changed: findings by slug."""

    path: Path
    style: str
    kept: Counter[str]
    lost: Counter[str]
    new: Counter[str]


def said(text: str, rules: Mapping[str, Rule]) -> Counter[str]:
    """How often each rule speaks."""
    return Counter(one.slug for one in check_text(text, rules))


def compare(path: Path, styles: Sequence[str], rules: Mapping[str, Rule], then: str = "") -> list[Change]:
    """What each style changes in the findings of a script; styles that leave its text alone are left out."""
    before = plain(path.read_text(encoding="utf-8"))
    known, changes = said(before, rules), []
    for style in styles:
        after = rewritten(before, style)
        after = rewritten(after, then) if then else after
        if after != before:
            now = said(after, rules)
            changes.append(Change(path, style, known & now, known - now, now - known))
    return changes


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--style", action="append", choices=STYLES)
    parser.add_argument("--then", default="", choices=STYLES)
    parser.add_argument("--rules", action="store_true")
    args = parser.parse_args()
    files = args.files or [path for path in sorted(NOTES.glob("*/*/*.py")) if path.stem in ("bad", "good", "cases")]
    rules = all_rules()
    changes = [one for path in files for one in compare(path, args.style or list(STYLES), rules, args.then)]
    print(f"{'style':18}{'scripts':>8}{'kept':>7}{'lost':>7}{'new':>7}")
    for style in args.style or STYLES:
        mine = [one for one in changes if one.style == style]
        sums = (sum(part.total() for part in parts) for parts in zip(*(one[2:] for one in mine), strict=True))
        print(f"{style:18}{len(mine):8}" + "".join(f"{count:7}" for count in sums))
    for one in changes if args.rules else ():
        for word, slugs in (("lost", one.lost), ("new", one.new)):
            for slug, count in slugs.items():
                print(f"{word} {one.style!r} {slug} x{count} {one.path}")


if __name__ == "__main__":
    main()

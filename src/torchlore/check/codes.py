"""A short code for each rule, for tools that want one: `# noqa: TLR805`, flake8, SARIF.

It is made from the slug alone. So there is no list to keep and no number to choose, and no rule that comes or goes
changes the code of another; `tests/test_check_codes.py` tells whoever picks a slug whose code is taken.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

from torchlore.check.pattern import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

CODE = regex(r"TL[A-Z]\d{3}", re.IGNORECASE)


@cache
def code(slug: str) -> str:
    """`TL`, a letter and three digits, which is as long as flake8 takes them."""
    letter, number = divmod(crc32(slug.encode()) % 26_000, 1000)
    return f"TL{chr(ord('A') + letter)}{number:03}"


def slug_of(word: str, slugs: Iterable[str]) -> str:
    """The slug that a code stands for; any other word as it is."""
    if not CODE.fullmatch(word):
        return word
    return next((slug for slug in slugs if code(slug) == word.upper()), word)

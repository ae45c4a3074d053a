"""Patterns that are compiled when they are first asked: to compile all two hundred took a third of the start."""

from __future__ import annotations

import re
from typing import Any, cast

_ASKED = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "pattern", "flags", "groups")


class _Late:
    """A pattern that has the methods of a compiled one from the moment one of them is wanted."""

    __slots__ = ("_flags", "_text", *_ASKED)

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _ASKED:
            raise AttributeError(f"a pattern has no {name!r} here")
        made = re.compile(self._text, self._flags)
        for one in _ASKED:
            setattr(self, one, getattr(made, one))
        return getattr(made, name)


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, but done when it is first used."""
    return cast("re.Pattern[str]", _Late(text, flags))

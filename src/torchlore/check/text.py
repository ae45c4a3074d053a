"""The text of a file, which answers `"word" in text` without reading it again: rules ask two hundred times a file."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Self

_BREAKS = bytes(code if chr(code).isalnum() or code == 95 or code > 127 else 32 for code in range(256))
_WORD = re.compile(r"[0-9A-Za-z_\u0080-\U0010ffff]+")  # what `_BREAKS` leaves
_ANY = "surrogatepass"  # a text need not be valid


class Text(str):
    """A string that knows its words. A part of a word stands in the text where it stands in one of the words."""

    __slots__ = ("_known", "_lower", "_words")
    _known: dict[str, bool]
    _lower: Text | None
    _words: str

    def __new__(cls, text: str) -> Self:
        """The text itself, where it is one already."""
        if text.__class__ is cls:
            return text  # type: ignore[return-value]  # the class was just compared
        self = super().__new__(cls, text)
        self._known, self._lower, self._words = {}, None, ""
        return self

    def __contains__(self, part: Any) -> bool:
        """Whether a part stands in the text, looked for once."""
        found = self._known.get(part)
        if found is None:
            core = _core(part)
            found = core in (self._words or self.each_once()) and (core == part or super().__contains__(part))
            self._known[part] = found
        return found

    def lower(self) -> Text:
        """The text in small letters, made once."""
        if self._lower is None:
            self._lower = Text(super().lower())
            if self.isascii():
                self._lower._words = (self._words or self.each_once()).lower()  # noqa: SLF001  # one of us
        return self._lower

    def each_once(self) -> str:
        """Each word of the text once, one after the other: a fifth of its length."""
        if not self._words:
            self.words()
        return self._words

    def words(self) -> set[bytes]:
        """The words of the text."""
        if self._words:
            return set(self._words.encode(errors=_ANY).split())
        words = set(self.encode(errors=_ANY).translate(_BREAKS).split())
        self._words = b" ".join((b"", *words)).decode(errors=_ANY)
        return words


@lru_cache(maxsize=65536)
def _core(part: str) -> str:
    """The longest word in a part, "" where it has none."""
    return max(_WORD.findall(part), key=len, default="")

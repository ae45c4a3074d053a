"""Which rules have something to look at in a file, told by its words before any of them runs.

A rule may name, as `WORDS` beside its `find`, what a file must say for it to speak at all: each entry has to be met.
`"zero_grad"` is met by that word, `"step|backward"` by either, `"*loader*"` by any word with that part in it, in small
or capital letters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torchlore.check.engine import Rule
    from torchlore.check.text import Text


def words(find: Callable[..., object]) -> tuple[str, ...]:
    """The words beside a `find`."""
    return tuple(find.__globals__.get("WORDS", ()))


class Gate:
    """The words of some rules, ready to be compared with those of a file."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self.rules = rules
        self.words: dict[bytes, int] = {}  # a word -> a bit for each entry that it meets
        self.parts: dict[str, int] = {}
        self.needs: list[tuple[int, Rule]] = []
        bits: dict[str, int] = {}
        for rule in rules.values():
            need = 0
            for entry in rule.words:
                need |= bits.setdefault(entry, 1 << len(bits))
            self.needs.append((need, rule))
        for entry, bit in bits.items():
            for one in entry.split("|"):
                if one.startswith("*"):
                    part = one.strip("*").lower()
                    self.parts[part] = self.parts.get(part, 0) | bit
                else:
                    self.words[one.encode()] = self.words.get(one.encode(), 0) | bit

    def awake(self, text: Text) -> list[Rule]:
        """The rules whose words all stand in the text."""
        met, table = 0, self.words
        for word in text.words() & table.keys():
            met |= table[word]
        small = text.lower().each_once()
        for part, bit in self.parts.items():
            if met & bit != bit and part in small:
                met |= bit
        return [rule for need, rule in self.needs if met & need == need]


_last: list[Gate] = []


def awake(rules: Mapping[str, Rule], text: Text) -> list[Rule]:
    """The rules that may speak of a text; the tables of the last set of rules are kept."""
    if not _last or _last[0].rules is not rules:
        _last[:] = [Gate(rules)]
    return _last[0].awake(text)

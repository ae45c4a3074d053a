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
        self.parts: dict[int, tuple[str, ...]] = {}  # the bit of an entry -> the parts that meet it too
        self.needs: list[tuple[int, tuple[int, ...], Rule]] = []  # the bits of words alone, of entries with parts
        bits: dict[str, int] = {}
        for rule in rules.values():
            for entry in rule.words:
                bits.setdefault(entry, 1 << len(bits))
            wide = tuple(bits[entry] for entry in rule.words if "*" in entry)
            self.needs.append((sum({bits[entry] for entry in rule.words if "*" not in entry}), wide, rule))
        for entry, bit in bits.items():
            for one in entry.encode().split(b"|"):
                if not one.startswith(b"*"):
                    self.words[one] = self.words.get(one, 0) | bit
            if "*" in entry:
                self.parts[bit] = tuple(one.strip("*").lower() for one in entry.split("|") if one.startswith("*"))

    def awake(self, text: Text) -> list[Rule]:
        """The rules whose words all stand in the text."""
        met, table = 0, self.words
        for word in text.words() & table.keys():
            met |= table[word]
        small = text.lower().each_once()
        missed = 0  # entries whose parts were looked for in vain
        found: list[Rule] = []
        for need, wide, rule in self.needs:
            if met & need != need:
                continue
            for bit in wide:
                if not met & bit:
                    if missed & bit or not any(part in small for part in self.parts[bit]):
                        missed |= bit
                        break
                    met |= bit
            else:
                found.append(rule)
        return found


_gates: dict[int, Gate] = {}
_MOST = 16  # sets of rules whose tables are kept: a project may choose others for some of its files


def awake(rules: Mapping[str, Rule], text: Text) -> list[Rule]:
    """The rules that may speak of a text; the tables of the last few sets of rules are kept."""
    gate = _gates.get(id(rules))
    if gate is None or gate.rules is not rules:
        if len(_gates) >= _MOST:
            _gates.clear()
        gate = _gates[id(rules)] = Gate(rules)
    return gate.awake(text)

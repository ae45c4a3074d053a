"""How much may be looked at: a budget of time that backs off by itself."""

from __future__ import annotations

from time import perf_counter_ns

GRANT_NS = 300_000_000  # what may be spent on looking closely whatever the share
FIRST_STEPS = 64  # these are always looked at closely
WINDOW = 6  # steps looked at in a row later on
LIGHT_NS = 350  # what a probe costs that only counts; measured by bench/watch_overhead.py


class Pace:
    """Says when to look closely. `share` is the part of the program's time that looking may take."""

    def __init__(self, share: float = 0.01) -> None:
        self.share = share
        self.start = perf_counter_ns()
        self.spent_ns = 0  # measured, while looking closely
        self.light = 0  # probes that only counted
        self.left = FIRST_STEPS  # steps until this window closes
        self.forwards = 0  # since the window was opened or a step was made
        self.rest = 0  # steps until the next window may open
        self.gap = 16  # steps between windows; it doubles, as changing the probes costs too
        self.wakes = 0
        self.rare = 0

    @property
    def elapsed_ns(self) -> int:
        """Time since the watch began."""
        return perf_counter_ns() - self.start

    @property
    def cost_ns(self) -> int:
        """What watching took so far."""
        return self.spent_ns + self.light * LIGHT_NS

    def affordable(self) -> bool:
        """Whether the budget allows another window."""
        return self.cost_ns <= GRANT_NS + self.share * self.elapsed_ns

    def allows_rare(self) -> bool:
        """Whether a call that programs make rarely may be looked at out of turn: the first hundreds, then by budget."""
        self.rare += 1
        return self.rare <= 500 or self.affordable()

    def stepped(self, rich: bool) -> bool:
        """Whether to look closely at the next step."""
        self.forwards = 0
        if rich:
            self.left -= 1
            self.rest = self.gap
            return self.left > 0
        self.rest -= 1
        if self.rest > 0:
            return False
        self.rest = self.gap
        if not self.affordable():
            return False
        self.gap = min(2 * self.gap, 4096)
        self.left = WINDOW
        return True

    def woken(self) -> bool:
        """Whether to look closely from here on, at the beginning of an epoch or an evaluation: often, then rarely."""
        self.wakes += 1
        if self.wakes > 16 and self.wakes & (self.wakes - 1) and self.wakes % 64:
            return False
        self.left = max(self.left, 2)
        self.forwards = 0
        return self.affordable()

    def forwarded(self) -> bool:
        """Whether to keep looking closely although forwards come without a step."""
        self.forwards += 1
        return self.forwards < FIRST_STEPS or self.affordable()

"""How much may be looked at: a budget of time that backs off by itself."""

from __future__ import annotations

from time import perf_counter_ns

GRANT_NS = 300_000_000  # what may be spent on looking closely whatever the share
FIRST_STEPS = 64  # these are always looked at closely
FIRST_WAKES = 4  # these too, so that a busy machine, where looking takes longer, sees the first evaluation
WINDOW = 6  # steps looked at in a row later on
LIGHT_NS = 5000  # what a step costs that is only counted, its code not in the caches: bench/watch_overhead.py
CALL_NS = 700  # what a single call costs that nobody looks at
LONG_NS = 4_000_000  # a step this long can bear that its loss is read each time


class Pace:
    """Says when to look closely. `share` is the part of the program's time that looking may take."""

    def __init__(self, share: float = 0.01) -> None:
        self.share = share
        self.start = perf_counter_ns()
        self.setup_ns = (
            0  # until the probes were set; no part of the budget, as it is over before anything can be saved
        )
        self.spent_ns = 0  # measured, while looking closely
        self.light = 0  # steps that were only counted
        self.calls = 0  # single calls that nobody looked at
        self.left = FIRST_STEPS  # steps until this window closes
        self.forwards = 0  # since the window was opened or a step was made
        self.rest = 0  # steps until the next window may open
        self.gap = 16  # steps between windows; it doubles, as changing the probes costs too
        self.every = 1  # while nobody looks, a loss is asked whether it is finite at every so many backwards
        self.rested_at = self.start
        self.wakes = 0
        self.rare = 0

    @property
    def elapsed_ns(self) -> int:
        """Time since the watch began."""
        return perf_counter_ns() - self.start

    @property
    def cost_ns(self) -> int:
        """What looking took so far."""
        return self.spent_ns + self.light * LIGHT_NS + self.calls * CALL_NS

    @property
    def total_ns(self) -> int:
        """All that the watch took, as it is told in the end."""
        return self.setup_ns + self.cost_ns

    def affordable(self) -> bool:
        """Whether the budget allows another window."""
        return self.cost_ns <= GRANT_NS + self.share * self.elapsed_ns

    def allows_rare(self) -> bool:
        """Whether a call that programs make rarely may be looked at out of turn: the first hundreds, then by budget."""
        self.rare += 1
        return self.rare <= 500 or self.affordable()

    def stepped(self) -> bool:
        """Whether to go on looking closely after a step that was looked at."""
        self.forwards = 0
        self.left -= 1
        self.rest = self.gap
        return self.left > 0

    def rested(self, steps: int) -> bool:
        """Whether to look closely again after so many steps that were only counted."""
        now = perf_counter_ns()
        self.every = 1 if now - self.rested_at > steps * LONG_NS else 8
        self.rested_at = now
        self.light += steps
        self.forwards = 0
        self.rest -= steps
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
        return self.wakes <= FIRST_WAKES or self.affordable()

    def forwarded(self) -> bool:
        """Whether to keep looking closely although forwards come without a step."""
        self.forwards += 1
        return self.forwards < FIRST_STEPS or self.affordable()

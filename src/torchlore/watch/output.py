"""What is printed in the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from torchlore.finding import Finding
from torchlore.watch.pace import FIRST_STEPS

if TYPE_CHECKING:
    from torchlore.watch.runner import Outcome


def summary(outcome: Outcome) -> Iterator[str]:
    """The lines after the program's own output; each finding begins one with `path:line:`."""
    if outcome.findings:
        yield "watch: findings:"  # apart from what the program itself wrote last
    for one in outcome.findings:
        yield line(one)
    watcher = outcome.watcher
    for slug, reason in watcher.broken.items():
        yield f"watch: the sentinel {slug} failed and was switched off: {reason}"
    if outcome.unread:
        yield f"watch: the source was not read ({outcome.unread}): `lore check` on it tells more"
    if not watcher.pace.setup_ns and not watcher.run.child_steps:
        yield "watch: the program has not imported torch"
        return
    count = len(outcome.findings)
    found = f"{count} finding{'s' * (count != 1)}" if count else "nothing found"
    yield f"watch: {found} in {watcher.run.steps + watcher.run.child_steps} steps; {cost(outcome)}"


def line(one: Finding) -> str:
    """`train.py:31: error missing-zero-grad: what happens (evidence) [step 3, 40 times]`."""
    evidence = f" ({one.evidence})" if one.evidence else ""
    times = f", {one.count} times" if one.count > 1 else ""
    step = f" [step {one.step}{times}]" if one.step is not None else ""
    return f"{one.path or '?'}:{one.line}: {one.severity} {one.slug}: {one.message}{evidence}{step}"


def cost(outcome: Outcome) -> str:
    """What watching took; where that is more than was asked for, also why."""
    pace = outcome.watcher.pace
    share = pace.total_ns / max(pace.elapsed_ns, 1)
    told = f"watch cost {100 * share:.1f} % of {pace.elapsed_ns / 1e9:.1f} s"
    if share <= pace.share:
        return told
    return f"{told} ({pace.setup_ns / 1e9:.1f} s to begin, then the first {FIRST_STEPS} steps in full)"


def as_json(outcome: Outcome) -> str:
    """Everything, for machines."""
    watcher = outcome.watcher
    findings = [{name: value for name, value in asdict(one).items() if name != "edits"} for one in outcome.findings]
    facts = {
        "status": outcome.status,
        "steps": watcher.run.steps + watcher.run.child_steps,
        "cost_seconds": watcher.pace.total_ns / 1e9,
        "seconds": watcher.pace.elapsed_ns / 1e9,
        "broken_sentinels": watcher.broken,
        "findings": findings,
        "history": [asdict(point) for point in watcher.run.history],
    }
    return json.dumps(facts, indent=1)

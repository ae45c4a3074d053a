"""What was found: one entry for each trap and line, counted; consequences go to their causes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from torchlore.finding import Finding, Severity
from torchlore.watch.pictures import Alarm, Picture
from torchlore.watch.places import Place

Key = tuple[str, str, int]


@dataclass
class Ledger:
    """The findings of one watch."""

    findings: dict[Key, Finding] = field(default_factory=dict)
    reasons: dict[Key, tuple[str, ...]] = field(default_factory=dict)

    def take(self, slug: str, severity: Severity, alarm: Alarm, picture: Picture) -> Finding | None:
        """Make a finding of an alarm; None where it was told before (it is counted), is ignored or has a cause that was told."""
        place = alarm.at or picture.place or Place("", 0)
        key = (slug, place.path, place.line)
        old = self.findings.get(key)
        if old is not None:
            self.findings[key] = replace(old, count=old.count + 1)
            return None
        if place.ignores(slug):
            return None
        if not alarm.certain and severity is Severity.ERROR:
            severity = Severity.WARNING
        message = alarm.message if alarm.certain else f"suspected: {alarm.message}"
        path, step = shown_path(place.path), picture.run.steps
        new = Finding(slug, message, severity, path, place.line, step=step, evidence=alarm.evidence)
        self.findings[key], self.reasons[key] = new, alarm.because
        return None if self.explained(key) else new

    def explained(self, key: Key) -> bool:
        """Whether another finding is the cause of this one."""
        return bool({slug for slug, _, _ in self.findings} & set(self.reasons.get(key, ())))

    def results(self) -> list[Finding]:
        """The findings, the gravest first; a consequence is added to its cause's evidence."""
        kept = {key: one for key, one in self.findings.items() if not self.explained(key)}
        for key, one in self.findings.items():
            for cause in self.reasons.get(key, ()) if key not in kept else ():
                owner = next((other for other in kept if other[0] == cause), None)
                if owner is not None:
                    evidence = "; ".join(part for part in (kept[owner].evidence, f"hence {one.slug}") if part)
                    kept[owner] = replace(kept[owner], evidence=evidence)
        return sorted(kept.values(), key=lambda one: (one.severity.rank, one.step or 0, one.path, one.line))


def live(one: Finding) -> str:
    """How a finding is told while the program runs."""
    return f"watch: {one.severity} {one.slug} at {one.path or '?'}, line {one.line}: {one.message}"


def shown_path(path: str) -> str:
    """Relative to the working directory where it lies in it."""
    if not path or path.startswith("<"):
        return path
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative

"""The report: one HTML file with the timeline of a run and the findings on it. No script, nothing from outside."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from torchlore.watch.output import cost

if TYPE_CHECKING:
    from torchlore.finding import Finding
    from torchlore.watch.records import Point
    from torchlore.watch.runner import Outcome

WIDTH, HEIGHT, LEFT, BOTTOM = 900, 150, 90, 22
MEMORY, WAITING = "Memory in use (MB)", "Share of the time spent waiting for data"
FROM_ZERO = {MEMORY, WAITING}
COLOURS = ("var(--a)", "var(--b)", "var(--c)", "var(--d)")
Dots = list[tuple[int, float]]
STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #68707f; --line: #d9dde4; --page: #fff; --a: #2563a8; --b: #b4540a;
  --c: #2e7d4f; --d: #8e44ad;
  --error: #b3261e; --warning: #8a5a00; --hint: #47607d; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #98a1b0; --line: #333a46; --page: #14181f;
  --a: #7db4ee; --b: #f0a35e; --c: #7fd1a0; --d: #cf9be6; --error: #ff8a80; --warning: #e8b45a; --hint: #9db6d3; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 960px;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .2rem; } h2 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
p.facts { color: var(--soft); margin: 0; } li { margin: .5rem 0; }
ol { padding-left: 1.4rem; } code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.error { color: var(--error); } .warning { color: var(--warning); } .hint { color: var(--hint); }
.evidence { color: var(--soft); display: block; }
svg { width: 100%; height: auto; display: block; } svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
.grid { stroke: var(--line); } .curve { fill: none; stroke: currentColor; stroke-width: 1.5; }
.dot { fill: currentColor; } p.key { font-size: 13px; margin: 0; } p.key span { margin-right: 1rem; } .mark { stroke: currentColor; stroke-dasharray: 3 3; }
svg .mark-text { fill: currentColor; }
@media (max-width: 600px) { svg { overflow: visible; } svg text { font-size: 23px; } }
"""


def page(outcome: Outcome) -> str:
    """The whole file."""
    run = outcome.watcher.run
    charts = "\n".join(_charts(run.history, outcome.findings))
    items = "\n".join(_item(one) for one in outcome.findings)
    found = f"<ol>{items}</ol>" if items else "<p>Nothing was found.</p>"
    ended = "interrupted" if outcome.interrupted else f"exit status {outcome.status}"
    facts = f"{run.steps + run.child_steps} steps, {ended}; {cost(outcome)}"
    head = f"<title>lore watch</title><style>{STYLE}</style>"
    meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    body = f'<h1>lore watch</h1><p class="facts">{escape(facts)}</p><h2>Findings</h2>{found}{charts}'
    return f'<!doctype html><html lang="en"><head>{meta}{head}</head><body>{body}</body></html>\n'


def _item(one: Finding) -> str:
    times = f", {one.count} times" if one.count > 1 else ""
    where = f"<code>{escape(one.path)}:{one.line}</code>"
    step = f" (step {one.step}{times})" if one.step is not None else ""
    evidence = f'<span class="evidence">{escape(one.evidence)}{step}</span>'
    return f'<li><b class="{one.severity}">{one.severity} {escape(one.slug)}</b> {where}<br>{_coded(one.message)}{evidence}</li>'


def _coded(message: str) -> str:
    """The message, with code where it has backticks."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(message))


def _charts(history: Sequence[Point], findings: Sequence[Finding]) -> Iterator[str]:
    wanted: list[tuple[str, Callable[[Point], float | None], bool]] = [
        ("Loss", lambda point: point.loss, True),
        ("Learning rate", lambda point: point.rate, False),
        ("Gradient norm, sampled", lambda point: point.gradient, True),
        (MEMORY, lambda point: point.memory / 1e6 if point.memory else None, False),
        (WAITING, lambda point: point.wait, False),
    ]
    last = max((point.step for point in history), default=0)
    for title, pick, log in wanted:
        curves: dict[str, Dots] = {}  # one for each optimizer, but for what is the whole program's
        for point in history:
            value = pick(point)
            if value is not None and math.isfinite(value):
                curves.setdefault("" if title in FROM_ZERO else point.optimizer, []).append((point.step, value))
        if sum(map(len, curves.values())) > 1:
            drawn = _chart(list(curves.values()), findings, last, log, from_zero=title in FROM_ZERO)
            yield f"<h2>{escape(title)}</h2>{_key(curves)}{drawn}"


def _key(curves: dict[str, Dots]) -> str:
    """Which colour is which optimizer's, where there are several."""
    names = (
        f'<span style="color: {colour}">{escape(name)}</span>'
        for name, colour in zip(curves, COLOURS * len(curves), strict=False)
    )
    return f'<p class="key">{"".join(names)}</p>' if len(curves) > 1 else ""


def _chart(curves: list[Dots], findings: Sequence[Finding], last: int, log: bool, from_zero: bool) -> str:
    numbers = [value for dots in curves for _, value in dots] + [0.0] * from_zero
    log = log and min(numbers) > 0 and max(numbers) > 100 * min(numbers)
    scale: Callable[[float], float] = math.log10 if log else float
    low, high = scale(min(numbers)), scale(max(numbers))

    def x(step: float) -> float:
        return LEFT + (WIDTH - LEFT - 10) * step / max(last, 1)

    def y(value: float) -> float:
        return 10 + (HEIGHT - BOTTOM - 10) * (1 - (scale(value) - low) / (high - low) if high > low else 0.5)

    levels = [min(numbers), max(numbers)] if high > low else [numbers[0]]
    grid = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 10}" y1="{y(v):.1f}" y2="{y(v):.1f}"/>'
        f'<text x="{LEFT - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.3g}</text>'
        for v in levels
    )
    lines = "".join(_curve([(x(step), y(value)) for step, value in dots], colour)
                    for dots, colour in zip(curves, COLOURS * len(curves), strict=False))  # fmt: skip
    marks = "".join(
        _mark(n, one, x(one.step)) for n, one in enumerate(findings, 1) if one.step is not None and one.step <= last
    )
    ends = f'<text x="{LEFT}" y="{HEIGHT - 5}">step 0</text><text x="{WIDTH - 10}" y="{HEIGHT - 5}" text-anchor="end">step {last}</text>'
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{grid}{lines}{marks}{ends}</svg>'


def _curve(dots: list[tuple[float, float]], colour: str) -> str:
    """A line, with its dots where they are few."""
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
    single = "".join(f'<circle class="dot" r="2" cx="{x:.1f}" cy="{y:.1f}"/>' for x, y in dots if len(dots) <= 40)
    return f'<g style="color: {colour}"><polyline class="curve" points="{points}"/>{single}</g>'


def _mark(number: int, one: Finding, x: float) -> str:
    """A dashed line where a finding was first seen, with its number in the list; the page says which it is."""
    line = f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="10" y2="{HEIGHT - BOTTOM}"/>'
    label = f'<text class="mark-text" x="{x + 3:.1f}" y="{10 + 12 * (number % 8)}">{number}</text>'
    return f'<g class="{one.severity}"><title>{escape(one.slug)}</title>{line}{label}</g>'

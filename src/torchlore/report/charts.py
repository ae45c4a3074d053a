"""Charts as inline SVG, under 10 kB each, with the numbers on the axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from torchlore.report.page import text

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 420, 210, 52, 24, 8
COLOURS = ("--a", "--b", "--c", "--d", "--e")
MOST = 400  # points a line: more cannot be seen
Points = Sequence[tuple[float, float]]


def lines(title: str, series: Mapping[str, Points], unit: str = "step", *, log: bool = False) -> str:
    """One chart with a line a series; a point that is not finite leaves a gap."""
    kept = {name: _finite(points, log) for name, points in series.items()}
    everything = [point for points in kept.values() for point in points]
    if not everything:
        return ""
    (x0, x1), (y0, y1) = (_span([point[axis] for point in everything]) for axis in (0, 1))

    def place(point: tuple[float, float]) -> str:
        x = LEFT + (point[0] - x0) / (x1 - x0) * (WIDTH - LEFT - 8)
        y = HEIGHT - BOTTOM - (point[1] - y0) / (y1 - y0) * (HEIGHT - BOTTOM - TOP)
        return f"{x:.1f},{y:.1f}"

    drawn = "".join(
        f'<polyline style="stroke:var({colour})" points="{" ".join(place(p) for p in thinned(points))}"><title>{text(name)}</title></polyline>'
        for (name, points), colour in zip(kept.items(), COLOURS * len(kept), strict=False)
    )
    axes = "".join(_tick_y(value, y0, y1, log) for value in ticks(y0, y1)) + "".join(
        _tick_x(value, x0, x1) for value in ticks(x0, x1)
    )
    keys = " ".join(
        f'<span style="color:var({colour})">●</span> {text(name)}{f": {_last(series[name])}" if series[name] else ""}'
        for name, colour in zip(kept, COLOURS * len(kept), strict=False)
    )
    picture = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{text(title)}">{axes}{drawn}</svg>'
    return f"<figure>{picture}<figcaption><b>{text(title)}</b> by {text(unit)} · {keys}</figcaption></figure>"


def _finite(points: Points, log: bool) -> list[tuple[float, float]]:
    kept = [(float(x), float(y)) for x, y in points if math.isfinite(y) and (y > 0 or not log)]
    return [(x, math.log10(y)) for x, y in kept] if log else kept


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1))


def thinned(points: Points) -> Points:
    """At most MOST points, the lowest and highest of each stretch kept, so that a spike stays visible."""
    if len(points) <= MOST:
        return points
    width = -(-len(points) * 2 // MOST)
    kept: list[tuple[float, float]] = []
    for start in range(0, len(points), width):
        part = points[start : start + width]
        kept += sorted({min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])})
    return kept


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two values.

    >>> ticks(0, 10)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    rough = (high - low) / most
    base = 10 ** math.floor(math.log10(rough))
    step = next(factor * base for factor in (1, 2, 5, 10) if factor * base >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(index * step, 12) for index in range(first, math.floor(high / step + 1e-9) + 1)]


def _tick_y(value: float, low: float, high: float, log: bool) -> str:
    y = HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - BOTTOM - TOP)
    shown = 10**value if log else value
    return f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}"/><text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{shown:.4g}</text>'


def _tick_x(value: float, low: float, high: float) -> str:
    x = LEFT + (value - low) / (high - low) * (WIDTH - LEFT - 8)
    return f'<text x="{x:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{value:g}</text>'


def _last(points: Points) -> str:
    return f"{points[-1][1]:.4g}"

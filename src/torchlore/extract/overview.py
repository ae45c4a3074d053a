"""What a model is made of, as a table, as JSON, and as a chart of where its time goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch import nn

from torchlore.recipes.profile import Cost, Costs, Graph, Row, Summary, summary, trace_graph
from torchlore.report.page import page, section, table, text, tiles
from torchlore.train.run import Refused

WIDE, LINE = 1000, 22
FAMILIES = {"Conv": "--b", "BatchNorm": "--c", "Norm": "--c", "Linear": "--d", "Attention": "--d", "Pool": "--e"}


def look(model: nn.Module, inputs: torch.Tensor) -> tuple[Summary, Graph]:
    """The layers of a model and how they connect, or Refused if it cannot take this input."""
    try:
        return summary(model, inputs), trace_graph(model, inputs)
    except (RuntimeError, ValueError, TypeError, IndexError, AssertionError) as error:
        where = "x".join(map(str, inputs.shape))
        raise Refused(f"the model cannot run on an input of {where}: {' '.join(str(error).split())}") from None


def lines(found: Summary, fields: Mapping[str, int], depth: int = 0) -> str:
    """The table in text: a row a module, with the pixels it sees where that can be said; then totals and remarks."""
    cells: list[tuple[str, ...]] = [("layer", "type", "output", "parameters", "MACs", "output MiB", "sees")]
    cells += [_cells(row, fields) for row in found.rows if not depth or row.depth <= depth]
    wide = [max(len(line[column]) for line in cells) for column in range(7)]
    shown = [
        "  ".join(cell.rjust(wide[at]) if at > 2 else cell.ljust(wide[at]) for at, cell in enumerate(line)).rstrip()
        for line in cells
    ]
    shown.insert(1, "-" * max(map(len, shown)))
    return "\n".join([*shown, "", *totals(found), *found.remarks])


def _cells(row: Row, fields: Mapping[str, int]) -> tuple[str, ...]:
    name = "  " * row.depth + (row.name.rpartition(".")[2] or "(model)") + (f" x{row.calls}" if row.calls > 1 else "")
    shape = ("x".join(map(str, row.shape)) or "-") if row.calls else "did not run"
    size = f"{row.output_bytes / 2**20:.2f}"
    return name, row.kind, shape, f"{row.parameters:,}", f"{row.macs:,}", size, _sees(fields.get(row.name))


def _sees(field: int | None) -> str:
    return "" if field is None else str(field or "all")


def totals(found: Summary) -> list[str]:
    """The sums, a line each."""
    frozen = found.parameters - found.trainable
    mib = [size / 2**20 for size in (found.parameter_bytes, found.buffer_bytes, found.activation_bytes)]
    return [
        f"parameters   {found.parameters:,} ({frozen:,} frozen), {mib[0]:.1f} MiB; buffers {mib[1]:.1f} MiB",
        f"MACs         {found.macs:,} (matrix products, convolutions, attention)",
        f"activations  {mib[2]:.1f} MiB: the outputs of all layers in one forward pass",
    ]


def as_json(found: Summary, fields: Mapping[str, int], costs: Costs | None) -> dict[str, Any]:
    """Everything the table says, for machines; a field of 0 is the whole picture, null is unknown."""
    rows = [{**asdict(row), "field": fields.get(row.name)} for row in found.rows]
    whole = {**asdict(found), "rows": rows}
    return whole if costs is None else {**whole, "costs": asdict(costs)}


def html(title: str, found: Summary, fields: Mapping[str, int], costs: Costs | None) -> str:
    """The same as a page, with the flame chart where time was measured."""
    figures = {"parameters": f"{found.parameters:,}", "MACs": f"{found.macs:,}"}
    parts = []
    if costs is not None:
        figures |= {"forward": f"{costs.forward_ms:.2f} ms", "backward": f"{costs.backward_ms:.2f} ms"}
        parts.append(section(f"Forward time of each module on {costs.device}", flame(costs), _cost_table(costs)))
    head = ("layer", "type", "output", "parameters", "MACs", "output MiB", "sees")
    rows = [(row.name or "(model)", *_cells(row, fields)[1:]) for row in found.rows]
    remarks = "".join(f"<p>{text(one)}</p>" for one in found.remarks)
    return page(title, tiles(figures), *parts, section("Layers", table(head, rows), remarks))


def _cost_table(costs: Costs) -> str:
    rows = [
        (
            row.name or "(model)",
            row.kind,
            row.calls,
            *(f"{value:.3f}" for value in (row.forward_ms, row.own_ms, row.backward_ms, row.saved_bytes / 2**20)),
        )
        for row in costs.rows
    ]
    return table(("layer", "type", "calls", "forward ms", "own ms", "backward ms", "saved MiB"), rows)


def flame(costs: Costs) -> str:
    """Modules as bars below the module they stand in, as wide as their forward time.

    >>> rows = (Cost("", "Net", 1, 2.0, 0.0, 0.0, 0), Cost("a", "Conv2d", 1, 2.0, 2.0, 0.0, 0))
    >>> flame(Costs(rows, "cpu", 2.0, 0.0)).count("<rect")
    2
    """
    children: dict[str, list[Cost]] = {}
    known = {row.name for row in costs.rows}
    for row in costs.rows:
        if row.name:
            children.setdefault(_parent(row.name, known), []).append(row)
    bars: list[str] = []
    root = costs.rows[0]
    deepest = _place(root, 0.0, float(WIDE), 0, children, bars)
    high = (deepest + 1) * LINE
    return (
        f'<figure><svg viewBox="0 0 {WIDE} {high}" role="img" aria-label="flame chart">{"".join(bars)}</svg></figure>'
    )


def _parent(name: str, known: set[str]) -> str:
    """The nearest module around it that ran as a whole: a ModuleList does not."""
    while name:
        name = name.rpartition(".")[0]
        if name in known:
            return name
    return ""


def _place(row: Cost, x: float, wide: float, level: int, children: dict[str, list[Cost]], bars: list[str]) -> int:
    bars.append(_bar(row, x, wide, level * LINE))
    below = children.get(row.name, [])
    scale = wide / max(row.forward_ms, sum(one.forward_ms for one in below), 1e-9)
    deepest = level
    for one in below:
        part = one.forward_ms * scale
        if part >= 0.2:  # narrower cannot be seen
            deepest = max(deepest, _place(one, x, part, level + 1, children, bars))
        x += part
    return deepest


def _bar(row: Cost, x: float, wide: float, y: float) -> str:
    colour = next((value for key, value in FAMILIES.items() if key in row.kind), "--a")
    name = row.name.rpartition(".")[2] or row.kind
    label = f'<text x="{x + 3:.1f}" y="{y + 15}">{text(name)}</text>' if wide > 8 * len(name) else ""
    words = f"{row.name or '(model)'} {row.kind}: {row.forward_ms:.3f} ms forward, {row.own_ms:.3f} ms its own"
    return (
        f'<g><title>{text(words)}</title><rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{LINE - 2}" rx="2" '
        f'style="fill:var({colour});fill-opacity:.35;stroke:var({colour});stroke-width:.5"/>{label}</g>'
    )

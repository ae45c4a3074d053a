"""After the last step: test the best weights, write the figures as JSON and CSV, and the report."""

from __future__ import annotations

import csv
import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from torchlore.finding import Finding
from torchlore.report import charts, page
from torchlore.train.fit import evaluated
from torchlore.train.journal import read
from torchlore.train.run import changes
from torchlore.train.samples import Samples
from torchlore.train.setup import Ready
from torchlore.train.tested import Tested


def test(made: Ready, out: Path, samples: Samples) -> Tested | None:
    """Every figure of a split under the model's weights, written as test.json and test.csv by the first process."""
    found = evaluated(made, samples)
    if made.world.rank:
        return None
    tested = made.task.tested(made, samples, found)
    (out / "test.json").write_text(json.dumps(tested.figures, indent=1), encoding="utf-8")
    with (out / "test.csv").open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(tested.rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(tested.rows)
    return tested


def write_report(made: Ready, folder: Path, tested: Tested | None, found: list[Finding] | None, out: Path) -> Path:
    """report.html in `out`: everything about the run of a folder on one page; None for what was not looked at."""
    epochs = [record for record in read(folder / "log.jsonl") if record["kind"] == "epoch"]
    calm = '<p class="dim">Nothing: no silent trap was seen.</p>'
    tiles = tested.tiles if tested else {"test samples": "0"}
    parts = (
        page.tiles({**tiles, "epochs": len(epochs)}),
        page.section("What the watch found", page.findings(found) or calm) if found is not None else "",
        page.section("Curves", f'<div class="charts">{curves(epochs)}</div>'),
        tested.sections if tested else "",
        page.section("Left out", page.table(("file", "why"), made.data.skipped) if made.data.skipped else ""),
        page.section(
            "The same files twice",
            page.table(("what",), [(one,) for one in made.data.doubts]) if made.data.doubts else "",
        ),
        page.section("Run", page.table(("option", "value"), asdict(made.run).items(), sortable=False)),
        page.section("Environment", page.table(("what", "version"), environment(made).items(), sortable=False)),
    )
    changed = ", ".join(f"--{name.replace('_', '-')} {value}" for name, value in changes(made.run).items())
    line = f'<p class="dim">{page.text(changed or "every option at its default")}</p>'
    path = out / "report.html"
    whole = page.page(f"{made.run.model} on {made.data.name}", line, *parts)
    path.write_text(whole, encoding="utf-8", errors="surrogateescape")  # names of files need not be UTF-8
    return path


def curves(epochs: list[dict[str, Any]]) -> str:
    """Loss, what the task scores in validation, learning rate, throughput and memory by epoch."""

    def of(name: str) -> list[tuple[float, float]]:
        return [(record["epoch"], float(record[name])) for record in epochs if name in record]

    scored = dict.fromkeys(name for record in epochs for name in record if name.startswith("val_"))
    scored.pop("val_loss", None)
    drawn = (
        charts.lines(
            "loss", {"train": of("loss")} | ({"validation": held} if (held := of("val_loss")) else {}), "epoch"
        ),
        *(charts.lines(name[4:].replace("_", " "), {"validation": of(name)}, "epoch") for name in scored),
        charts.lines("learning rate", {"rate": of("lr")}, "epoch"),
        charts.lines("samples a second", {"training": of("rate")}, "epoch"),
        charts.lines("memory in MiB", {"peak": of("memory")}, "epoch"),
    )
    return "".join(drawn)


def environment(made: Ready) -> dict[str, str]:
    """What the run ran on."""
    gpu = torch.cuda.get_device_name(made.device) if made.device.type == "cuda" else "none"
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "device": str(made.device),
        "GPU": gpu,
        "system": platform.platform(),
        "processes": str(made.world.size),
    }

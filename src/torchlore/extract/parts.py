"""An extraction in parts: each is a file that is whole or not there, so that a killed run goes on where it was."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from torchlore.extract.formats import Table, read
from torchlore.extract.layers import layer_features, stored
from torchlore.extract.pictures import Pictures, load
from torchlore.train.group import World
from torchlore.train.run import Refused

PART_BYTES = 64 * 2**20
LEAST_PARTS = 16  # so that a small set too can be shared and resumed
ROWS = "rows of the part"
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Job:
    """Everything an extraction is made of."""

    target: Path
    model: nn.Module
    prepare: Callable[[Tensor], Tensor]
    pictures: Pictures
    about: dict[str, Any]  # what the features depend on; written into the file
    shapes: dict[str, tuple[int, ...]]
    batch: int
    dtype: torch.dtype = torch.float32
    force: bool = field(default=False)

    @property
    def folder(self) -> Path:
        """Where the parts lie until they are put together."""
        return self.target.with_name(f"{self.target.name}.parts")

    @property
    def part_rows(self) -> int:
        """Pictures a part: whole batches, about 64 MiB of features, not fewer parts than can be shared."""
        each = sum(int(np.prod(shape)) for shape in self.shapes.values()) * self.dtype.itemsize
        wanted = min(PART_BYTES // max(each, 1), -(-len(self.pictures.names) // LEAST_PARTS))
        return max(1, wanted // self.batch) * self.batch

    def parts(self) -> list[range]:
        """The rows of each part."""
        count, step = len(self.pictures.names), self.part_rows
        return [range(start, min(start + step, count)) for start in range(0, count, step)]

    def file(self, number: int) -> Path:
        """The file of a part."""
        return self.folder / f"{number:06}.safetensors"


def begin(job: Job) -> str:
    """Make the folder of parts, or find that of the same extraction; "done" if the target is complete already."""
    if job.force:
        shutil.rmtree(job.folder, ignore_errors=True)
    elif job.target.exists():
        change = difference(_about(job.target), job.about)
        if not change:
            return "done"
        raise Refused(f"{job.target} exists already, from another extraction ({change}): choose another -o, or --force")
    plan = job.folder / "plan.json"
    wanted = {**job.about, "part_rows": job.part_rows}
    if plan.is_file():
        change = difference(json.loads(plan.read_text(encoding="utf-8")), wanted)
        if change:
            raise Refused(f"{job.folder} holds parts of another extraction ({change}): delete it, or give --force")
        return "resumed" if any(job.file(number).exists() for number in range(len(job.parts()))) else "new"
    job.folder.mkdir(exist_ok=True)
    _atomic(plan, json.dumps(wanted).encode())
    return "new"


def _about(path: Path) -> dict[str, Any]:
    """How the features of a file were made; nothing for a file of somebody else."""
    try:
        return read(path, "").about
    except Refused:
        return {}


def difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """The first thing that two extractions do not share, in words; empty if they are the same."""
    words = {"pictures": "the pictures have changed", "digest": "the weights have changed"}
    for name, value in json.loads(json.dumps(new)).items():
        if old.get(name) != value:
            return words.get(name, f"{name}: {old.get(name, 'unknown')} there, {value} here")
    return ""


def _atomic(path: Path, content: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def compute(job: Job, here: World, progress: Progress | None = None) -> None:
    """Compute this process's parts that are not there yet."""
    mine = [(number, rows) for number, rows in enumerate(job.parts()) if number % here.size == here.rank]
    missing = [(number, rows) for number, rows in mine if not job.file(number).exists()]
    total = sum(len(rows) for _, rows in missing)
    batches = [(number, rows[at : at + job.batch]) for number, rows in missing for at in range(0, len(rows), job.batch)]
    last = {number: index for index, (number, _) in enumerate(batches)}
    kept: list[dict[str, Tensor]] = []
    broken: dict[str, str] = {}
    done = 0
    for index, loaded in enumerate(load(job.pictures, (rows for _, rows in batches), job.about["size"])):
        broken |= loaded.broken
        if loaded.rows:
            found = layer_features(job.model, list(job.shapes), job.prepare(loaded.pictures), pool=job.about["pool"])
            kept.append({**stored(found, job.dtype), ROWS: torch.tensor(loaded.rows)})
        done += len(batches[index][1])
        number = batches[index][0]
        if last[number] == index:
            _save(job, number, kept, broken)
            kept, broken = [], {}
        if progress is not None:
            progress(done, total)


def _save(job: Job, number: int, kept: list[dict[str, Tensor]], broken: dict[str, str]) -> None:
    from safetensors.torch import save

    whole = {name: torch.cat([one[name] for one in kept]) for name in kept[0]} if kept else {}
    empty = {ROWS: torch.empty(0, dtype=torch.int64)}
    empty |= {name: torch.empty(0, *shape, dtype=job.dtype) for name, shape in job.shapes.items()}
    _atomic(job.file(number), save(whole or empty, {"broken": json.dumps(broken)}))


def merged(job: Job) -> tuple[Table, dict[str, str]]:
    """All parts as one table, and the pictures that could not be read."""
    from safetensors import safe_open

    rows: list[int] = []
    broken: dict[str, str] = {}
    files = [job.file(number) for number in range(len(job.parts()))]
    for path in files:
        with safe_open(path, framework="pt") as part:
            rows += part.get_tensor(ROWS).tolist()
            broken |= json.loads(part.metadata()["broken"])

    def blocks(layer: str) -> Iterator[np.ndarray[Any, Any]]:
        for path in files:
            with safe_open(path, framework="np") as part:
                yield part.get_tensor(layer)

    names, labels = [job.pictures.names[row] for row in rows], [job.pictures.labels[row] for row in rows]
    dtype = str(job.dtype).removeprefix("torch.")
    return Table(names, labels, job.shapes, dtype, blocks, {**job.about, "broken": broken}), broken

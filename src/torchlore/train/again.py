"""Open a run that was trained: its model with its best weights, and the data to use it on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from torchlore.recipes.checkpoint import BrokenCheckpointError, load
from torchlore.recipes.data import PackedStrings
from torchlore.recipes.device import unwrap
from torchlore.train.discover import EMBEDDED, TROUBLE, Listed, list_data, open_data
from torchlore.train.files import Files
from torchlore.train.flags import read
from torchlore.train.run import Refused, Run
from torchlore.train.samples import Data
from torchlore.train.setup import Ready, ready


def kept(folder: Path) -> tuple[Run, dict[str, Any]]:
    """The run of a folder and its best checkpoint, the last one where nothing was validated."""
    if not (folder / "config.yaml").is_file():
        raise Refused(f"{folder} is no run: it has no config.yaml")
    run = read(folder / "config.yaml")
    found = [path for name in ("best.pt", "last.pt") if (path := folder / "checkpoints" / name).is_file()]
    if not found:
        raise Refused(f"{folder} has no checkpoint: `lore resume {folder}` trains it")
    try:
        state = load(found[0])
    except BrokenCheckpointError as error:
        raise Refused(str(error)) from None
    if missing := [name for name in ("model", "classes", "channels", "size") if name not in state]:
        raise Refused(f"{found[0]} was not written by `lore train`: it has no {missing[0]!r}")
    return run, state


def opened(folder: Path, data: str = "") -> Ready:
    """The run's model with its best weights, over the run's own data or, as its test split, over this."""
    run, state = kept(folder)
    classes = tuple(state["classes"])
    found = other(data, run, state) if data else open_data(run, state["size"])
    if found.classes != classes:
        raise Refused(
            f"--data {run.data} has changed: its classes are {_few(found.classes)}, the run's {_few(classes)}"
        )
    made = ready(run, found, load=False)
    put(made, state)
    return made


def put(made: Ready, state: dict[str, Any]) -> None:
    """Put the weights of a checkpoint into the model, and its average where there is one."""
    unwrap(made.parts.model).load_state_dict(state["model"])
    if made.parts.ema is not None:
        made.parts.ema.load_state_dict(state["ema"])


def other(data: str, run: Run, state: dict[str, Any]) -> Data:
    """Data that the run has not seen, under the run's classes: its test or validation split, or all of it."""
    classes = tuple(state["classes"])
    if data in EMBEDDED:
        embedded = EMBEDDED[data](run.val, run.seed)
        _refuse_strange(data, embedded.classes, classes)
        return replace(embedded, classes=classes)
    try:
        listed = list_data(Path(data))
    except TROUBLE as error:
        raise Refused(f"{data}: {error}") from None
    _refuse_strange(data, listed.classes, classes)
    samples = _samples(listed, classes, state["size"])
    if not len(samples.labels):
        raise Refused(f"{data} holds no picture that can be read")
    return Data(Path(data).name, classes, samples, samples, samples, 3, state["size"], listed.skipped)


def _samples(listed: Listed, classes: tuple[str, ...], size: int) -> Files:
    split = next((name for name in ("test", "val") if name in listed.splits), "")
    labels = torch.tensor([classes.index(listed.classes[label]) for label in listed.labels], dtype=torch.long)
    files = Files(PackedStrings(listed.names), labels, size, "none", listed.open)
    return files.part(torch.tensor([i for i, word in enumerate(listed.splits) if not split or word == split]))


def _refuse_strange(data: str, found: Sequence[str], classes: tuple[str, ...]) -> None:
    if strange := [name for name in found if name not in classes]:
        raise Refused(f"{data} has the class {strange[0]!r}, which the run does not know; it knows {_few(classes)}")


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")

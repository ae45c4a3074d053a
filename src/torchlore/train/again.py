"""Open a run that was trained: its model with its best weights, and the data to use it on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torchlore.recipes.checkpoint import BrokenCheckpointError, load
from torchlore.recipes.device import unwrap
from torchlore.train.discover import few
from torchlore.train.flags import read
from torchlore.train.models import refuse_other
from torchlore.train.run import Refused, Run
from torchlore.train.setup import Ready, ready
from torchlore.train.tasks import task_of


def kept(folder: Path) -> tuple[Run, dict[str, Any]]:
    """The run of a folder and its best checkpoint, the last one where nothing was validated."""
    if not (folder / "config.yaml").is_file():
        why = "it has no config.yaml" if folder.is_dir() else "there is no such folder"
        raise Refused(f"{folder} is no run: {why}")
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
    task, classes = task_of(run), tuple(state["classes"])
    found = task.other_data(data, run, state) if data else task.open_data(run, state["size"])
    if found.classes != classes:
        raise Refused(f"--data {run.data} has changed: its classes are {few(found.classes)}, the run's {few(classes)}")
    made = ready(run, found, load=False)
    refuse_other(folder / "checkpoints", state["model"], unwrap(made.parts.model))
    put(made, state)
    return made


def put(made: Ready, state: dict[str, Any]) -> None:
    """Put the weights of a checkpoint into the model, and its average where there is one."""
    model, weights = unwrap(made.parts.model), state["model"]
    if made.parts.sharded:
        from torchlore.train.shard import parted_weights

        weights = parted_weights(weights, model)
    model.load_state_dict(weights)
    if made.parts.ema is not None:
        made.parts.ema.load_state_dict(state["ema"])

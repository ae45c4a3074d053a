"""What a task adds to the shared loop: a plain module with the functions below, and its line in one table.

The loop, the state, the schedules, the processes and the page of the report belong to all tasks. A task is handed data
and hands data back. Its defaults, its losses and the options it has no use for stand in `run.TASKS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor, nn

from torchlore.train import classify, embed, segment, video
from torchlore.train.batches import Batch, Planned
from torchlore.train.group import World
from torchlore.train.models import Built
from torchlore.train.run import Run
from torchlore.train.samples import Data, Samples
from torchlore.train.tested import Tested

if TYPE_CHECKING:
    from torchlore.train.setup import Ready


class Task(Protocol):
    """The functions of a task's module. mypy holds each module in TASKS to it."""

    def open_data(self, run: Run, size: int = 0) -> Data:
        """The data a run names, embedded or from outside, with its splits; Refused with the file at fault.

        `size` is that of the run when it is opened again.
        """
        ...

    def other_data(self, data: str, run: Run, state: dict[str, Any]) -> Data:
        """Other data for `lore test RUN DATA`, as the test split, under the classes in the checkpoint's `state`."""
        ...

    def build_model(self, run: Run, data: Data, *, load: bool = True) -> Built:
        """The model; in evaluation it takes what `prepare` gives and answers with one tensor, so that it exports."""
        ...

    def plan(self, run: Run, data: Data, place: World) -> Planned:
        """The order of the training samples: a function of seed, epoch and batch number, so that resuming is exact."""
        ...

    def loss(
        self, run: Run, prepare: Callable[[Tensor], Tensor], device: torch.device
    ) -> Callable[[nn.Module, Batch], Tensor]:
        """The function that gives the mean loss of a batch; random numbers in it come from epoch, number and indices."""
        ...

    def evaluate(self, made: Ready, model: nn.Module, samples: Samples) -> Any:
        """What is found of a split, the same on all processes; `model` holds the weights to use."""
        ...

    def scores(self, found: Any) -> dict[str, float]:
        """Figures for the log and the curves, as `val_<name>`."""
        ...

    def figure(self, scores: dict[str, float]) -> float:
        """What best.pt is best in: larger is better."""
        ...

    def tested(self, made: Ready, samples: Samples, found: Any) -> Tested:
        """Everything that is written after a test: figures, table, report sections."""
        ...


TASKS: dict[str, Task] = {"classify": classify, "embed": embed, "segment": segment, "video": video}


def task_of(run: Run) -> Task:
    """The task of a run."""
    return TASKS[run.task]

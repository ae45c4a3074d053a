"""One run from its first step, or from where it stopped, to its last: the body around the loop."""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from torchlore.recipes.checkpoint import BrokenCheckpointError, Checkpoints, Found, collect, restore
from torchlore.recipes.data import BrokenImageError
from torchlore.recipes.device import unwrap
from torchlore.recipes.seed import rng_state
from torchlore.train.batches import batches
from torchlore.train.discover import few
from torchlore.train.graph import disarmed
from torchlore.train.group import anyone, everyone, mean, same_buffers
from torchlore.train.journal import Journal
from torchlore.train.loggers import opened
from torchlore.train.loop import Stepped, steps
from torchlore.train.models import refuse_other
from torchlore.train.run import Refused, Trouble
from torchlore.train.samples import Samples
from torchlore.train.setup import Ready
from torchlore.train.signals import Stop, stopping

LOOK = 50  # steps between two looks at the losses where a look waits for the device
AGREE = 10  # steps between two times that several processes ask each other whether to stop
STOPPED = 75  # exit status of a run that was asked to stop and saved itself: EX_TEMPFAIL, "try again"


@dataclass
class Progress:
    """Where a run stands; saved with every checkpoint."""

    step: int = 0  # steps done
    loss: Tensor | None = None  # summed over the samples since the last record, on the device
    seen: int = 0
    since: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    folder: Path
    step: int
    stopped: str  # the signal that stopped it; "" if it is finished
    best: float | None


Show = Callable[[Ready, Stepped, float], None]  # called at most twice a second


def fit(made: Ready, folder: Path, show: Show | None = None, settle: Callable[[], object] | None = None) -> Outcome:
    """Train to the end, or until a signal asks to stop; either way everything is saved.

    `settle` is called where the step becomes a CUDA graph, into which nobody can look.
    """
    kept = Checkpoints(folder / "checkpoints", mode="max", keep=made.run.keep)
    progress = resume(made, kept)
    leads = made.world.rank == 0
    with stopping() as stop, opened(made.run.log if leads else "", folder, progress.step) as loggers:
        journal = Journal(folder / "log.jsonl", progress.step, writes=leads, loggers=loggers)
        try:
            _train(made, kept, journal, progress, stop, show, settle)
        except (RuntimeError, ConnectionError, EOFError, BrokenImageError) as error:
            if (named := _dead_worker(error)) is None:
                raise
            raise named from None
        finally:
            torch.set_grad_enabled(True)
    everyone(made.world, progress.step)  # nobody reads best.pt before the first process has written it
    return Outcome(folder, progress.step, stop.name if progress.step < made.total_steps else "", kept.best)


def _dead_worker(error: Exception) -> Trouble | None:
    """What a worker died of, in one line; None if the error is another one."""
    if isinstance(error, BrokenImageError):
        return Trouble(f"a file changed while training: {_last_line(error)}")
    if isinstance(error, (ConnectionError, EOFError)):  # its pipe broke before the loader's own handler named it
        try:
            time.sleep(2)
        except RuntimeError as later:
            error = later
    elif "DataLoader worker" not in str(error):
        return None
    why = "out of memory and a full /dev/shm are the usual reasons: lower --workers or --batch-size"
    return Trouble(f"{_last_line(error)}; {why}")


def _last_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1].strip().rstrip(".")


def resume(made: Ready, kept: Checkpoints) -> Progress:
    """Go on from the newest whole checkpoint; from the start if there is none."""
    try:
        found = kept.newest(made.device)
    except BrokenCheckpointError as error:
        raise Refused(str(error)) from None
    if found is None:
        return Progress(since=time.perf_counter())
    if made.world.rank == 0:
        for reason in found.skipped:
            print(f"skipped a broken checkpoint: {reason}")
        print(f"going on after step {found.state['step']}", flush=True)
    _refuse_changed(made, found)
    state = found.state | {"rng": found.state["rngs"][made.world.rank % len(found.state["rngs"])]}
    if made.parts.sharded:
        from torchlore.train.shard import parted

        state = parted(state, made.parts.model, made.parts.optimizer)
    restore(state, **_stateful(made))
    progress = Progress(found.state["step"], seen=found.state["seen"], since=time.perf_counter())
    progress.loss = found.state["loss"].to(made.device) if found.state["seen"] else None
    return progress


def _refuse_changed(made: Ready, found: Found) -> None:
    """Refuse to go on with another model or other data than the checkpoint's: it would not be the same run."""
    refuse_other(found.path, found.state["model"], unwrap(made.parts.model))
    now = _about(made)
    for name, before in ((name, found.state[name]) for name in now if name in found.state):
        if before != now[name]:
            raise Refused(
                f"--data {made.run.data} has changed since {found.path.name}: {name} was {_brief(before)} and is {_brief(now[name])}"
            )


def _brief(value: Any) -> str:
    return few(tuple(value)) if isinstance(value, list) else str(value)


def _stateful(made: Ready) -> dict[str, Any]:
    parts: dict[str, Any] = {"model": made.parts.model, "optimizer": made.parts.optimizer}
    optional = {"ema": made.parts.ema, "scaler": made.parts.scaler, "plateau": made.plateau}
    return parts | {name: part for name, part in optional.items() if part is not None}


def _about(made: Ready) -> dict[str, Any]:
    """What is needed to use the weights when the data is gone."""
    data = made.data
    about = {"classes": list(data.classes), "channels": data.channels, "size": data.size}
    return about | {"samples": len(data.train.labels)}


def _train(
    made: Ready,
    kept: Checkpoints,
    journal: Journal,
    progress: Progress,
    stop: Stop,
    show: Show | None,
    settle: Callable[[], object] | None,
) -> None:
    every = made.run.save_every or made.epoch_steps
    stream = batches(made.data.train, made.plan, progress.step, made.total_steps, made.workers)
    shown, looked, on_cpu = 0.0, list[Tensor](), made.device.type == "cpu"
    for stepped in steps(made.parts, stream, made.device, progress.step, settle):
        progress.step = stepped.step + 1
        looked.append(stepped.loss)
        if on_cpu or len(looked) == LOOK:
            look(looked, progress.step, scaled=made.parts.scaler is not None)
        loss = stepped.loss * stepped.samples
        progress.loss = loss if progress.loss is None else progress.loss + loss
        progress.seen += stepped.samples
        if show is not None and (now := time.monotonic()) - shown > 0.5:
            shown = now
            show(made, stepped, progress.since)
        ends = progress.step % made.epoch_steps == 0
        score = end_epoch(made, journal, progress, stepped) if ends else None
        halts = asked(made, progress.step, stop)
        if ends or progress.step % every == 0 or halts:
            look(looked, progress.step, scaled=made.parts.scaler is not None)
            save(made, kept, progress, score)
        if halts:
            return


def look(losses: list[Tensor], step: int, *, scaled: bool) -> None:
    """Refuse to go on from a loss that is no number, before it can be saved; a gradient scaler skips such steps."""
    if not scaled and not all(
        map(math.isfinite, torch.stack(losses).tolist() if len(losses) > 1 else map(float, losses))
    ):
        bad = next(at for at, loss in enumerate(losses) if not math.isfinite(float(loss)))
        raise Trouble(
            f"the loss of step {step - len(losses) + bad + 1} is {float(losses[bad])}: begin a run with a lower --lr, with --clip 1 or with --warmup; this one would end here again"
        )
    losses.clear()


def asked(made: Ready, step: int, stop: Stop) -> bool:
    """Whether to stop now: with several processes all stop at the same step, a tenth of the steps later at most."""
    if made.world.size == 1:
        return bool(stop)
    if step % AGREE and step % made.epoch_steps:
        return False
    halts = anyone(made.world, bool(stop))
    if halts and not stop:
        stop.name = "a signal to another process"
    return halts


def end_epoch(made: Ready, journal: Journal, progress: Progress, stepped: Stepped) -> float | None:
    """Record the epoch, evaluate, and tell the schedule that listens."""
    assert progress.loss is not None
    elapsed = time.perf_counter() - progress.since
    figures = {
        "loss": float(mean(made.world, progress.loss)) / progress.seen,
        "lr": stepped.rate,
        "rate": progress.seen / max(elapsed, 1e-9),
        "memory": peak_memory(made.device),
    }
    score = None
    if len(made.data.val.labels):
        validation = made.task.scores(evaluated(made, made.data.val))
        score = made.task.figure(validation)
        figures |= {f"val_{name}": value for name, value in validation.items()}
        if made.plateau is not None:
            made.plateau.update(score)
    journal.write("epoch", progress.step, epoch=stepped.epoch + 1, **figures)
    progress.loss, progress.seen, progress.since = None, 0, time.perf_counter()
    return score


def peak_memory(device: torch.device) -> float:
    """The most memory so far in MiB: the device's, or on the CPU the process's."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def evaluated(made: Ready, samples: Samples) -> Any:
    """What the task finds of a split under the weights, or their average where there is one; the same on all processes."""
    model = unwrap(made.parts.model)
    with ExitStack() as stack:
        if made.parts.sharded:
            from torchlore.train.shard import gathered_model

            stack.enter_context(gathered_model(model))
        if made.parts.ema is not None:
            stack.enter_context(made.parts.ema.applied(model))
        same_buffers(made.world, model)
        return made.task.evaluate(made, model, samples)


def save(made: Ready, kept: Checkpoints, progress: Progress, score: float | None) -> None:
    """Write one checkpoint: everything the rest of the run depends on."""
    loss = mean(made.world, progress.loss if progress.loss is not None else torch.zeros(())).cpu()
    rngs = everyone(made.world, rng_state())
    parts = _stateful(made)
    if made.parts.sharded:
        from torchlore.train.shard import gathered

        parts = {name: gathered(part.state_dict()) for name, part in parts.items()}
    if made.world.rank:
        return
    parts = parts | {
        "optimizer": disarmed(parts["optimizer"] if made.parts.sharded else parts["optimizer"].state_dict())
    }
    state = collect(**parts, step=progress.step, loss=loss, seen=progress.seen, rngs=rngs, **_about(made))
    kept.save(state, progress.step, score)

"""What `lore train` and `lore resume` share: watch, train with a status line, test, report."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from torchlore.cli import Failure
from torchlore.finding import Finding

LEFT_OUT = 65  # EX_DATAERR: the run is whole, the data was not

if TYPE_CHECKING:
    from torchlore.train.loop import Stepped
    from torchlore.train.run import Run
    from torchlore.train.samples import Data
    from torchlore.train.setup import Ready


def go(run: Run, place: Callable[[], Path], *, load: bool = True) -> int:
    """Check everything, then make or find the run's folder, train, test, report.

    `load=False` leaves the run's --weights out, which the checkpoint of a run that goes on has in it.
    Status 75 if a signal stopped it, with the command that goes on; 65 if all went well but files had to be left out.
    """
    from torchlore.train.flags import write
    from torchlore.train.group import joined, leave, led, world
    from torchlore.train.loggers import reachable
    from torchlore.train.run import Refused
    from torchlore.train.setup import ready, tried
    from torchlore.train.tasks import task_of

    def begin() -> Path:
        folder = place()
        try:
            write(run, folder / "config.yaml")
        except OSError as error:
            raise Refused(f"{folder} cannot be written to ({error.strerror})") from None
        return folder

    with joined(world()) as here:
        try:
            led(here, lambda: reachable(run.log))
            made = tried(ready(run, task_of(run).open_data(run), load=load))
            folder = led(here, begin)
        except Refused:
            if here.rank == 0:
                raise
            return 2  # every process is refused for the same reason; one says it
        if here.rank == 0:
            say(plan(made, folder))
        ended = _guarded(made, folder, leads=here.rank == 0)
    return leave(here, ended)


def _guarded(made: Ready, folder: Path, *, leads: bool) -> int:
    """Train; a full disk, a dead worker or a loss that is no number ends in one line and status 1."""
    from torchlore.train.run import Trouble

    try:
        return _train(made, folder, leads=leads)
    except Trouble as trouble:
        raise Failure(f"{trouble}\n  {_go_on(folder)}", 1) from None
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        raise Failure(f"{named}{error.strerror or error}\n  {_go_on(folder)}", 1) from None


def _go_on(folder: Path) -> str:
    saved = sorted((folder / "checkpoints").glob("step-*.pt"))
    if not saved:
        return "nothing was saved yet"
    return f"{saved[-1]} is whole: `lore resume {folder}` goes on from there"


def _train(made: Ready, folder: Path, *, leads: bool) -> int:
    from torchlore.train.again import kept, put
    from torchlore.train.finish import test, write_report
    from torchlore.train.fit import STOPPED, fit

    begun, shows = time.perf_counter(), leads and sys.stderr.isatty()
    with ExitStack() as stack:
        found = stack.enter_context(watched(made.run))
        outcome = fit(made, folder, status if shows else None, stack.close)
    if shows:
        print("\r\x1b[2K", end="", file=sys.stderr)
    if outcome.stopped:
        where = f"after step {outcome.step} of {made.total_steps}"
        if leads:
            say(f"stopped by {outcome.stopped} {where}; everything is saved\n  lore resume {folder}")
        return STOPPED
    put(made, kept(folder)[1])
    tested = test(made, folder, made.data.test) if len(made.data.test.labels) else None
    if leads:
        report = write_report(made, folder, tested, found if made.run.watch else None, folder)
        for one in found:
            say(f"{one.where}: {one.severity}: {one.message} [{one.slug}]")
        took = time.perf_counter() - begun
        told = tested.headline if tested else "no data to test on"
        say(f"{told}, {took:.1f} s\n  {report}")
    return ended(made)


def ended(made: Ready) -> int:
    """The status of a run that came to its end; torchrun would take any but 0 for a crash and begin again."""
    if not made.data.skipped or made.world.size > 1:
        return 0
    count = len(made.data.skipped)
    were = "was" if count == 1 else "were"
    say(f"exit status {LEFT_OUT}: {_many(count, 'file')} of {made.data.name} {were} left out, as named above")
    return LEFT_OUT


def say(text: str) -> None:
    """Print at once, also into a pipe."""
    print(text, flush=True)


def plan(made: Ready, folder: Path) -> str:
    """What is about to happen, in a few lines."""
    from torchlore.train.run import defaults
    from torchlore.train.setup import warm_up

    data = made.data
    counts = ", ".join(
        f"{len(part.labels)} {name}" for name, part in (("train", data.train), ("val", data.val), ("test", data.test))
    )
    parameters = sum(p.numel() for p in made.built.model.parameters() if p.requires_grad)
    first = f"{data.name}: {len(data.classes)} classes, {counts}" + (
        f", {len(data.skipped)} left out, named in the report" if data.skipped else ""
    )
    lines = [first, *left_out(data), *(f"  the same files twice: {one}" for one in data.doubts)]
    lines += [f"{made.run.model}: {parameters:,} trainable parameters on {made.device}"]
    if made.built.loaded:
        lines += _shortened(f"{made.run.weights}: {made.built.loaded}".splitlines())
    lines += [f"{_many(made.total_steps, 'step')} in {_many(made.run.epochs, 'epoch')}, into {folder}"]
    asked, rises = made.run.warmup, warm_up(made.run, made.epoch_steps)
    if rises < round(asked * made.epoch_steps) and asked != defaults(made.run.task).warmup:
        lines += [
            f"--warmup {asked:g} is more than a fifth of the run: the learning rate rises over {_many(rises, 'step')}"
        ]
    return "\n".join(lines)


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def left_out(data: Data) -> list[str]:
    """The files that give no sample, and why."""
    return _shortened([f"  {name}: {why}" for name, why in data.skipped])


def _shortened(lines: list[str], most: int = 12) -> list[str]:
    return lines[:most] + ([f"  and {len(lines) - most} more"] if len(lines) > most else [])


def status(made: Ready, stepped: Stepped, since: float) -> None:
    """One line that is written over twice a second: rate, loss, learning rate, memory, time left."""
    import torch

    done = stepped.step + 1
    inside = stepped.step % made.epoch_steps + 1
    speed = inside / max(time.perf_counter() - since, 1e-9)
    left = (made.total_steps - done) / max(speed, 1e-9)
    memory = f"  {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB" if made.device.type == "cuda" else ""
    line = f"epoch {stepped.epoch + 1}/{made.run.epochs}  step {done}/{made.total_steps}  loss {float(stepped.loss):.4f}  lr {stepped.rate:.2e}  {speed * made.run.batch_size:.0f} samples/s{memory}  {left:.0f} s left"
    print(f"\r\x1b[2K{line}", end="", file=sys.stderr, flush=True)


def watched(run: Run) -> AbstractContextManager[list[Finding]]:
    """The watch over our own loop, where it is wanted."""
    if not run.watch:
        return nullcontext([])
    from torchlore.catalogue import notes
    from torchlore.watch import Sentinel, watching

    return watching([Sentinel(note.slug, watch, note.severity) for note in notes() if (watch := note.part("watch"))])

"""One watch of one program: pictures go to the sentinels, what they say becomes findings."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import traceback
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, TextIO, Union, get_args, get_origin

from torchlore.finding import Finding, Severity
from torchlore.watch.ledger import Ledger, live
from torchlore.watch.pace import Pace
from torchlore.watch.pictures import Alarm, Event, Keeper, Phase, Picture
from torchlore.watch.places import Map, Place
from torchlore.watch.records import Run

PICTURES = ("Step", "Batch", "Phase", "Call")


@dataclass(frozen=True)
class Sentinel:
    """A note's `watch`, with what is to be said about its findings."""

    slug: str
    watch: Callable[[Any], Alarm | Iterable[Alarm] | None]
    severity: Severity = Severity.WARNING

    def wants(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The pictures it is annotated with, and the names of calls: `Annotated[Call, "cross_entropy"] | Step`."""
        parameters = list(inspect.signature(self.watch).parameters.values())
        hint = parameters[0].annotation if len(parameters) == 1 else ""
        found, names = list[str](), list[str]()
        for one in get_args(hint) if get_origin(hint) in (UnionType, Union) else [hint]:
            picture, *called = get_args(one) if get_origin(one) is Annotated else [one]
            parts = list(ast.walk(ast.parse(one, mode="eval"))) if isinstance(one, str) else []
            found += [n for p in parts for n in (getattr(p, "attr", None), getattr(p, "id", None)) if n in PICTURES]
            found += [picture.__name__] if isinstance(picture, type) else []
            names += [*called, *(p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str))]
        if not found or not set(found) <= set(PICTURES):
            raise TypeError(
                f"{self.slug}: watch takes one parameter, annotated Step, Batch, Phase or Call; got {hint!r}"
            )
        return tuple(found), tuple(names)


@dataclass
class Options:
    """How a watch behaves."""

    share: float = 0.01  # of the program's time
    steps: int = 0  # stop the program after so many optimizer steps; 0 never
    only: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()
    live: TextIO | None = None  # where a finding is told at once
    roots: tuple[str, ...] = ()  # folders that are the user's wherever they lie
    deep: bool = True
    source: bool = True  # whether a program's source is read too


class StopAfterSteps(SystemExit):
    """Raised out of the program's own step() when `--steps N` steps are made; the exit status is 0."""


@dataclass
class Watcher:
    """Holds what one watch knows; the probes call it."""

    sentinels: list[Sentinel]
    options: Options = field(default_factory=Options)
    run: Run = field(default_factory=Run)
    ledger: Ledger = field(default_factory=Ledger)
    broken: dict[str, str] = field(default_factory=dict)  # slug -> what its sentinel raised
    rich: bool = True
    off: bool = False  # a DataLoader's worker
    busy: bool = False  # inside a watched call, or inside a sentinel: nothing is recorded
    events: list[Event] = field(default_factory=list)
    base: int = 0  # how many events were dropped from the front
    phase_mark: int = 0  # index of the first event after the last backward

    def __post_init__(self) -> None:
        self.pace = Pace(self.options.share)
        self.map = Map(self.options.roots)
        self.known: dict[int, Any] = {}  # id -> what is recorded of an optimizer, scheduler, loader or module
        self.iterators: dict[
            int, tuple[weakref.ref[Any], Any, Any]
        ] = {}  # id of an iterator -> it, the loader's record, the loader
        self.stack: list[Any] = []  # the modules that run now, outermost first
        self.stride = 1  # every so many steps a dot is put on the timeline
        self.dotted = (0, 0)  # when the last one was, and how long the program had waited for data by then
        self.shield: Callable[[], Any] = nullcontext
        self.deep: Any = None
        self.losses: Any = None  # those on a GPU, read when they have arrived
        self.veiled: Callable[[], object] = _nothing  # true inside torch.func: its tensors have no values to look at
        self.wake: Callable[[], None] = _nothing  # puts on the probes that are called every step
        self.doze: Callable[[], None] = _nothing  # takes them off
        self.run.find_keeper = self.find_keeper
        self.run.find_grown = self.find_grown
        self.marks: dict[Any, Any] = {}  # those that the last count of kept graphs has left
        self.read: set[tuple[str, str]] = set()  # slug and file of what the source shows
        self.memories: dict[tuple[str, int], dict[str, Any]] = {}
        self.notes: dict[str, dict[str, Any]] = {}
        self.by_picture: dict[str, list[Sentinel]] = {name: [] for name in PICTURES}
        self.by_name: dict[str, list[Sentinel]] = {}
        self.take(self.sentinels)

    def take(self, sentinels: Iterable[Sentinel]) -> None:
        """Sort sentinels by what they want to look at."""
        for sentinel in sentinels:
            if (self.options.only and sentinel.slug not in self.options.only) or sentinel.slug in self.options.ignore:
                continue
            pictures, names = sentinel.wants()
            for name in names:
                self.by_name.setdefault(name, []).append(sentinel)
            for picture in pictures:
                if picture != "Call" or not names:
                    self.by_picture[picture].append(sentinel)

    # what probes report

    def add(self, event: Event) -> None:
        """Remember an event."""
        self.events.append(event)
        if event.group not in ("forward", "batch"):
            self.run.seen[event.name].append(event)
        self.run.counts[event.name] += 1
        if len(self.events) > 4000:
            del self.events[:2000]
            self.base += 2000

    def since(self, mark: int) -> list[Event]:
        """The events from this mark on."""
        return self.events[max(0, mark - self.base) :]

    @property
    def mark(self) -> int:
        """The index the next event will have."""
        return self.base + len(self.events)

    def show(self, picture: Picture, sentinels: list[Sentinel]) -> None:
        """Let these sentinels look; a sentinel that raises is told once and switched off."""
        if self.busy or not sentinels or self.veiled():
            return
        self.busy = True
        subject = picture.subject  # asked once: that of a call is made of its line
        try:
            with self.shield():
                for sentinel in sentinels:
                    if sentinel.slug not in self.broken:
                        self.let(sentinel, picture, subject)
        finally:
            self.busy = False

    def let(self, sentinel: Sentinel, picture: Picture, subject: int) -> None:
        """Let one sentinel look."""
        picture.memory = self.memories.setdefault((sentinel.slug, subject), {})
        picture.notes = self.notes.setdefault(sentinel.slug, {})
        try:
            said = sentinel.watch(picture)
            for alarm in [said] if isinstance(said, Alarm) else said or ():
                new = self.ledger.take(sentinel.slug, sentinel.severity, alarm, picture)
                if new is not None and (new.slug, new.path) not in self.read:
                    self.tell(live(new))
        except Exception as error:  # noqa: BLE001 - the program must go on whatever a sentinel does; it is reported
            self.broke(sentinel, error)

    def broke(self, sentinel: Sentinel, error: Exception) -> None:
        """Switch a sentinel off."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        self.broken[sentinel.slug] = f"{type(error).__name__}: {error} (line {last.lineno} of {last.filename})"
        self.tell(f"watch: the sentinel {sentinel.slug} failed and is switched off: {self.broken[sentinel.slug]}")

    def tell(self, text: str) -> None:
        """A live line."""
        if self.options.live is not None:
            print(text, file=self.options.live, flush=True)

    def open(self) -> None:
        """Look closely from here on: what was not recorded before counts for nothing."""
        self.rich = True
        self.wake()
        self.phase_mark = self.mark
        for record in self.run.optimizers:
            record.mark = -1
            record.zeroed = True
            record.gradient = None

    def close(self) -> None:
        """Look no closer than it takes to count steps and to see a loss that is not finite.

        Compiled code is guarded by what it saw: there the probes stay where they are.
        """
        self.rich = False
        if not self.run.compiled:
            self.doze()

    def walks(self) -> bool:
        """Whether to walk the graph of the backward that comes: the first few, and the first of a later window."""
        return self.run.backwards <= 16 or self.pace.left <= 4 or not self.run.backwards % 16

    def find_keeper(self) -> Keeper | None:
        """Look into the user's frames for what keeps graphs alive."""
        from torchlore.watch.keepers import keeper

        return keeper(self.map)

    def find_grown(self) -> dict[str, tuple[int, Place | None]]:
        """Count the graphs that the user's containers hold."""
        from torchlore.watch.keepers import grown

        return grown(self.map, self.marks)

    def finish(self) -> None:
        """The program has ended: the last phase is shown."""
        self.rich = True
        self.show(Phase(self.run, self.since(self.phase_mark), final=True), self.by_picture["Phase"])
        self.run.ranks.leave()


def _nothing() -> None:
    """Before torch is imported there are no probes."""


def sentinels_of(functions: Mapping[str, Callable[[Any], Any]]) -> list[Sentinel]:
    """Sentinels out of slug -> watch, with the severity that the note states."""
    homes = {slug: re.sub(r"\.watch$", ".note", one.__module__) for slug, one in functions.items()}
    levels = {slug: vars(importlib.import_module(home)).get("SEVERITY", "warning") for slug, home in homes.items()}
    return [Sentinel(slug, one, Severity(levels[slug])) for slug, one in functions.items()]


class Watch:
    """A watch that is begun and ended by hand: notebooks and the callbacks of trainers need it so."""

    def __init__(self, sentinels: Iterable[Sentinel] | None = None, options: Options | None = None) -> None:
        chosen = catalogue_sentinels() if sentinels is None else list(sentinels)
        self.watcher = Watcher(chosen, options or Options())
        self.undo: Callable[[], None] = _nothing

    def begin(self) -> None:
        """Set the probes."""
        from torchlore.watch.probes import install

        self.undo = install(self.watcher)

    def end(self) -> list[Finding]:
        """Take them off; what was found."""
        self.watcher.finish()
        self.undo()
        self.undo = _nothing
        return self.watcher.ledger.results()


def catalogue_sentinels() -> list[Sentinel]:
    """The sentinels of every note."""
    return sentinels_of(importlib.import_module("torchlore.catalogue").parts("watch"))


@contextmanager
def watching(sentinels: Iterable[Sentinel] | None = None, options: Options | None = None) -> Iterator[list[Finding]]:
    """Watch what runs in this block, with every note's sentinel unless some are named.

    The list is filled when the block ends, also by an exception.
    """
    watch, found = Watch(sentinels, options), list[Finding]()
    watch.begin()
    try:
        yield found
    finally:
        found.extend(watch.end())

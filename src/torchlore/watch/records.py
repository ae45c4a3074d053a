"""What is remembered about a program while it runs: its optimizers, schedulers, loaders and modules. No torch here."""

from __future__ import annotations

import itertools
import weakref
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torchlore.watch.pictures import Event, Keeper
from torchlore.watch.places import Place
from torchlore.watch.ranks import Ranks

if TYPE_CHECKING:
    from torch import nn

_keys = itertools.count(1)
KEPT = 24  # backward passes whose graphs are followed


class Known:
    """An object of the program that is followed without keeping it alive."""

    def __init__(self, thing: Any, place: Place | None) -> None:
        self.ref = weakref.ref(thing)
        self.kind = type(thing).__name__
        self.place = place  # where the user made it
        self.key = next(_keys)  # ids are used again by Python, these are not

    @property
    def thing(self) -> Any:
        """The object itself, None once it is gone."""
        return self.ref()


class OptimizerRecord(Known):
    """One optimizer and how it was used."""

    def __init__(self, thing: Any, place: Place | None, made: dict[int, int]) -> None:
        super().__init__(thing, place)
        self.identity = id(thing)
        self.made = made  # the run's: steps by the id of each optimizer
        self.made[self.identity] = 0
        self.gone_after: int | None = None  # its steps, once another optimizer has its id
        self.mark = -1  # index of the event after its previous step; -1: that step was not looked at
        self.first: weakref.ref[Any] | None = None  # its first trainable parameter
        self.gradient: weakref.ref[Any] | None = None  # that one's gradient when the previous step ended
        self.version = 0
        self.zeroed = True
        self.touched = False  # a backward has run since the previous step
        self.carried_over = False
        self.at_step: tuple[int, int, int] | None = None  # its trace when the last step began
        self.first_rates: list[float] = []
        self.label = f"{self.kind}, {place}" if place is not None else self.kind  # its line on the timeline
        self.schedulers: list[SchedulerRecord] = []

    @property
    def optimizer(self) -> Any:
        """The optimizer."""
        return self.ref()

    @property
    def steps(self) -> int:
        """How many it made."""
        return self.made[self.identity] if self.gone_after is None else self.gone_after

    def trace(self) -> tuple[int, int, int] | None:
        """How often its first parameter was written to, which tensor is its gradient, and how often that was written to."""
        parameter = self.first() if self.first is not None else None
        if parameter is None or parameter.grad is None:
            return None
        return parameter._version, id(parameter.grad), parameter.grad._version  # noqa: SLF001 - the documented in-place counters


class SchedulerRecord(Known):
    """One learning-rate scheduler and how it was used."""

    def __init__(self, thing: Any, place: Place | None, optimizer: OptimizerRecord | None) -> None:
        super().__init__(thing, place)
        self.optimizer = optimizer
        self.steps = 0
        self.stepped_at: list[int] = []  # the optimizer's step count at its first 256 steps
        self.step_place: Place | None = None
        self.seen = True  # its steps are counted: the class has no step of its own, and no other scheduler makes them


class LoaderRecord(Known):
    """One DataLoader and how it was walked through."""

    def __init__(self, thing: Any, place: Place | None) -> None:
        super().__init__(thing, place)
        self.epoch = -1
        self.index = -1
        self.batches = 0
        self.wait_ns = 0
        self.loop_place: Place | None = None
        self.awake = False  # its batches were counted when the last epoch began
        self.empty = 0  # epochs that had no batch at all
        self.left_out = 0  # samples that drop_last leaves out of each epoch
        self.sizes: list[int] = []  # batches handed out in each finished or left epoch

    @property
    def loader(self) -> Any:
        """The DataLoader."""
        return self.ref()


class RootRecord(Known):
    """A module with parameters that the user's own code calls."""

    def __init__(self, thing: Any, place: Place | None) -> None:
        super().__init__(thing, place)
        self.forwards = 0
        self.train_forwards = 0

    @property
    def module(self) -> nn.Module | None:
        """The module, None once it is gone."""
        module: nn.Module | None = self.ref()
        return module

    def mode_sensitive(self) -> list[tuple[str, nn.Module]]:
        """Its dropout and batch-norm layers, by name: what `train()` and `eval()` change."""
        from torchlore.watch.graph import mode_sensitive

        return mode_sensitive(self.ref())


@dataclass
class Point:
    """One dot of the timeline."""

    step: int
    seconds: float
    loss: float | None = None
    rate: float | None = None
    gradient: float | None = None
    memory: int | None = None
    wait: float | None = None  # share of the time since the last point spent waiting for data
    optimizer: str = ""  # whose step it was


@dataclass
class Run:
    """The program so far."""

    optimizers: list[OptimizerRecord] = field(default_factory=list)
    schedulers: list[SchedulerRecord] = field(default_factory=list)
    loaders: list[LoaderRecord] = field(default_factory=list)
    roots: list[RootRecord] = field(default_factory=list)
    seen: defaultdict[str, deque[Event]] = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=64)))
    counts: Counter[str] = field(default_factory=Counter)
    reached: dict[int, weakref.ref[Any]] = field(default_factory=dict)  # every parameter any walked loss depended on
    graphs: deque[weakref.ref[Any]] = field(default_factory=lambda: deque(maxlen=KEPT))
    activations: deque[weakref.ref[Any]] = field(default_factory=lambda: deque(maxlen=KEPT))
    owned: dict[int, weakref.ref[Any]] = field(default_factory=dict)  # every parameter an optimizer was made with
    history: list[Point] = field(default_factory=list)
    made: dict[int, int] = field(default_factory=dict)  # id of an optimizer -> its steps
    past: int = 0  # steps of optimizers whose id is another's now; less those made before a fork
    child_steps: int = 0  # made in processes that the program started
    backwards: int = 0
    forwards: int = 0
    loss: float | None = None  # the last known value that backward() was called on
    compiled: bool = False
    evaluated: bool = False  # the last backward was that of an evaluation
    crashed: bool = False  # it was ended before its time
    ranks: Ranks = field(default_factory=Ranks)  # this process among others
    find_keeper: Callable[[], Keeper | None] = lambda: None
    find_grown: Callable[[], dict[str, tuple[int, Place | None]]] = dict
    _names: dict[int, str] = field(default_factory=dict)
    _named_at: tuple[int, int] = (-1, -1)

    @property
    def steps(self) -> int:
        """Steps of all optimizers."""
        return self.past + sum(self.made.values())

    def leave(self, identity: int) -> None:
        """A new optimizer has this id: the one that had it is gone."""
        for record in self.optimizers:
            if record.identity == identity and record.gone_after is None:
                record.gone_after = record.steps
                self.past += record.steps

    @property
    def batches(self) -> int:
        """Batches handed out by all loaders."""
        return sum(record.batches for record in self.loaders)

    def graphs_alive(self) -> int:
        """How many graphs of the last 24 backward passes are still in memory."""
        return sum(ref() is not None for ref in self.graphs)

    def activations_alive(self) -> int:
        """How many of the last 24 backward passes left activations that are still in memory, with or without the loss."""
        return sum(ref() is not None for ref in self.activations)

    def keeper(self) -> Keeper | None:
        """The user's variable that keeps them alive, where looking into the frames shows it."""
        return self.find_keeper()

    def kept_nodes(self) -> dict[str, tuple[int, Place | None]]:
        """Containers of the user's that hold graphs -> how many nodes, and the line that fills them; dear: ask rarely."""
        return self.find_grown()

    def modules(self) -> Iterator[nn.Module]:
        """Every root module that is still there."""
        for record in self.roots:
            if (module := record.module) is not None:
                yield module

    def parameter_names(self) -> dict[int, str]:
        """Id -> name, over all root modules; looked up again every 64 steps and when a module is new."""
        now = (len(self.roots), self.steps // 64)
        if now != self._named_at:
            self._named_at = now
            self._names = {}
            for module in self.modules():
                for name, parameter in module.named_parameters():
                    self._names.setdefault(id(parameter), name)
        return self._names

    def ever_held(self) -> set[int]:
        """Id of every parameter that some optimizer holds or was made with, also one that is gone."""
        return self.held() | {key for key, ref in self.owned.items() if ref() is not None}

    def held(self) -> set[int]:
        """Id of every parameter that some living optimizer holds."""
        living = (record.optimizer for record in self.optimizers)
        return {id(p) for one in living if one is not None for group in one.param_groups for p in group["params"]}

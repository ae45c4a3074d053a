"""What a sentinel may look at. Nothing here imports torch; whatever costs time is computed when asked for, once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from torchlore.watch.places import Place as Place  # noqa: PLC0414 - sentinels take it from here
from torchlore.watch.places import assignment as assignment  # noqa: PLC0414 - see above
from torchlore.watch.places import layer_line as layer_line  # noqa: PLC0414 - see above
from torchlore.watch.places import line_in as line_in  # noqa: PLC0414 - see above

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer

    from torchlore.watch.records import LoaderRecord, OptimizerRecord, RootRecord, Run


@dataclass(frozen=True)
class Alarm:
    """What a sentinel says: one sentence with the user's own names, what happens and then what to write."""

    message: str
    at: Place | None = None  # the line to show; None: the picture's own place
    certain: bool = True  # False: suspected; an error is then told as a warning
    evidence: str = ""  # the numbers that convinced it
    because: tuple[str, ...] = ()  # slugs that explain this one: with one of them found, this becomes its evidence


@dataclass(slots=True)
class Event:
    """One thing the program did, as a step or a phase remembers it: no tensor is kept alive by it."""

    name: str  # as a Call's: "backward", "zero_grad", "cross_entropy", "forward", "next", "scheduler.step" ...
    group: str  # "forward" "loss" "backward" "zero" "clip" "unscale" "step" "schedule" "batch" "mode" "seed" "state" "other"
    place: Place | None
    subject: int  # id() of the optimizer, module, loader or scheduler it was done to
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as the optimizer holds it."""

    name: str  # its name in the module that was called, or `group0[3]`
    tensor: Tensor
    group: int

    @property
    def grad(self) -> Tensor | None:
        """Its gradient now."""
        return self.tensor.grad

    @property
    def empty(self) -> bool:
        """Whether the gradient is None, or zero throughout as far as that is known without making a device wait."""
        grad = self.tensor.grad
        return grad is None or (grad.is_cpu and not grad.is_sparse and not bool(grad.any()))


class Picture:
    """What every picture has: where, when, the whole run, and a memory of the sentinel that looks at it."""

    subject: int = 0  # what the memory is kept for: the optimizer of a step, the loader of a batch, the line of a call

    def __init__(self, run: Run, place: Place | None) -> None:
        self.run = run
        self.place = place
        self.memory: dict[str, Any] = {}  # set by the engine: one for each sentinel and subject
        self.notes: dict[str, Any] = {}  # set by the engine: one for each sentinel, whatever the subject

    def in_a_row(self, wanted: int, true: bool, name: str = "row") -> bool:
        """Whether this was true on this and the `wanted - 1` pictures before, for the same subject."""
        self.memory[name] = self.memory.get(name, 0) + 1 if true else 0
        return bool(self.memory[name] >= wanted)

    def times(self, wanted: int, true: bool, name: str = "times") -> bool:
        """Whether this was true on `wanted` pictures in all, for the same subject."""
        self.memory[name] = self.memory.get(name, 0) + bool(true)
        return bool(true and self.memory[name] >= wanted)


class Call(Picture):
    """One call into PyTorch, seen as it returns. On deep steps every tensor operation is one too (`deep` is true)."""

    def __init__(self, run: Run, place: Place | None, name: str, group: str) -> None:
        super().__init__(run, place)
        self.name = name  # "cross_entropy", "load_state_dict", "clip_grad_norm_", "scheduler.step", "to", "sub" ...
        self.group = group
        self.args: tuple[Any, ...] = ()
        self.kwargs: dict[str, Any] = {}
        self.result: Any = None
        self.error: BaseException | None = None  # what it raised; it is shown before it goes on its way
        self.discarded = False  # the caller throws the result away
        self.deep = False
        self.grad_enabled = True
        self.modules: tuple[nn.Module, ...] = ()  # the modules it runs in, outermost first (root only, unless deep)

    @property
    def subject(self) -> int:  # type: ignore[override]  # a call remembers by its line
        """The line."""
        return hash(self.place)

    @property
    def owner(self) -> Any:
        """The object a method was called on."""
        return self.args[0]

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """An argument, however it was passed; for methods `self` is at position 0."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if len(self.args) > position else default

    @property
    def input(self) -> Any:
        """A loss function's prediction."""
        return self.argument(0, "input")

    @property
    def target(self) -> Any:
        """A loss function's target."""
        return self.argument(1, "target")

    def made_by(self, tensor: Any) -> str:
        """The operation that made this tensor, looking through views and casts: "softmax", "addmm", "" for a leaf."""
        from torchlore.watch.graph import made_by

        return made_by(tensor)

    def origin(self, tensor: Any) -> Place | None:
        """The line of the activation that made this tensor, as it was when this line was first asked about; None if unseen."""
        from torchlore.watch.graph import born

        if "origin" not in self.memory:
            self.memory["origin"] = born(tensor)
        line: Place | None = self.memory["origin"]
        return line

    def leaves(self, tensor: Any) -> dict[int, Any]:
        """Id -> weak reference of every leaf that a tensor depends on: its graph is walked, so ask rarely."""
        from torchlore.watch.graph import leaves

        return leaves(tensor)

    def values(self, tensor: Any) -> Values | None:
        """Range, mean and rows of a tensor; None where looking would make a device wait, or it is no float tensor."""
        from torchlore.watch.graph import values

        return values(tensor)


@dataclass(frozen=True)
class Values:
    """A few numbers about one tensor."""

    low: float
    high: float
    mean: float
    std: float
    finite: bool
    sums_to_one: bool  # every row along the last dimension (or dimension 1) sums to one


class Batch(Picture):
    """What a DataLoader hands out."""

    def __init__(self, run: Run, place: Place | None, record: LoaderRecord, data: Any, wait_ns: int) -> None:
        super().__init__(run, place)
        self.record = record
        self.data = data
        self.wait_ns = wait_ns  # how long the program waited for it
        self.subject = record.key

    @property
    def loader(self) -> Any:
        """The DataLoader."""
        return self.record.loader

    @property
    def dataset(self) -> Any:
        """Its dataset, as it was given."""
        return self.record.loader.dataset

    @property
    def index(self) -> int:
        """0 for the first batch of an epoch."""
        return self.record.index

    @property
    def epoch(self) -> int:
        """0 while the loader is walked through for the first time."""
        return self.record.epoch

    @cached_property
    def tensors(self) -> list[Tensor]:
        """The tensors in it, in order, however nested."""
        from torchlore.watch.graph import tensors_in

        return list(tensors_in(self.data))

    @cached_property
    def inputs(self) -> Tensor | None:
        """The first floating-point tensor with a batch dimension and more."""
        return next((t for t in self.tensors if t.is_floating_point() and t.dim() > 1), None)

    @cached_property
    def labels(self) -> Tensor | None:
        """The last tensor of integers with one number a sample."""
        same = [t for t in self.tensors[1:] if t.dim() == 1 and not t.is_floating_point() and not t.is_complex()]
        return same[-1] if same else None

    def values(self, tensor: Any) -> Values | None:
        """Range, mean and rows of a tensor; None where looking would make a device wait."""
        from torchlore.watch.graph import values

        return values(tensor)


class Step(Picture):
    """One optimizer step, seen when it has been made."""

    def __init__(self, run: Run, place: Place | None, record: OptimizerRecord, events: Sequence[Event]) -> None:
        super().__init__(run, place)
        self.record = record
        self.events = events  # since this optimizer's previous step, its own step last
        self.subject = record.key
        self.number = record.steps  # 1 for the optimizer's first
        self.closure = False
        self.deep = False  # statistics over all gradients are cheap to ask for now

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer."""
        optimizer: Optimizer = self.record.optimizer
        return optimizer

    @property
    def groups(self) -> list[dict[str, Any]]:
        """Its parameter groups."""
        groups: list[dict[str, Any]] = self.record.optimizer.param_groups
        return groups

    @property
    def rates(self) -> list[float]:
        """The learning rate of each group."""
        return [float(group["lr"]) for group in self.groups if "lr" in group]

    def of(self, *groups: str) -> list[Event]:
        """The events of these groups, in order; those done to another optimizer are left out."""
        return [event for event in self.events if event.group in groups and self.mine(event)]

    def mine(self, event: Event) -> bool:
        """Whether an event concerns this optimizer: it was done to it, to its parameters, or to no optimizer at all."""
        if event.group in ("zero", "step", "unscale", "schedule"):
            return self.record.key in event.facts["optimizers"]
        return True

    @cached_property
    def order(self) -> str:
        """The events as letters, its own step last.

        N next batch, F forward, L loss, B backward, Z zero_grad, C clip, U unscale, S step, K scheduler step,
        s step of another optimizer. `re.search("BZ+S", step.order)` is zero_grad between backward and step.
        """
        letters = {"batch": "N", "forward": "F", "loss": "L", "backward": "B", "clip": "C"}
        own = {"zero": "Z", "unscale": "U", "schedule": "K", "step": "S"}
        found = []
        for event in self.events:
            if event.group in own:
                found.append(own[event.group] if self.mine(event) else "s" if event.group == "step" else "")
            else:
                found.append(letters.get(event.group, ""))
        return "".join(found)

    @cached_property
    def parameters(self) -> list[Parameter]:
        """Every parameter it holds, with its name where a module that was called has it."""
        names = self.run.parameter_names()
        return [
            Parameter(names.get(id(p), f"group{g}[{n}]"), p, g)
            for g, group in enumerate(self.groups)
            for n, p in enumerate(group["params"])
        ]

    @cached_property
    def trainable(self) -> list[Parameter]:
        """Those that ask for a gradient."""
        return [p for p in self.parameters if p.tensor.requires_grad]

    @cached_property
    def without_gradient(self) -> list[Parameter]:
        """Trainable ones whose gradient is None."""
        return [p for p in self.trainable if p.tensor.grad is None]

    @cached_property
    def gradient_norms(self) -> dict[str, float] | None:
        """Norm of each gradient; None on steps that are not deep, and where it would make a device wait."""
        from torchlore.watch.graph import norms

        return norms({p.name: p.tensor.grad for p in self.parameters}) if self.deep else None

    @cached_property
    def weight_norms(self) -> dict[str, float] | None:
        """Norm of each parameter; None on steps that are not deep, and where it would make a device wait."""
        from torchlore.watch.graph import norms

        return norms({p.name: p.tensor for p in self.parameters}) if self.deep else None

    @cached_property
    def reached(self) -> list[Tensor] | None:
        """The parameters that the losses of this step depend on; None where their graphs were not walked."""
        walked = [event.facts["leaves"] for event in self.events if "leaves" in event.facts]
        refs = {key: ref for leaves in walked for key, ref in leaves.items()}
        alive = (ref() for ref in refs.values())
        return [tensor for tensor in alive if tensor is not None] if walked else None

    @property
    def untouched(self) -> bool:
        """Nobody but a clipping wrote to its first parameter between the backwards, or to its gradient after the last."""
        events = [event for event in self.events if event.group in ("backward", "clip", "unscale")]
        traces = [event.facts["traces"].get(self.record.key) for event in events if event.group == "backward"]
        if not traces or None in traces or self.record.at_step is None or len({one[0] for one in traces}) > 1:
            return False
        compared = 3 if events[-1].group == "backward" else 2
        return bool(traces[-1][:compared] == self.record.at_step[:compared])

    @property
    def carried_over(self) -> bool:
        """Gradients of the previous step are still part of these ones: nobody zeroed them in between."""
        return self.record.carried_over


@dataclass(frozen=True)
class Keeper:
    """A variable that holds on to graphs, and the line that fills it."""

    name: str
    place: Place | None
    number: bool = False  # what it holds are numbers, such as a sum of losses


class Phase(Picture):
    """A stretch of two or more forwards (or batches) without a backward: an evaluation. Also the end of the run."""

    def __init__(self, run: Run, events: Sequence[Event], final: bool) -> None:
        super().__init__(run, next((event.place for event in events if event.group == "forward"), None))
        self.events = events
        self.final = final  # the program has ended; `events` are those since the last backward

    @cached_property
    def forwards(self) -> list[Event]:
        """Calls of a root module. facts: training, grad_enabled, requires_grad (of the output), record."""
        return [event for event in self.events if event.group == "forward"]

    @cached_property
    def batches(self) -> list[Event]:
        """Batches handed out. facts: record."""
        return [event for event in self.events if event.group == "batch"]

    @cached_property
    def losses(self) -> list[Event]:
        """Loss calls."""
        return [event for event in self.events if event.group == "loss"]

    def roots(self) -> Iterator[tuple[RootRecord, list[Event]]]:
        """Each module that was called, with its forwards."""
        by_root: dict[int, list[Event]] = {}
        for event in self.forwards:
            by_root.setdefault(event.subject, []).append(event)
        for events in by_root.values():
            yield events[0].facts["record"], events

"""What a model costs: time and memory of each module, a table of its layers, and a picture of how they connect."""

from __future__ import annotations

import statistics
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._C._autograd import _get_sequence_nr

from torchlore.recipes import _wants
from torchlore.recipes._graph import Graph, GraphNode, graph_dot, graph_svg, trace_graph
from torchlore.recipes._summary import Row, Summary, summary
from torchlore.recipes.device import map_tensors, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Cost",
    "Costs",
    "Graph",
    "GraphNode",
    "Row",
    "Summary",
    "graph_dot",
    "graph_svg",
    "profile_modules",
    "summary",
    "trace_graph",
]


@dataclass(frozen=True)
class Cost:
    """What one module cost in one step, in milliseconds and bytes; children are inside unless it says own."""

    name: str
    kind: str
    calls: int
    forward_ms: float
    own_ms: float  # forward without the modules below it
    backward_ms: float  # of the operations that ran in it, also in the modules below it
    saved_bytes: int  # kept for the backward pass by it and the modules below it, each storage once


@dataclass(frozen=True)
class Costs:
    """The cost of every module in the order of the model, and of the step; `str()` of it is the table."""

    rows: tuple[Cost, ...]
    device: str
    forward_ms: float
    backward_ms: float

    def __str__(self) -> str:
        lines = [f"{'forward':>9} {'own':>9} {'backward':>9} {'saved MiB':>10}  module ({self.device}, ms)"]
        for row in self.rows:
            calls = f" x{row.calls}" if row.calls > 1 else ""
            figures = f"{row.forward_ms:9.3f} {row.own_ms:9.3f} {row.backward_ms:9.3f} {row.saved_bytes / 2**20:10.2f}"
            lines.append(f"{figures}  {row.name or '(model)'} {row.kind}{calls}")
        return "\n".join(lines)


class _Clock:
    """Marks in time: CUDA events on a GPU, where the host runs ahead, and the host's clock elsewhere."""

    def __init__(self, device: torch.device) -> None:
        self.cuda = device.type == "cuda"

    def mark(self) -> Any:
        if not self.cuda:
            return time.perf_counter_ns()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, start: Any, end: Any) -> float:
        return float(start.elapsed_time(end)) if self.cuda else (end - start) / 1e6

    def settle(self) -> None:
        if self.cuda:
            torch.cuda.synchronize()


class _Recording:
    """One step: when each module was entered and left, and which autograd nodes and saved bytes are its own."""

    def __init__(self, model: nn.Module, clock: _Clock) -> None:
        self.clock = clock
        self.names = {module: name for name, module in model.named_modules()}
        self.stack: list[str] = []
        self.spans: list[tuple[str, tuple[str, ...], Any, Any]] = []  # name, parents, start, end
        self.starts: list[Any] = []
        self.ranges: list[tuple[int, int, str]] = []  # sequence numbers of nodes made inside a module
        self.firsts: list[int] = []
        self.nodes: list[tuple[str, Any, Any]] = []
        self.saved: dict[str, int] = {}
        # parameters and buffers are there anyway, also when a view of them is kept
        self.seen = {one.untyped_storage().data_ptr() for one in [*model.parameters(), *model.buffers()]}

    def enter(self, module: nn.Module, _args: object) -> None:
        self.stack.append(self.names[module])
        self.firsts.append(_get_sequence_nr())
        self.starts.append(self.clock.mark())

    def leave(self, _module: nn.Module, _args: object, _output: object) -> None:
        end = self.clock.mark()
        name = self.stack.pop()
        self.spans.append((name, tuple(self.stack), self.starts.pop(), end))
        self.ranges.append((self.firsts.pop(), _get_sequence_nr(), name))

    def pack(self, tensor: torch.Tensor) -> torch.Tensor:
        key = tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else id(tensor)
        if key not in self.seen:
            self.seen.add(key)
            size = tensor.untyped_storage().nbytes() if tensor.layout is torch.strided else 0
            for name in set(self.stack):
                self.saved[name] = self.saved.get(name, 0) + size
        return tensor

    def time_nodes(self, root: Any) -> None:
        """Put a mark before and after every node of the graph that a module made."""
        waiting, visited = [root], set()
        while waiting:
            node = waiting.pop()
            if node is None or node in visited:
                continue
            visited.add(node)
            waiting += [one for one, _ in node.next_functions]
            number = node._sequence_nr()  # noqa: SLF001 - torch numbers its nodes, privately
            owners = {name for first, last, name in self.ranges if first <= number < last}
            if owners:
                self._mark_node(node, owners)

    def _mark_node(self, node: Any, owners: set[str]) -> None:
        start: list[Any] = []

        def after(*_: object) -> None:
            self.nodes.extend((name, start[-1], mark) for mark in [self.clock.mark()] for name in owners)

        node.register_prehook(lambda *_: start.append(self.clock.mark()))
        node.register_hook(after)


def _scalar(output: Any) -> torch.Tensor:
    """The sum of everything that carries a gradient, to have something to go backward from."""
    parts: list[torch.Tensor] = []
    map_tensors(output, lambda one: parts.append(one if isinstance(one, torch.Tensor) else one.data))
    parts = [part.float().sum() for part in parts if part.requires_grad]
    if not parts:
        raise RuntimeError("no output of the model carries a gradient; call profile_modules(..., backward=False)")
    return torch.stack(parts).sum()


def _record(
    model: nn.Module, call: Callable[[], Any], clock: _Clock, backward: bool
) -> tuple[_Recording, float, float]:
    recording = _Recording(model, clock)
    with ExitStack() as stack:
        for module in recording.names:
            stack.callback(module.register_forward_pre_hook(recording.enter).remove)
            stack.callback(module.register_forward_hook(recording.leave).remove)
        stack.enter_context(torch.set_grad_enabled(backward))
        stack.enter_context(torch.autograd.graph.saved_tensors_hooks(recording.pack, lambda tensor: tensor))
        start = clock.mark()
        output = call()
        middle = clock.mark()
    end = middle
    if backward:
        loss = _scalar(output)
        recording.time_nodes(loss.grad_fn)
        middle_two = clock.mark()
        loss.backward()
        end = clock.mark()
        clock.settle()
        return recording, clock.between(start, middle), clock.between(middle_two, end)
    clock.settle()
    return recording, clock.between(start, middle), 0.0


def _sums(recording: _Recording) -> dict[str, tuple[int, float, float, float]]:
    """Calls, forward, own and backward time of each module."""
    calls: dict[str, int] = {}
    whole: dict[str, float] = {}
    own: dict[str, float] = {}
    for name, parents, start, end in recording.spans:
        took = recording.clock.between(start, end)
        calls[name] = calls.get(name, 0) + 1
        whole[name] = whole.get(name, 0.0) + took
        own[name] = own.get(name, 0.0) + took
        if parents:
            own[parents[-1]] = own.get(parents[-1], 0.0) - took
    back: dict[str, float] = {}
    for name, start, end in recording.nodes:
        back[name] = back.get(name, 0.0) + recording.clock.between(start, end)
    return {name: (calls[name], whole[name], own[name], back.get(name, 0.0)) for name in calls}


def profile_modules(
    model: nn.Module, *inputs: Any, backward: bool = True, repeat: int = 5, warmup: int = 2, **options: Any
) -> Costs:
    """Measure the time and the memory of every module in a step, forward and backward, on the CPU or a GPU.

    The profiler of torch knows operators, not modules. Here each module's forward pass is timed by hooks, its
    backward pass by the autograd nodes it made, and its memory by what it keeps for the backward pass. In-place
    operations are fine. Times are medians over the repeats; gradients, buffers and modes are put back.

    Args:
        model: Any module; it runs in the mode it is in.
        inputs: What it takes.
        backward: Also go backward from the sum of the outputs.
        repeat: How often to measure.
        warmup: Steps before that.
        options: Keyword arguments of the model.

    Returns:
        The costs of every module that ran.

    >>> net = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
    >>> costs = profile_modules(net, torch.randn(8, 64), repeat=1)
    >>> [row.name for row in costs.rows], costs.rows[0].forward_ms >= costs.rows[1].forward_ms
    (['', '0', '1'], True)
    """
    _wants.whole("profile_modules", 1, repeat=repeat)
    _wants.whole("profile_modules", 0, warmup=warmup)
    inner = unwrap(model)
    place = next((p.device for p in inner.parameters()), torch.device("cpu"))
    clock = _Clock(place)
    saved_grads = {p: p.grad for p in inner.parameters()}
    saved_buffers = {b: b.detach().clone() for b in inner.buffers()}
    runs = []
    try:
        for number in range(warmup + repeat):
            for parameter in saved_grads:
                parameter.grad = None
            run = _record(inner, lambda: inner(*inputs, **options), clock, backward)
            if number >= warmup:
                runs.append((_sums(run[0]), run[0].saved, run[1], run[2]))
    finally:
        for parameter, grad in saved_grads.items():
            parameter.grad = grad
        with torch.no_grad():
            for buffer, value in saved_buffers.items():
                buffer.copy_(value)
    return _merge(inner, runs, str(place))


def _merge(model: nn.Module, runs: list[Any], device: str) -> Costs:
    rows = []
    for name, module in model.named_modules():
        figures = [sums[name] for sums, *_ in runs if name in sums]
        if not figures:
            continue
        middle = [statistics.median(one[column] for one in figures) for column in range(4)]
        saved = runs[-1][1].get(name, 0)
        rows.append(Cost(name, type(module).__name__, int(middle[0]), middle[1], middle[2], middle[3], saved))
    forward = statistics.median(run[2] for run in runs)
    return Costs(tuple(rows), device, forward, statistics.median(run[3] for run in runs))

"""The training loop: forward, backward, zero_grad, step, schedulers, loss scaling."""

from __future__ import annotations

import functools
import math
import sys
import weakref
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._C import _len_torch_function_stack
from torch.compiler import is_compiling
from torch.optim import lr_scheduler
from torch.optim import optimizer as optimizers

from torchlore.watch import graph
from torchlore.watch.pictures import Call, Event, Phase
from torchlore.watch.probes_step import install_optimizer
from torchlore.watch.records import OptimizerRecord, RootRecord, Run, SchedulerRecord
from torchlore.watch.session import Watcher
from torchlore.watch.showing import ask

if TYPE_CHECKING:
    from torchlore.watch.probes import Patches

FAST_PATHS = (nn.TransformerEncoder, nn.TransformerEncoderLayer, nn.MultiheadAttention)


def install_loop(watcher: Watcher, patches: Patches) -> None:
    """Set the probes of the loop."""
    install_forward(watcher, patches)
    install_backward(watcher, patches)
    install_optimizer(watcher, patches)
    install_zero(watcher, patches)
    install_schedulers(watcher, patches)


class Anchor:
    """Lives exactly as long as the graph it is hung into."""

    __slots__ = ("__weakref__",)


# forward


def install_forward(watcher: Watcher, patches: Patches) -> None:
    """The user's own call of a module with parameters is a root forward; calls inside it are only followed when deep."""
    original = nn.Module.__call__
    stack, known, run, pace = watcher.stack, watcher.known, watcher.run, watcher.pace

    def call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return original(self, *args, **kwargs)
        if watcher.deep.tired:
            watcher.deep.stop()
        if stack:
            if not watcher.deep.on:
                return original(self, *args, **kwargs)
            return nested(watcher, original, self, args, kwargs)
        record = known.get(id(self))
        if (record is None or record.ref() is not self) and not _is_root(watcher, self):
            return original(self, *args, **kwargs)
        stack.append(self)
        try:
            if watcher.deep.on and not self.training and isinstance(self, FAST_PATHS):
                result = watcher.deep.aside(original, self, args, kwargs)
            else:
                result = original(self, *args, **kwargs)
        finally:
            stack.clear()
        run.forwards += 1
        if watcher.rich:
            forwarded(watcher, self, args, kwargs, result)
        else:
            pace.calls += 1
            if not (self.training and torch.is_grad_enabled()) and pace.woken():
                watcher.open()
                forwarded(watcher, self, args, kwargs, result)
        return result

    patches.put(nn.Module, "__call__", call, busy=True)


def _is_root(watcher: Watcher, module: nn.Module) -> bool:
    """Whether a module that is new to us has parameters; where it was compiled before the watch began, that is said."""
    found = _has_parameters(module)
    if found and watcher.deep.on:
        parts = module.modules()
        if any(one._compiled_call_impl is not None or "_orig_mod" in one._modules for one in parts):  # noqa: SLF001 - nothing else tells
            watcher.deep.end()
    return found


def _has_parameters(module: nn.Module) -> bool:
    if module._parameters:  # noqa: SLF001 - parameters() builds a set of everything, this is asked at every call
        return True
    return any(_has_parameters(child) for child in module._modules.values() if child is not None)  # noqa: SLF001 - see above


def nested(
    watcher: Watcher, original: Callable[..., Any], module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A module inside a root, on a deep step: the stack tells operations where they run.

    Attention has a fast path in eval mode that any function mode switches off; ours steps aside for it.
    """
    watcher.stack.append(module)
    try:
        if not module.training and isinstance(module, FAST_PATHS):
            result = watcher.deep.aside(original, module, args, kwargs)
        else:
            result = original(module, *args, **kwargs)
        if waited_for(watcher, module):
            layer_called(watcher, module, args, kwargs, result)
        return result
    finally:
        if watcher.stack:
            watcher.stack.pop()


def waited_for(watcher: Watcher, module: nn.Module) -> bool:
    """Whether some sentinel waits for layers of this class of PyTorch's; users have an `RNN` of their own."""
    kind = type(module)
    return kind.__name__ in watcher.by_name and kind.__module__.startswith("torch.nn.")


def layer_called(
    watcher: Watcher, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> None:
    """A layer that some sentinel waits for by the name of its class."""
    start = perf_counter_ns()
    place = watcher.map.place(watcher.map.frame(3))
    call = Call(watcher.run, place, type(module).__name__, "layer")
    call.deep = watcher.deep.on
    call.args, call.kwargs, call.result = (module, *args), kwargs, result
    call.grad_enabled = torch.is_grad_enabled()
    call.modules = tuple(watcher.stack) or (module,)
    watcher.show(call, watcher.by_name[call.name])
    watcher.pace.spent_ns += perf_counter_ns() - start


def forwarded(watcher: Watcher, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
    """A root module was called."""
    run, pace = watcher.run, watcher.pace
    grad = torch.is_grad_enabled()
    start = perf_counter_ns()
    if not pace.forwarded():
        watcher.close()
    if not watcher.busy:
        place = watcher.map.place(watcher.map.frame(2))
        record = root(watcher, module, place)
        record.forwards += 1
        record.train_forwards += module.training
        first = next(graph.tensors_in(result), None)
        with watcher.shield():
            requires_grad = first is not None and first.requires_grad
        facts = {"training": module.training, "grad_enabled": grad, "requires_grad": requires_grad, "record": record}
        watcher.add(Event("forward", "forward", place, record.key, facts))
        sentinels = watcher.by_name.get("forward")
        if sentinels:
            call = Call(run, place, "forward", "forward")
            call.args, call.kwargs, call.result, call.grad_enabled = (module, *args), kwargs, result, grad
            call.modules = (module,)
            watcher.show(call, sentinels)
        if waited_for(watcher, module):
            layer_called(watcher, module, args, kwargs, result)
        if not (module.training and grad):
            watcher.deep.evaluate()
    pace.spent_ns += perf_counter_ns() - start


def root(watcher: Watcher, module: nn.Module, place: Any) -> RootRecord:
    """What is known about this root module."""
    record = watcher.known.get(id(module))
    if record is None or record.thing is not module:
        record = watcher.known[id(module)] = RootRecord(module, place)
        watcher.run.roots.append(record)
    return record  # type: ignore[no-any-return]  # the table holds records of several kinds


# backward


def install_backward(watcher: Watcher, patches: Patches) -> None:
    """`Tensor.backward` ends in `torch.autograd.backward`."""
    original, run, pace = torch.autograd.backward, watcher.run, watcher.pace

    @functools.wraps(original)
    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling() or watcher.busy:
            return original(tensors, *args, **kwargs)
        run.backwards += 1
        loss = tensors if isinstance(tensors, Tensor) else next(graph.tensors_in(tensors), None)
        if loss is None or not watcher.rich:
            return original(tensors, *args, **kwargs)
        return looked_at(loss, tensors, args, kwargs)

    def looked_at(loss: Tensor, tensors: Any, args: Any, kwargs: Any) -> Any:
        with watcher.shield():
            event = before_backward(watcher, loss)
        result = original(tensors, *args, **kwargs)
        with watcher.shield():
            after_backward(watcher, event, loss)
        return result

    wait = 1  # backwards until a loss is asked again

    @functools.wraps(original)
    def light(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        """Nobody looks: count, and now and then ask whether the loss is finite.

        After the matrix products of a step this code has left the caches: what takes 0.6 us in a row takes 6 there.
        """
        nonlocal wait
        run.backwards += 1
        wait -= 1
        if wait > 0:
            return original(tensors, *args, **kwargs)
        wait = pace.every
        if _can_be_read(tensors):
            run.loss = tensors.item()
            if not math.isfinite(run.loss):
                return looked_at(tensors, tensors, args, kwargs)
        return original(tensors, *args, **kwargs)

    patches.put(torch.autograd, "backward", backward, light)


def _can_be_read(loss: Any) -> bool:
    """Whether its value is known without waiting for a device, and can be asked for without being seen by a mode."""
    return type(loss) is Tensor and not _len_torch_function_stack() and loss.is_cpu and loss.numel() == 1


def before_backward(watcher: Watcher, loss: Tensor) -> Event:
    """Look at the loss and its graph before it is freed."""
    run, node = watcher.run, loss.grad_fn
    if node is not None:
        anchor = node.metadata["torchlore"] = Anchor()  # type: ignore[index]  # a dict, declared as a method
        run.graphs.append(weakref.ref(anchor))
        inner = graph.innermost(node).metadata["torchlore inner"] = Anchor()
        run.activations.append(weakref.ref(inner))
    finite = True
    if loss.is_cpu and loss.numel() == 1:
        run.loss = loss.item()
        finite = math.isfinite(run.loss)
    elif loss.is_cuda and loss.numel() == 1:
        watcher.losses.ask(loss)
    start = perf_counter_ns()
    place = watcher.map.place(watcher.map.frame(2))
    facts: dict[str, Any] = {
        "leaf": node is None,
        "made_by": graph.made_by(loss, factors=True),
        "finite": finite,
        "shape": loss.shape,
    }
    if not finite:
        facts["birth"] = graph.first_nonfinite(loss)
    if node is not None and watcher.walks():
        facts["leaves"], facts["nodes"] = graph.walk(loss)
        run.reached.update(facts["leaves"])
    for record in run.optimizers:
        _look_for_zeroing_by_hand(record)
    facts["before"] = {record.key: _gradient_now(record, run) for record in run.optimizers}
    event = Event("backward", "backward", place, 0, facts)
    watcher.pace.spent_ns += perf_counter_ns() - start
    return event


def _look_for_zeroing_by_hand(record: OptimizerRecord) -> None:
    """`p.grad.zero_()` raises the version; `p.grad.data.zero_()` does not, but leaves zeros."""
    parameter = record.first() if record.first is not None else None
    grad = parameter.grad if parameter is not None else None
    if record.zeroed or record.gradient is None or grad is not record.gradient():
        return
    if grad is None:
        return
    if grad._version == record.version and (grad.is_sparse or grad.device.type != "cpu" or grad.any()):  # noqa: SLF001 - documented as the in-place counter
        return
    if grad._version != record.version and record.touched:  # noqa: SLF001 - see above
        return
    record.zeroed = True


def _gradient_now(record: OptimizerRecord, run: Run) -> tuple[int, int, int] | None:
    """Its trace, None where the gradient is gone; whether it is all zero is asked only after an evaluation's backward."""
    trace = record.trace()
    if trace is None or not run.evaluated:
        return trace
    grad = record.first().grad if record.first is not None else None  # type: ignore[union-attr]  # it has a trace, so it is there
    return None if grad is not None and not graph.waits(grad) and not grad.any() else trace


def _evaluates(forwards: list[Event]) -> bool:
    """Whether a graph was built in eval mode alone, by modules that are trained otherwise: the last call of each counts."""
    last = {one.subject: one.facts for one in forwards}.values()
    return any(facts["requires_grad"] for facts in last) and not any(
        facts["training"] or not facts["record"].train_forwards for facts in last
    )


def _trains(forward: Event) -> bool:
    return bool(forward.facts["training"] and forward.facts["grad_enabled"])


def after_backward(watcher: Watcher, event: Event, loss: Tensor) -> None:
    """The gradients are there: an evaluation that ran before this is over."""
    start = perf_counter_ns()
    traces = event.facts["traces"] = {}
    for record in watcher.run.optimizers:
        record.touched = True
        traces[record.key] = record.trace()
    events = watcher.since(watcher.phase_mark)
    walks = [one for one in events if one.group in ("forward", "batch")]
    forwards = [one for one in walks if one.group == "forward"]
    watcher.run.evaluated = event.facts["evaluates"] = _evaluates(forwards)
    if len(walks) >= 3 or any(one.group == "forward" and not _trains(one) for one in walks):
        watcher.show(Phase(watcher.run, events, final=False), watcher.by_picture["Phase"])
    watcher.add(event)
    watcher.phase_mark = watcher.mark
    sentinels = watcher.by_name.get("backward")
    if sentinels:
        call = Call(watcher.run, event.place, "backward", "backward")
        call.args, call.kwargs = (loss,), event.facts
        watcher.show(call, sentinels)
    watcher.pace.spent_ns += perf_counter_ns() - start


# zero_grad


def install_zero(watcher: Watcher, patches: Patches) -> None:
    """`Optimizer.zero_grad` and `Module.zero_grad`."""
    of_optimizer, of_module = optimizers.Optimizer.zero_grad, nn.Module.zero_grad

    @functools.wraps(of_optimizer)
    def zero_optimizer(self: Any, *args: Any, **kwargs: Any) -> None:
        of_optimizer(self, *args, **kwargs)
        if watcher.rich and not is_compiling() and not watcher.busy:
            found = watcher.known.get(id(self))
            if found is not None:
                zeroed(watcher, [found], self, "Optimizer.zero_grad")

    @functools.wraps(of_module)
    def zero_module(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        of_module(self, *args, **kwargs)
        if watcher.rich and not is_compiling() and not watcher.busy:
            mine = {id(parameter) for parameter in self.parameters()}
            zeroed(watcher, [one for one in watcher.run.optimizers if _shares(one, mine)], self, "Module.zero_grad")

    patches.put(optimizers.Optimizer, "zero_grad", zero_optimizer, busy=True)
    patches.put(nn.Module, "zero_grad", zero_module, busy=True)


def _shares(record: OptimizerRecord, parameters: set[int]) -> bool:
    optimizer = record.optimizer
    return optimizer is not None and any(
        id(p) in parameters for group in optimizer.param_groups for p in group["params"]
    )


def zeroed(watcher: Watcher, records: list[Any], owner: Any, name: str) -> None:
    """These optimizers' gradients were zeroed."""
    start = perf_counter_ns()
    place = watcher.map.place(watcher.map.frame(2))
    for record in records:
        record.zeroed = True
    watcher.add(Event(name, "zero", place, id(owner), {"optimizers": {record.key for record in records}}))
    sentinels = watcher.by_name.get(name)
    if sentinels:
        call = Call(watcher.run, place, name, "zero")
        call.args = (owner,)
        watcher.show(call, sentinels)
    watcher.pace.spent_ns += perf_counter_ns() - start


# schedulers and loss scaling


def install_schedulers(watcher: Watcher, patches: Patches) -> None:
    """Every class of `torch.optim.lr_scheduler` with a step of its own, and `GradScaler.unscale_`."""
    for kind in {one for one in vars(lr_scheduler).values() if isinstance(one, type)}:
        for name in ("step", "__init__"):
            if name in vars(kind) and (
                issubclass(kind, lr_scheduler.LRScheduler) or kind is lr_scheduler.ReduceLROnPlateau
            ):
                wrapper = _scheduler_step if name == "step" else _scheduler_init
                patches.put(kind, name, wrapper(watcher, vars(kind)[name]))
    unscale = torch.amp.GradScaler.unscale_

    @functools.wraps(unscale)
    def unscale_(self: Any, optimizer: Any) -> None:
        unscale(self, optimizer)
        found = watcher.known.get(id(optimizer))
        if watcher.rich and found is not None:
            place = watcher.map.place(watcher.map.frame(1))
            watcher.add(Event("GradScaler.unscale_", "unscale", place, id(self), {"optimizers": {found.key}}))
            ask(watcher, Call(watcher.run, place, "GradScaler.unscale_", "unscale"), (self, optimizer), {}, None, False)

    patches.put(torch.amp.GradScaler, "unscale_", unscale_, busy=True)


def _scheduler_init(watcher: Watcher, original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        busy, watcher.busy = watcher.busy, True  # its own first step is none of the user's
        try:
            original(self, optimizer, *args, **kwargs)
        finally:
            watcher.busy = busy
        scheduler(watcher, self)

    return init


def scheduler(watcher: Watcher, thing: Any) -> SchedulerRecord:
    """What is known about this scheduler."""
    record = watcher.known.get(id(thing))
    if record is None or record.thing is not thing:
        place = watcher.map.place(watcher.map.frame(2))
        owner = watcher.known.get(id(getattr(thing, "optimizer", None)))
        record = watcher.known[id(thing)] = SchedulerRecord(thing, place, owner)
        watcher.run.schedulers.append(record)
        record.seen = type(thing).step.__module__ == lr_scheduler.__name__
        for inner in getattr(thing, "_schedulers", ()):
            if id(inner) in watcher.known:
                watcher.known[id(inner)].seen = False
        if owner is not None:
            owner.schedulers.append(record)
    return record  # type: ignore[no-any-return]  # the table holds records of several kinds


def _scheduler_step(watcher: Watcher, original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def step(self: Any, *args: Any, **kwargs: Any) -> None:
        if is_compiling() or watcher.busy:
            original(self, *args, **kwargs)
            return
        make = watcher.map.maker(sys._getframe(1))  # noqa: SLF001 - the documented way to look up the stack
        watcher.busy = True
        try:
            make(original, (self, *args), kwargs)
        finally:
            watcher.busy = False
        scheduled(watcher, self, args, kwargs)

    return step


def scheduled(watcher: Watcher, thing: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """A scheduler made a step."""
    record = scheduler(watcher, thing)
    record.steps += 1
    if not watcher.rich and record.steps > 256:
        watcher.pace.calls += 1
        return
    start = perf_counter_ns()
    place = watcher.map.place(watcher.map.frame(2))
    record.step_place = place
    owner = record.optimizer
    record.stepped_at.append(owner.steps if owner is not None else 0)
    keys = {owner.key} if owner is not None else set()
    watcher.add(Event("scheduler.step", "schedule", place, record.key, {"optimizers": keys, "record": record}))
    ask(watcher, Call(watcher.run, place, "scheduler.step", "schedule"), (thing, *args), kwargs, None, False)
    watcher.pace.spent_ns += perf_counter_ns() - start

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
from torchlore.watch.pictures import Call, Event, Phase, Step
from torchlore.watch.records import OptimizerRecord, Point, RootRecord, SchedulerRecord
from torchlore.watch.session import StopAfterSteps, Watcher
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
        if (record is None or record.ref() is not self) and not _has_parameters(self):
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
            pace.light += 1
            if not (self.training and torch.is_grad_enabled()) and pace.woken():
                watcher.open()
                forwarded(watcher, self, args, kwargs, result)
        return result

    patches.put(nn.Module, "__call__", call, busy=True)


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
    original = torch.autograd.backward

    @functools.wraps(original)
    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling() or watcher.busy:
            return original(tensors, *args, **kwargs)
        loss = tensors if isinstance(tensors, Tensor) else next(graph.tensors_in(tensors), None)
        if loss is None or (_is_quiet(watcher, loss) and not watcher.rich):
            return original(tensors, *args, **kwargs)
        with watcher.shield():
            event = before_backward(watcher, loss)
        result = original(tensors, *args, **kwargs)
        with watcher.shield():
            after_backward(watcher, event, loss)
        return result

    patches.put(torch.autograd, "backward", backward)


def _is_quiet(watcher: Watcher, loss: Tensor) -> bool:
    """Count, and say whether the loss is finite as far as that can be known without waiting or being seen."""
    watcher.run.backwards += 1
    watcher.pace.light += 2
    if watcher.rich or _len_torch_function_stack() or not loss.is_cpu or loss.numel() != 1:
        return True
    value = watcher.run.loss = loss.item()
    return math.isfinite(value)


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
        "made_by": graph.made_by(loss),
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


# optimizer


def install_optimizer(watcher: Watcher, patches: Patches) -> None:
    """Global hooks of `Optimizer.step`; they fire through GradScaler, Accelerate and Lightning as well."""
    limit = watcher.options.steps or sys.maxsize
    original = optimizers.Optimizer.__init__

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if not is_compiling():
            optimizer_record(watcher, self)

    def before(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if not is_compiling() and watcher.rich:
            before_step(watcher, optimizer_record(watcher, optimizer))

    def after(optimizer: Any, args: Any, kwargs: Any) -> None:
        if is_compiling():
            return
        if watcher.rich:
            after_step(watcher, optimizer_record(watcher, optimizer), len(args) > 1 or bool(kwargs.get("closure")))
        else:
            after_light_step(watcher, optimizer_record(watcher, optimizer))
        if watcher.run.steps >= limit:
            raise StopAfterSteps(0)

    patches.put(optimizers.Optimizer, "__init__", init)
    patches.after.append(optimizers.register_optimizer_step_pre_hook(before).remove)
    patches.after.append(optimizers.register_optimizer_step_post_hook(after).remove)


def optimizer_record(watcher: Watcher, optimizer: Any) -> OptimizerRecord:
    """What is known about this optimizer."""
    found = watcher.known.get(id(optimizer))
    if found is None or found.ref() is not optimizer:
        place = watcher.map.place(watcher.map.frame(2))
        found = watcher.known[id(optimizer)] = OptimizerRecord(optimizer, place)
        found.first_rates = [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]
        watcher.run.optimizers.append(found)
        params = (p for group in optimizer.param_groups for p in group["params"])
        watcher.run.owned.update((id(p), weakref.ref(p)) for p in params)
        watcher.add(Event("Optimizer", "state", place, found.key, {"record": found}))
        ask(watcher, Call(watcher.run, place, "Optimizer", "state"), (optimizer,), {}, None, False)
    return found  # type: ignore[no-any-return]  # the table holds records of several kinds


def after_light_step(watcher: Watcher, record: OptimizerRecord) -> None:
    """Count a step; now and then begin to look closely again."""
    record.steps += 1
    watcher.run.steps += 1
    watcher.pace.light += 4
    if not watcher.run.steps % (16 * watcher.stride):
        note_point(watcher, record.optimizer, None)
    if watcher.pace.stepped(rich=False):
        watcher.open()


def before_step(watcher: Watcher, record: OptimizerRecord) -> None:
    """Whether gradients of the previous step are still in these ones."""
    with watcher.shield():
        _compare_gradients(record)


def _compare_gradients(record: OptimizerRecord) -> None:
    if record.first is None or (parameter := record.first()) is None:
        groups = record.optimizer.param_groups
        trainable = (p for group in groups for p in group["params"] if p.requires_grad)
        parameter = next(trainable, None)
        record.first = weakref.ref(parameter) if parameter is not None else None
    grad = parameter.grad if parameter is not None else None
    same = grad is not None and record.gradient is not None and grad is record.gradient()
    record.at_step = record.trace()
    record.carried_over = same and not record.zeroed and grad._version > record.version  # type: ignore[union-attr]  # noqa: SLF001 - the documented in-place counter


def after_step(watcher: Watcher, record: OptimizerRecord, closure: bool) -> None:
    """A step was made: show it, then decide how closely to look at the next."""
    record.steps += 1
    watcher.run.steps += 1
    start = perf_counter_ns()
    busy, watcher.busy = watcher.busy, False  # a step inside GradScaler.step is the user's as well
    with watcher.shield():
        _look_at_step(watcher, record, closure)
    watcher.busy = busy
    watcher.deep.stepped(record)
    if not watcher.pace.stepped(rich=True):
        watcher.deep.stop()
        watcher.close()
    watcher.pace.spent_ns += perf_counter_ns() - start


def _look_at_step(watcher: Watcher, record: OptimizerRecord, closure: bool) -> None:
    place = watcher.map.place(watcher.map.frame(3))
    watcher.add(Event("step", "step", place, record.key, {"optimizers": {record.key}}))
    if record.mark >= 0 or record.steps == 1:
        step = Step(watcher.run, place, record, watcher.since(max(record.mark, 0)))
        step.closure = closure
        step.deep = watcher.deep.due()
        watcher.show(step, watcher.by_picture["Step"])
        if "Optimizer.step" in watcher.by_name:
            call = Call(watcher.run, place, "Optimizer.step", "step")
            ask(watcher, call, (record.optimizer,), {}, None, False)
        if step.deep or not watcher.run.steps % watcher.stride:
            note_point(watcher, record.optimizer, step)
    record.mark = watcher.mark
    record.zeroed = False
    record.touched = False
    parameter = record.first() if record.first is not None else None
    grad = parameter.grad if parameter is not None else None
    record.gradient = weakref.ref(grad) if grad is not None else None
    record.version = grad._version if grad is not None else 0  # noqa: SLF001 - the documented in-place counter


def note_point(watcher: Watcher, optimizer: Any, step: Step | None) -> None:
    """One dot of the timeline; every second one is dropped when there are a thousand."""
    run, now = watcher.run, watcher.pace.elapsed_ns
    norms = step.gradient_norms if step is not None else None
    total = math.sqrt(sum(norm * norm for norm in norms.values())) if norms else None
    rate = next((float(group["lr"]) for group in optimizer.param_groups if "lr" in group), None)
    waited = sum(loader.wait_ns for loader in run.loaders)
    since, before = watcher.dotted
    share = min(1.0, (waited - before) / max(now - since, 1)) if step is not None and run.history else None
    watcher.dotted = (now, waited)
    run.history.append(Point(run.steps, now / 1e9, run.loss, rate, total, memory_used(), share))
    if len(run.history) >= 1000:
        del run.history[1::2]
        watcher.stride *= 2


def memory_used() -> int:
    """Bytes in use: on the GPU if there is one in use, else resident memory."""
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        return int(torch.cuda.memory_allocated())
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - 10 us matter here
            return int(file.read().split()[1]) * 4096
    except OSError:
        return 0


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
        watcher.busy = True
        try:
            original(self, *args, **kwargs)
        finally:
            watcher.busy = False
        scheduled(watcher, self, args, kwargs)

    return step


def scheduled(watcher: Watcher, thing: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """A scheduler made a step."""
    record = scheduler(watcher, thing)
    record.steps += 1
    if not watcher.rich and record.steps > 256:
        watcher.pace.light += 1
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

"""Light wrappers on PyTorch's own seams. Each gets out of the way while torch.compile traces, and when nobody looks."""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns
from types import FrameType
from typing import Any

import torch
from torch.compiler import is_compiling

from torchlore.watch.pictures import Call, Event
from torchlore.watch.session import Watcher
from torchlore.watch.showing import ask

LOSSES = [
    "cross_entropy",
    "nll_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "kl_div",
    "poisson_nll_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "cosine_embedding_loss",
    "ctc_loss",
]
FUNCTIONS = [
    "dropout",
    "alpha_dropout",
    "feature_alpha_dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "softmax",
    "log_softmax",
    "softmin",
    "gumbel_softmax",
]
MODULE = [
    "train",
    "eval",
    "to",
    "cuda",
    "cpu",
    "half",
    "float",
    "double",
    "bfloat16",
    "load_state_dict",
    "state_dict",
    "requires_grad_",
    "apply",
]

COLLECTIVES = ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "broadcast")

# (where it lives, its name there, the name a sentinel knows it by, its group)
CALLS = [
    *(("torch.nn.functional", name, name, "loss") for name in LOSSES),
    *(("torch.nn.functional", name, name, "other") for name in FUNCTIONS),
    *(("torch.nn.Module", name, f"Module.{name}", "mode" if name in ("train", "eval") else "state") for name in MODULE),
    *(("torch.nn.utils", name, name, "clip") for name in ("clip_grad_norm_", "clip_grad_value_")),
    *(("torch.nn.utils.clip_grad", name, name, "clip") for name in ("clip_grad_norm_", "clip_grad_value_")),
    *(
        ("torch.optim.Optimizer", n, f"Optimizer.{n}", "state")
        for n in ("state_dict", "load_state_dict", "add_param_group")
    ),
    *(("torch.amp.GradScaler", n, f"GradScaler.{n}", "other") for n in ("scale", "step", "update")),
    ("torch", "save", "torch.save", "state"),
    ("torch", "load", "torch.load", "state"),
    ("torch", "manual_seed", "manual_seed", "seed"),
    ("torch.cuda", "manual_seed_all", "cuda.manual_seed_all", "seed"),
    ("torch.cuda", "empty_cache", "cuda.empty_cache", "other"),
    ("torch.cuda", "synchronize", "cuda.synchronize", "other"),
    ("torch.autograd", "grad", "grad", "other"),
    ("torch.utils.data.distributed.DistributedSampler", "set_epoch", "set_epoch", "other"),
    ("torch.nn.parallel.DistributedDataParallel", "__init__", "DistributedDataParallel", "other"),
    ("torch.nn.DataParallel", "__init__", "DataParallel", "other"),
    *(("torch.distributed", name, name, "collective") for name in COLLECTIVES),
]
# watched only where the user's own line calls them: PyTorch uses them itself all the time
NEAR = [
    ("torch.no_grad", "__init__", "no_grad", "other"),
    ("torch.inference_mode", "__init__", "inference_mode", "other"),
    ("torch.autocast", "__init__", "autocast", "other"),
    ("torch.utils.checkpoint", "checkpoint", "checkpoint", "other"),
]
EVERY_STEP = {
    *("torch.nn.functional", "torch.nn.utils", "torch.nn.utils.clip_grad", "torch.amp.GradScaler"),
    *("autocast", "checkpoint", "torch.distributed"),
}


def resolve(dotted: str) -> Any:
    """The module or class with this dotted name."""
    parts = dotted.split(".")
    thing: Any = importlib.import_module(parts[0])
    for n, part in enumerate(parts[1:], 2):
        thing = importlib.import_module(".".join(parts[:n])) if part not in vars(thing) else getattr(thing, part)
    return thing


@dataclass(frozen=True)
class Patch:
    """One attribute that was replaced."""

    owner: Any
    name: str
    original: Any
    ours: Any
    resting: Any  # what stands there while nobody looks closely

    def swap(self, old: Any, new: Any) -> None:
        """Replace the one by the other; where somebody else has put something of his own, leave it."""
        if vars(self.owner)[self.name] is old and old is not new:
            setattr(self.owner, self.name, new)


class Patches:
    """What was replaced. Those that are called every step rest while nobody looks closely."""

    def __init__(self) -> None:
        self.all: list[Patch] = []
        self.when_changed: list[Callable[[], object]] = []
        self.after: list[Callable[[], object]] = []

    def put(self, owner: Any, name: str, wrapper: Any, resting: Any = None, *, busy: bool = False) -> None:
        """Replace an attribute; a `busy` one is taken off to rest, another may be `resting` in its place."""
        original = vars(owner)[name]
        self.all.append(Patch(owner, name, original, wrapper, original if busy else resting or wrapper))
        setattr(owner, name, wrapper)

    def wake(self) -> None:
        """Put the busy ones on."""
        for one in self.all:
            one.swap(one.resting, one.ours)
        for action in self.when_changed:
            action()

    def sleep(self) -> None:
        """Let them rest."""
        for one in reversed(self.all):
            one.swap(one.ours, one.resting)
        for action in self.when_changed:
            action()

    def undo(self) -> None:
        """Put everything back, last first."""
        for one in reversed(self.all):
            one.swap(one.resting, one.original)
            one.swap(one.ours, one.original)
        for action in self.after:
            action()


class Shield:
    """Around sentinels: their own tensor operations build no graph and are seen by no mode of the user's or ours."""

    def __enter__(self) -> None:
        self.guard = torch._C.DisableTorchFunction()  # noqa: SLF001 - no public way to step aside of function modes
        self.guard.__enter__()
        self.grad = torch.is_grad_enabled()
        torch._C._set_grad_enabled(False)  # noqa: SLF001 - what no_grad does, without its patched constructor

    def __exit__(self, *exc: object) -> None:
        torch._C._set_grad_enabled(self.grad)  # noqa: SLF001 - see above
        self.guard.__exit__(None, None, None)


def install(watcher: Watcher) -> Callable[[], None]:
    """Set every probe; returns what takes them off again."""
    from torchlore.watch.deep import Deep
    from torchlore.watch.deferred import Deferred
    from torchlore.watch.probes_data import install_data
    from torchlore.watch.probes_loop import install_loop

    patches = Patches()
    watcher.shield = Shield
    watcher.veiled = torch._C._functorch.peek_interpreter_stack  # noqa: SLF001 - no public question
    watcher.deep = Deep(watcher)
    watcher.losses = Deferred(lambda value: setattr(watcher.run, "loss", value))
    watcher.wake, watcher.doze = patches.wake, patches.sleep
    for table, near in ((CALLS, False), (NEAR, True)):
        for dotted, attribute, name, group in table:
            owner = resolve(dotted)
            if attribute not in vars(owner):  # a torch that was built without torch.distributed
                continue
            wrapper = wrap(watcher, vars(owner)[attribute], name, group, near)
            patches.put(owner, attribute, wrapper, busy=dotted in EVERY_STEP or name in EVERY_STEP)
    embedding = torch.nn.Embedding
    inner = vars(embedding)["from_pretrained"].__func__
    patches.put(embedding, "from_pretrained", classmethod(wrap(watcher, inner, "Embedding.from_pretrained", "state")))
    install_loop(watcher, patches)
    install_data(watcher, patches)
    install_aside(watcher, patches)
    install_warnings(watcher, patches)
    patches.after.append(watcher.deep.stop)
    if watcher.options.deep:
        watcher.deep.start()
    return patches.undo


def wrap(
    watcher: Watcher, original: Callable[..., Any], name: str, group: str, near: bool = False
) -> Callable[..., Any]:
    """A wrapper that reports a call and passes everything through."""
    pace, wakes = watcher.pace, near or group == "mode"  # an evaluation may begin here
    rare = group in ("state", "seed")  # seen at any time, as far as the budget goes

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return original(*args, **kwargs)
        caller = sys._getframe(1)  # noqa: SLF001 - the documented way to look up the stack
        make = watcher.map.maker(caller)
        if watcher.busy or (near and not watcher.map.is_user(caller.f_code)):
            return make(original, args, kwargs)
        if not watcher.rich:
            pace.calls += 1
            if wakes and pace.woken():
                watcher.open()
            elif not (rare and pace.allows_rare()):
                return make(original, args, kwargs)
        return called(watcher, original, name, group, args, kwargs)

    return call


def called(
    watcher: Watcher, original: Callable[..., Any], name: str, group: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Make the call; then remember it and let the sentinels look at it."""
    if watcher.deep.tired:
        watcher.deep.stop()
    start = perf_counter_ns()
    caller: FrameType = sys._getframe(2)  # noqa: SLF001 - the documented way to look up the stack
    frame = watcher.map.frame(2)
    place = watcher.map.place(frame)
    dropped = frame is caller and watcher.map.next_instruction(caller) == "POP_TOP"
    watcher.busy = True
    watcher.pace.spent_ns += perf_counter_ns() - start
    try:
        result = watcher.map.maker(caller)(original, args, kwargs)
    except Exception as error:
        watcher.busy = False
        call = Call(watcher.run, place, name, group)
        call.error = error
        ask(watcher, call, args, kwargs, None, False)
        raise
    finally:
        watcher.busy = False
    start = perf_counter_ns()
    watcher.add(Event(name, group, place, id(args[0]) if args else 0, facts_of(group, args)))
    if name == "Module.eval" and getattr(watcher.known.get(id(args[0])), "train_forwards", False):
        watcher.deep.evaluate()  # the forward of an evaluation may be the only one
    ask(watcher, Call(watcher.run, place, name, group), args, kwargs, result, dropped)
    watcher.pace.spent_ns += perf_counter_ns() - start
    return result


def facts_of(group: str, args: tuple[Any, ...]) -> dict[str, Any]:
    """What an event remembers of a call."""
    if group == "mode":
        return {"training": args[0].training}
    if args and isinstance(args[0], torch.amp.GradScaler):
        return {"enabled": args[0].is_enabled()}
    if group == "collective":
        return (
            {"tensor": id(args[0]), "numbers": args[0].numel() if isinstance(args[0], torch.Tensor) else 0}
            if args
            else {}
        )
    if group == "seed":
        return {"value": args[0] if args else None}
    return {"grad_enabled": torch.is_grad_enabled()} if group == "loss" else {}


def install_aside(watcher: Watcher, patches: Patches) -> None:
    """Tracers must not meet the deep mode; once something is compiled, it stays off for good."""
    for dotted, name in (
        ("torch", "compile"),
        ("torch.jit", "trace"),
        ("torch.jit", "script"),
        ("torch.export", "export"),
        ("torch.fx", "symbolic_trace"),
    ):
        owner = resolve(dotted)
        patches.put(owner, name, _aside(watcher, getattr(owner, name), name == "compile"))


def _aside(watcher: Watcher, original: Callable[..., Any], for_good: bool) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if for_good:
            watcher.deep.end()
        else:
            watcher.deep.stop()
        return original(*args, **kwargs)

    return call


def install_warnings(watcher: Watcher, patches: Patches) -> None:
    """A warning that Python shows becomes a call named "warning", with the user's line; it is shown as before."""
    original = warnings._showwarnmsg  # type: ignore[attr-defined]  # noqa: SLF001 - what Python's own warn() calls

    def show(message: Any) -> None:
        if watcher.rich and not watcher.busy and not is_compiling():
            place = watcher.map.place(watcher.map.frame(1))
            ask(
                watcher,
                Call(watcher.run, place, "warning", "other"),
                (message.message, message.category),
                {},
                None,
                False,
            )
        original(message)

    patches.put(warnings, "_showwarnmsg", show)

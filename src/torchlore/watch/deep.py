"""Deep steps: every tensor operation of one step is seen, by a function mode at the bottom of PyTorch's stack of modes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import thread_time_ns
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from torch._C import _len_torch_function_stack
from torch.overrides import TorchFunctionMode, _pop_mode, _push_mode, handle_torch_function
from torch.utils._device import DeviceContext

from torchlore.watch.graph import BORN
from torchlore.watch.pictures import Call

if TYPE_CHECKING:
    from types import FrameType

    from torchlore.watch.records import OptimizerRecord
    from torchlore.watch.session import Watcher

BEFORE_NS = 80_000_000  # what may be spent before the first step
FIRST = (2, 3, 8, 20)  # deep steps; later ones come with the windows of the pace
DATA = vars(Tensor.__mro__[1])["data"]  # the property .data, as function modes are shown it
HANDLE = handle_torch_function.__code__
ACTIVATIONS = frozenset(
    {"sigmoid", "softmax", "log_softmax", "relu", "tanh", "__rdiv__", "__rtruediv__", "__truediv__", "div"}
)
EVALUATIONS = 3  # after the first step, so many evaluations are looked at in depth
EVALUATION_NS = 30_000_000  # and what may be spent on each


def _asker(frame: FrameType) -> FrameType:
    """Who called the function: one written in Python asks for modes itself, through `handle_torch_function`."""
    above = frame.f_back if frame.f_code is HANDLE else None
    return above.f_back or frame if above is not None else frame


class Deep(TorchFunctionMode):
    """On from the beginning until the first step (as long as it is cheap), then on single steps."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self.watcher = watcher
        self.on = False
        self.tired = False  # its time is spent: it looks no more, and is taken out at the next call of a module
        self.owner: OptimizerRecord | None = None  # the optimizer whose next step ends this deep step
        self.spent_ns = 0
        self.limit_ns = BEFORE_NS  # where this stretch ends though no step has come
        self.evaluations = 0

    def due(self) -> bool:
        """Whether the step that ends now may be looked at in depth."""
        return self.on or self.watcher.run.steps in FIRST or self.watcher.pace.left == 1

    def start(self) -> None:
        """Put the mode at the bottom: a mode the user opened earlier may be closed while ours is on."""
        if self.on or self.watcher.run.compiled:
            return
        modes = [_pop_mode() for _ in range(_len_torch_function_stack())]
        if modes and isinstance(modes[-1], DeviceContext):
            _push_mode(modes.pop())
        _push_mode(self)
        for mode in reversed(modes):
            _push_mode(mode)
        self.on = True

    def end(self) -> None:
        """Stop for good: something is compiled, and what stands now is what its code will be guarded by."""
        self.stop()
        self.watcher.run.compiled = True
        self.watcher.wake()

    def stop(self) -> None:
        """Take the mode out, wherever it lies; inside one of its own calls it is not there, and PyTorch puts it back."""
        if not self.on:
            return
        modes = [_pop_mode() for _ in range(_len_torch_function_stack())]
        self.on = all(mode is not self for mode in modes)
        self.tired = self.on and self.tired
        for mode in reversed(modes):
            if mode is not self:
                _push_mode(mode)

    def aside(
        self, original: Callable[..., Any], module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call this without the mode."""
        self.stop()
        try:
            return original(module, *args, **kwargs)
        finally:
            self.start()

    def stepped(self, record: OptimizerRecord) -> None:
        """A step has ended: leave the mode, or enter it for the next one."""
        steps = self.watcher.run.steps
        if self.on and (self.owner is None or self.owner is record):
            self.stop()
        if self.watcher.options.deep and not self.on and (steps + 1 in FIRST or self.watcher.pace.left == 2):
            self.owner, self.limit_ns = record, sys.maxsize
            self.start()

    def evaluate(self) -> None:
        """A module was put into eval mode, or called so or without gradients: look at the operations that follow, a few times."""
        watcher = self.watcher
        if self.on or not watcher.options.deep or not watcher.run.steps or self.evaluations >= EVALUATIONS:
            return
        self.evaluations += 1
        self.owner, self.limit_ns = None, self.spent_ns + EVALUATION_NS
        self.start()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Make the operation, then show it to the sentinels that wait for it by name."""
        kwargs = kwargs or {}
        watcher = self.watcher
        caller = sys._getframe(1)  # noqa: SLF001 - the documented way to look up the stack
        make = watcher.map.maker(_asker(caller))
        if watcher.busy or self.tired:
            return make(func, args, kwargs)
        result = make(func, args, kwargs)
        start = thread_time_ns()  # what others do on a busy machine is no cost of ours
        name = getattr(func, "__name__", "")
        if name == "__get__":  # a property
            name = "data" if getattr(func, "__self__", None) is DATA else ""
        if name in ACTIVATIONS and isinstance(result, Tensor) and result.grad_fn is not None:
            result.grad_fn.metadata[BORN] = watcher.map.place(watcher.map.frame(1))  # type: ignore[index]  # a dict, declared as a method
        if name and name != "backward":  # that has a probe of its own
            dropped = watcher.map.is_user(caller.f_code) and watcher.map.next_instruction(caller) == "POP_TOP"
            sentinels = watcher.by_name.get(name, [])
            if dropped and not name.endswith("_") and isinstance(result, Tensor | tuple):
                sentinels = [*sentinels, *watcher.by_name.get("discarded", ())]
            if sentinels:
                self.look(name, args, kwargs, result, dropped, sentinels)
        spent = thread_time_ns() - start + 2000
        watcher.pace.spent_ns += spent
        self.spent_ns += spent
        self.tired = (
            self.spent_ns > self.limit_ns
        )  # PyTorch puts the mode back after this call: it cannot leave from here
        return result

    def look(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, dropped: bool, sentinels: list[Any]
    ) -> None:
        """Show one operation."""
        watcher = self.watcher
        call = Call(watcher.run, watcher.map.place(watcher.map.frame(2)), name, "operation")
        call.args, call.kwargs, call.result, call.discarded, call.deep = args, kwargs, result, dropped, True
        call.modules = tuple(watcher.stack)
        watcher.show(call, sentinels)

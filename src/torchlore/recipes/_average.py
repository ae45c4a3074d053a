"""An exponential moving average of a model's weights. Users import it from `optim`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchlore.recipes import _wants
from torchlore.recipes.device import unwrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class EMA:
    """An exponential moving average of a model's weights, which resumes exactly.

    Floating-point parameters are averaged; buffers are copied, so that running statistics belong to the last step,
    unless `average_buffers` is given. With `warmup` the decay of update n is at most (1 + n) / (10 + n), so that the
    random first weights fade at once. The state is the average and the number of updates, nothing else.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> ema = EMA(net, decay=0.5)
    >>> before = net.weight.item()
    >>> with torch.no_grad(): _ = net.weight.add_(1)
    >>> ema.update(net); round(ema.average["weight"].item() - before, 4)
    0.5
    """

    def __init__(
        self, model: nn.Module, decay: float = 0.9999, *, warmup: bool = False, average_buffers: bool = False
    ) -> None:
        _wants.number("EMA", "of at least 0 and below 1", lambda x: 0 <= x < 1, decay=decay)
        self.decay, self.warmup, self.average_buffers = decay, warmup, average_buffers
        self.updates = 0
        self.average = {name: value.detach().clone() for name, value in _tensors(model).items()}
        self._slots: tuple[nn.Module, _Slots, _Slots] | None = None

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Take the model's present weights into the average; call it after each `optimizer.step()`."""
        inner = unwrap(model)
        if self._slots is None or self._slots[0] is not inner:
            self._check(_tensors(inner))
            self._slots = (inner, *_slots(inner, set(self.average), self.average_buffers))
        mixed, copied = self._slots[1:]
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates)) if self.warmup else self.decay
        live = [owner[leaf] for _, owner, leaf in mixed]
        torch._foreach_lerp_([self.average[name] for name, *_ in mixed], live, 1 - decay)
        if copied:
            live = [owner[leaf] for _, owner, leaf in copied]
            torch._foreach_copy_([self.average[name] for name, *_ in copied], live)
        self.updates += 1

    def _check(self, live: Mapping[str, torch.Tensor]) -> None:
        if live.keys() != self.average.keys():
            odd = sorted(live.keys() ^ self.average.keys())
            raise ValueError(f"the model no longer fits the average: {odd[0]} is in one of them only")

    @torch.no_grad()
    def copy_to(self, model: nn.Module) -> None:
        """Overwrite a model's weights and buffers with the average."""
        live = _tensors(model)
        self._check(live)
        for name, value in live.items():
            value.copy_(self.average[name])

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[nn.Module]:
        """Inside, the model has the averaged weights; after it, its own again, also when an error is raised."""
        own = {name: value.detach().clone() for name, value in _tensors(model).items()}
        self.copy_to(model)
        try:
            yield model
        finally:
            with torch.no_grad():
                for name, value in _tensors(model).items():
                    value.copy_(own[name])

    def state_dict(self) -> dict[str, Any]:
        """Give the average and the number of updates."""
        return {"average": dict(self.average), "updates": self.updates}

    @torch.no_grad()
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken."""
        self._check(state["average"])
        for name, value in self.average.items():
            if value.shape != state["average"][name].shape:
                shapes = f"{tuple(state['average'][name].shape)}, not {tuple(value.shape)}"
                raise ValueError(f"the saved average holds {name} of shape {shapes}")
            value.copy_(state["average"][name])
        self.updates = int(state["updates"])


# A tensor's name, the dict of the module that holds it, and its name there: a parameter that is replaced is seen.
_Slots = list[tuple[str, dict[str, Any], str]]


def _slots(model: nn.Module, names: set[str], average_buffers: bool) -> tuple[_Slots, _Slots]:
    """Where the tensors to mix and the tensors to copy are found, so that no step walks through the modules."""
    mixed: _Slots = []
    copied: _Slots = []
    for path, module in model.named_modules():
        prefix = f"{path}." if path else ""
        for holder, wanted in ((module._parameters, True), (module._buffers, average_buffers)):  # noqa: SLF001 - the live dicts
            for leaf, value in holder.items():
                if value is not None and prefix + leaf in names:
                    mixes = wanted and value.is_floating_point()
                    (mixed if mixes else copied).append((prefix + leaf, holder, leaf))
    return mixed, copied


def _tensors(model: nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and persistent buffers, each tensor once, under the names of the unwrapped model."""
    inner = unwrap(model)
    saved = inner.state_dict(keep_vars=True)
    return {name: t for name, t in [*inner.named_parameters(), *inner.named_buffers()] if name in saved}

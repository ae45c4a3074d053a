"""Showing a call to the sentinels that wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torchlore.watch.pictures import Call
    from torchlore.watch.session import Watcher


def ask(
    watcher: Watcher, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, dropped: bool
) -> None:
    """Show a call to the sentinels that wait for its name, for any call, or for results thrown away."""
    sentinels = [*watcher.by_name.get(call.name, ()), *watcher.by_picture["Call"]]
    if dropped and isinstance(result, torch.Tensor) and not call.name.endswith("_"):
        sentinels += watcher.by_name.get("discarded", ())
    if not sentinels:
        return
    call.args, call.kwargs, call.result, call.discarded = args, kwargs, result, dropped
    call.grad_enabled = torch.is_grad_enabled()
    call.modules = tuple(watcher.stack)
    watcher.show(call, sentinels)

"""The gradients of a step as one CUDA graph: the host says "again" instead of launching every kernel anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from torchlore.recipes.seed import restore_rng, rng_state
from torchlore.train.run import Trouble

if TYPE_CHECKING:
    from torchlore.train.batches import Batch
    from torchlore.train.loop import Parts

Gradients = Callable[["Parts", "Batch", torch.device], Tensor]
WATCHED = 64  # steps that the watch looks at closely
WARM = 3  # steps before the capture, in which libraries choose their kernels and make their workspaces
CLOSE = 0.02  # how far, as a share, the gradients of the graph may be from those of the step: kernels may add up anew


class Replay:
    """Gives the gradients of a batch by replaying a captured step; a batch of another shape goes the ordinary way.

    Only the gradients are captured: clipping, the optimizer and the average run as ever. Random numbers go on from
    replay to replay as they would from step to step, because torch counts them for its graphs.
    """

    def __init__(self, plain: Gradients, settle: Callable[[], object] | None, warm: int = WARM) -> None:
        self.plain, self.settle, self.warm = plain, settle, warm
        self.shapes: tuple[torch.Size, torch.Size] | None = None
        self.graph: torch.cuda.CUDAGraph | None = None
        self.static: Batch | None = None
        self.loss = torch.empty(0)
        self.found: list[tuple[Tensor, Tensor]] = []  # each parameter and the gradient that the graph writes

    def __call__(self, parts: Parts, batch: Batch, device: torch.device) -> Tensor:
        """The loss; the parameters have their gradients."""
        shapes = batch.pictures.shape, batch.labels.shape
        self.shapes = self.shapes or shapes
        if shapes != self.shapes or batch.share != 1:
            return self.plain(parts, batch, device)
        if self.warm:
            self.warm -= 1
            return self._aside(parts, batch, device)
        if self.graph is None or self.static is None:
            if self.settle is not None:
                self.settle()
            return self._first(parts, batch, device)
        self.static.pictures.copy_(batch.pictures, non_blocking=True)
        self.static.labels.copy_(batch.labels, non_blocking=True)
        return self._again(self.graph)

    def _again(self, graph: torch.cuda.CUDAGraph) -> Tensor:
        for parameter, gradient in self.found:
            parameter.grad = gradient
        graph.replay()
        return self.loss.clone()  # the next replay writes over it

    def _aside(self, parts: Parts, batch: Batch, device: torch.device) -> Tensor:
        """A step on another stream, as torch wants it before a capture."""
        main, aside = torch.cuda.current_stream(device), torch.cuda.Stream(device)
        aside.wait_stream(main)
        with torch.cuda.stream(aside):
            loss = self.plain(parts, batch, device)
        main.wait_stream(aside)
        return loss

    def _first(self, parts: Parts, batch: Batch, device: torch.device) -> Tensor:
        """Capture this step, replay it, and compare with the step itself."""
        static = replace(batch, pictures=batch.pictures.to(device).clone(), labels=batch.labels.to(device).clone())
        numbers, buffers = rng_state(), [one.clone() for one in parts.model.buffers()]
        wanted = self._aside(parts, static, device)
        gradients = _flat(parts)
        parts.optimizer.zero_grad(set_to_none=True)
        self._capture(parts, static, device)
        assert self.graph is not None
        with torch.no_grad():
            for buffer, before in zip(parts.model.buffers(), buffers, strict=True):
                buffer.copy_(before)
        restore_rng(numbers)
        loss = self._again(self.graph)
        away = float((_flat(parts) - gradients).norm() / gradients.norm().clamp(min=1e-12))
        if not (torch.allclose(loss, wanted, rtol=CLOSE, atol=1e-5) and away < CLOSE):
            raise Trouble(
                f"the step's CUDA graph gives the loss {float(loss):.6g} where the step gives {float(wanted):.6g}, and gradients {away:.2%} away: "
                "the model decides something in Python at each step, which a graph cannot; give --compile none"
            )
        return loss

    def _capture(self, parts: Parts, static: Batch, device: torch.device) -> None:
        graph = torch.cuda.CUDAGraph()
        try:
            # thread_local: the threads that decode pictures go on
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                self.loss = self.plain(parts, static, device)
        except RuntimeError as error:
            why = str(error).strip().splitlines()[0]
            raise Trouble(f"the step cannot be captured as a CUDA graph ({why}): give --compile none") from None
        self.graph, self.static = graph, static
        self.found = [(one, one.grad) for one in parts.model.parameters() if one.grad is not None]


def _flat(parts: Parts) -> Tensor:
    found = [one.grad.flatten().float() for one in parts.model.parameters() if one.grad is not None]
    return torch.cat(found)

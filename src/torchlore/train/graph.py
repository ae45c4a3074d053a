"""A step as one CUDA graph: the host says "again" instead of launching every kernel anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from torchlore.recipes.seed import restore_rng, rng_state
from torchlore.train.run import Trouble

if TYPE_CHECKING:
    from torchlore.train.batches import Batch
    from torchlore.train.loop import Parts

Gradients = Callable[["Parts", "Batch", torch.device], Tensor]
Update = Callable[["Parts"], Tensor | None]
WATCHED = 64  # steps that the watch looks at closely
WARM = 3  # steps before the capture, in which libraries choose their kernels and make their workspaces
CLOSE = 0.02  # how far, as a share, the gradients of the graph may be from those of the step: kernels may add up anew


class Replay:
    """Makes a step by replaying a captured one; a batch of another shape goes the ordinary way.

    The optimizer is captured too, unless the gradients are clipped or scaled, which the host has a say in; the average
    of the weights is always the host's. Random numbers go on from replay to replay as they would from step to step,
    because torch counts them for its graphs.
    """

    def __init__(self, gradients: Gradients, update: Update, settle: Callable[[], object] | None, warm: int) -> None:
        self.gradients, self.update, self.settle, self.warm = gradients, update, settle, warm
        self.shapes: tuple[torch.Size, torch.Size] | None = None
        self.graph: torch.cuda.CUDAGraph | None = None
        self.static: Batch | None = None
        self.loss = torch.empty(0)
        self.found: list[tuple[Tensor, Tensor]] = []  # each parameter and the gradient that the graph writes
        self.whole = False  # whether the optimizer's step is in the graph

    def __call__(self, parts: Parts, batch: Batch, device: torch.device) -> tuple[Tensor, Tensor | None]:
        """The loss, and the norm of the gradient where it is clipped."""
        shapes = batch.pictures.shape, batch.labels.shape
        self.shapes = self.shapes or shapes
        if shapes != self.shapes or batch.share != 1:
            return self.gradients(parts, batch, device), self.update(parts)
        if self.warm:
            self.warm -= 1
            return self._aside(parts, batch, device), self.update(parts)
        if self.graph is None or self.static is None:
            if self.settle is not None:
                self.settle()
            return self._first(parts, batch, device), self._rest(parts)
        self.static.pictures.copy_(batch.pictures, non_blocking=True)
        self.static.labels.copy_(batch.labels, non_blocking=True)
        self.graph.replay()
        return self.loss.clone(), self._rest(parts)  # the next replay writes over the loss

    def _rest(self, parts: Parts) -> Tensor | None:
        """What is left of the step after the graph."""
        if self.whole:
            if parts.ema is not None:
                parts.ema.update(parts.model)
            return None
        for parameter, gradient in self.found:
            parameter.grad = gradient
        return self.update(parts)

    def _aside(self, parts: Parts, batch: Batch, device: torch.device) -> Tensor:
        """The gradients on another stream, as torch wants it before a capture."""
        main, aside = torch.cuda.current_stream(device), torch.cuda.Stream(device)
        aside.wait_stream(main)
        with torch.cuda.stream(aside):
            loss = self.gradients(parts, batch, device)
        main.wait_stream(aside)
        return loss

    def _first(self, parts: Parts, batch: Batch, device: torch.device) -> Tensor:
        """Capture this step, replay it, and compare with the step itself."""
        static = replace(batch, pictures=batch.pictures.to(device).clone(), labels=batch.labels.to(device).clone())
        numbers, buffers = rng_state(), [one.clone() for one in parts.model.buffers()]
        wanted = self._aside(parts, static, device)
        gradients = _flat([one.grad for one in parts.model.parameters() if one.grad is not None])
        parts.optimizer.zero_grad(set_to_none=True)
        graph = self._capture(parts, static, device)
        with torch.no_grad():
            for buffer, before in zip(parts.model.buffers(), buffers, strict=True):
                buffer.copy_(before)
        restore_rng(numbers)
        graph.replay()
        loss = self.loss.clone()
        away = float((_flat([one for _, one in self.found]) - gradients).norm() / gradients.norm().clamp(min=1e-12))
        if not (torch.allclose(loss, wanted, rtol=CLOSE, atol=1e-5) and away < CLOSE):
            raise Trouble(
                f"the step's CUDA graph gives the loss {float(loss):.6g} where the step gives {float(wanted):.6g}, and gradients {away:.2%} away: "
                "the model decides something in Python at each step, which a graph cannot; give --compile none"
            )
        return loss

    def _capture(self, parts: Parts, static: Batch, device: torch.device) -> torch.cuda.CUDAGraph:
        graph, self.whole = torch.cuda.CUDAGraph(), parts.clip == 0 and parts.scaler is None
        if self.whole:
            arm(parts.optimizer, device)
        try:
            # thread_local: the threads that decode pictures go on
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                self.loss = self.gradients(parts, static, device)
                if self.whole:
                    parts.optimizer.step()
        except RuntimeError as error:
            why = str(error).strip().splitlines()[0]
            raise Trouble(f"the step cannot be captured as a CUDA graph ({why}): give --compile none") from None
        self.graph, self.static = graph, static
        self.found = [(one, one.grad) for one in parts.model.parameters() if one.grad is not None]
        parts.optimizer.zero_grad(set_to_none=True)
        return graph


def _flat(gradients: list[Tensor]) -> Tensor:
    return torch.cat([one.flatten().float() for one in gradients])


def arm(optimizer: Optimizer, device: torch.device) -> None:
    """Let an optimizer read its rates from the device: a number would stay in the graph as it was."""
    for group in optimizer.param_groups:
        group["lr"] = torch.tensor(float(group["lr"]), device=device)
        if "capturable" in group:
            group["capturable"] = True


def disarmed(state: dict[str, Any]) -> dict[str, Any]:
    """An optimizer's state with plain rates, which every other run can load."""
    groups = [
        {**group, "lr": float(group["lr"])} | ({"capturable": False} if "capturable" in group else {})
        for group in state["param_groups"]
    ]
    return {**state, "param_groups": groups}

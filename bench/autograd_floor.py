"""What autograd itself costs the host on a GPU: functions that compute nothing, against the recipes that are bound by it.

PYTHONPATH=src python3 bench/autograd_floor.py
"""

from __future__ import annotations

import statistics
import time

import torch

from torchlore.recipes import losses


class Nothing(torch.autograd.Function):
    """One number from any tensors; gradients of the right shapes with whatever was in the memory."""

    @staticmethod
    def forward(ctx, *tensors):
        """Keep the inputs, as every loss does."""
        ctx.save_for_backward(*tensors)
        return tensors[0].new_zeros(())

    @staticmethod
    def backward(ctx, _grad):
        """A gradient for each."""
        return tuple(torch.empty_like(one) for one in ctx.saved_tensors)


def microseconds(work, calls: int) -> float:
    for _ in range(10):
        work()
    torch.cuda.synchronize()
    taken = []
    for _ in range(15):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        torch.cuda.synchronize()
        taken.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(taken)


def device_microseconds(work, calls: int) -> float:
    """The kernels alone: the device sleeps until the host has queued all of them."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    taken = []
    for _ in range(15):
        torch.cuda.synchronize()
        torch.cuda._sleep(200_000_000)  # noqa: SLF001  # a tenth of a second, for which there is no public call
        start.record()
        for _ in range(calls):
            work()
        end.record()
        end.synchronize()
        taken.append(start.elapsed_time(end) / calls * 1e3)
    return statistics.median(taken)


def gradient_of(loss, tensors):
    def work():
        for one in tensors:
            one.grad = None
        loss().backward()

    return work


def main() -> None:
    import torchvision

    device = "cuda"
    scores = torch.randn(64, 1, 512, 512, device=device, requires_grad=True)
    masks = (torch.rand(64, 1, 512, 512, device=device) > 0.5).float()
    logits = torch.randn(8192, 1000, device=device, requires_grad=True)
    labels = torch.randint(1000, (8192,), device=device)
    weights = list(torchvision.models.resnet50().to(device).parameters())
    rows = {
        "nothing, 1 input": (lambda: Nothing.apply(scores), [scores], 100),
        "soft IoU": (lambda: losses.iou_loss(scores, masks), [scores], 100),
        "label smoothing": (lambda: losses.label_smoothing_loss(logits, labels, 0.1), [logits], 100),
        f"nothing, {len(weights)} inputs": (lambda: Nothing.apply(*weights), weights, 30),
        "L1": (lambda: losses.l1_penalty(weights, only_weights=False), weights, 30),
    }
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}; microseconds, forward and backward")
    print(f"{'':24}{'as autograd runs it':>22}{'in one thread':>16}{'the device alone':>19}")
    for name, (loss, tensors, calls) in rows.items():
        work = gradient_of(loss, tensors)
        usual = microseconds(work, calls)
        with torch.autograd.set_multithreading_enabled(False):
            alone = microseconds(work, calls)
        print(f"{name:24}{usual:>22.0f}{alone:>16.0f}{device_microseconds(work, calls):>19.0f}", flush=True)


if __name__ == "__main__":
    main()

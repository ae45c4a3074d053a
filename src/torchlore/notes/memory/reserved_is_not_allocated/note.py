"""Torch keeps freed GPU memory for itself: reserved is what it holds, allocated is what you use.

The caching allocator asks the driver for memory in segments and keeps them after a tensor dies, because asking is
slow. `nvidia-smi` therefore shows a number that grows to the largest need and stays there. That is no leak; a leak is
`memory_allocated` that grows from step to step. A small convolution over one 321 x 321 image makes torch reserve 22
MiB on an H200, three images fit into the same, and `empty_cache()` gives back all but 2. The functions return bytes.

Watch `torch.cuda.memory_allocated()` and, for the largest batch that fits, `torch.cuda.max_memory_allocated()`. When
allocated is far below reserved and you still run out of memory, it is fragmentation: start with
`PYTORCH_ALLOC_CONF=expandable_segments:True`. `torchlore.recipes.memory.device_memory()` puts the
numbers side by side, `torch.cuda.memory_stats()` has them all.
"""

ROWS = ("memory-caching",)
SOURCES = ("004:108-109", "004:111-138")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch

    net = torch.nn.Conv2d(3, 10, kernel_size=3).to(device)
    weights = sum(p.numel() * p.element_size() for p in net.parameters())
    assert weights == 1120  # bytes: nowhere near the 700M of the notes
    out = net(torch.ones(1, 3, 321, 321, device=device))
    assert out.numel() * out.element_size() == 4_070_440  # 4 MB an image: nor does 22000M fit
    if device != "cuda":
        return

    def after(images: int) -> float:
        for _ in range(5):
            net(torch.ones(images, 3, 321, 321, device=device))
        return torch.cuda.memory_reserved() / 2**20

    del out
    torch.cuda.empty_cache()
    reserved = [after(1), after(3), after(1)]
    assert reserved[0] <= reserved[1] == reserved[2] < 200  # it grows to the largest need and stays
    assert torch.cuda.memory_allocated() < 20 * 2**20 < torch.cuda.memory_reserved()  # freed, yet kept
    held = torch.cuda.memory_reserved()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() < held

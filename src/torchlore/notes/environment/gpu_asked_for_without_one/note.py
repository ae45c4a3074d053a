"""torch.cuda.get_device_name raises where there is no GPU, so ask is_available first.

A script that prints the card's name at its top dies with `RuntimeError` or `AssertionError` on a laptop, in CI, or on
a node whose driver is broken: before it has done anything, and although the rest of it runs on a CPU.

Guard the question, or ask something that always has an answer: `torch.cuda.device_count()` is 0 without a driver.

```python
if torch.cuda.is_available():
    print(torch.cuda.get_device_properties(0))  # name, memory, compute capability
```

`lore doctor` lists every GPU with its memory and the processes that hold it, and works without any.
"""

ROWS = ("env-gpu-name",)
SOURCES = ("003:22",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of

    if device == "cuda":
        assert torch.cuda.device_count() >= 1
        assert torch.cuda.get_device_name(0) == torch.cuda.get_device_properties(0).name
        assert error_of(lambda: torch.cuda.get_device_name(torch.cuda.device_count())) != ""
    elif not torch.cuda.is_available():
        assert torch.cuda.device_count() == 0
        assert error_of(lambda: torch.cuda.get_device_name(0)) in {"RuntimeError", "AssertionError"}

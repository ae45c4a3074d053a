"""A clock around GPU work measures how long it took to queue it, unless you synchronise.

CUDA calls return as soon as the work is in the queue. `time.perf_counter()` before and after a matrix product shows
microseconds, and the milliseconds turn up at the next line that needs a value. Comparisons made this way rank the
amount of Python, not the work.

Call `torch.cuda.synchronize()` before both readings, or use events, which the GPU itself stamps:

```python
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record(); y = model(x); end.record()
torch.cuda.synchronize()
print(start.elapsed_time(end), "ms")
```

`torch.utils.benchmark.Timer` synchronises, warms up and repeats for you; it is right on a CPU as well.
"""

from typing import Any

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/21286", "https://github.com/pytorch/pytorch/issues/18012")
TORCH = "2.11, 2.15"
NEEDS = ("cuda",)
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["seconds"] < good["seconds"] / 3  # it timed the queue

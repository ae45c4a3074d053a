"""A DataLoader without workers loads each batch while the GPU waits.

`num_workers` is 0 unless you set it: reading, decoding and augmenting then happen in the training process, between two
steps. With workers the next batches are ready when they are asked for. More is not always better: starting a worker
costs a tenth of a second and more, so on tiny data 0 is faster, and beyond the number of cores they only get in each
other's way (torch warns).

Measure: `for _ in loader: pass` with 0, 2, 4, 8 workers, and take the smallest number that no longer makes the step
wait. `persistent_workers=True` saves the start in each epoch. A bus error or "No space left" with workers is a small
`/dev/shm`: make it larger (`--shm-size`), and do not fall back to 0.
"""

from typing import Any

ROWS = ("perf-num-workers",)
SOURCES = ("003:669",)
TORCH = "2.11, 2.15"
NEEDS = ("two-processes",)
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import time

    import torch
    from torch.utils.data import DataLoader

    assert bad["samples"] == good["samples"]
    assert good["seconds"] < bad["seconds"]

    def seconds(workers: int) -> float:
        start = time.perf_counter()
        for _ in DataLoader(torch.ones(8, 2), num_workers=workers):  # type: ignore[arg-type]  # a tensor is a data set
            pass
        return time.perf_counter() - start

    assert seconds(0) < seconds(2)  # tiny data: starting the workers costs more than they save

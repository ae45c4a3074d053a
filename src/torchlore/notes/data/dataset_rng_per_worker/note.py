"""A generator made in a Dataset's `__init__` is copied into every worker: all draw the same numbers.

Workers are copies of the dataset, and a `np.random.default_rng()`, `RandomState`, `random.Random` or `torch.Generator`
kept on `self` is copied with its state. With four workers each augmentation is drawn four times, and the same ones come
back every epoch. A `worker_init_fn` that calls `np.random.seed(42)` does the same. The module-level `np.random`, `random` and `torch` generators are safe: torch seeds them in each worker.

Draw from the module-level generators, or make the generator from what differs: `np.random.default_rng([seed, epoch, i])`
in `__getitem__`, or once per worker from `torch.initial_seed()`.
"""

from __future__ import annotations

from typing import Any

from torchlore.watch.pictures import Alarm, Batch, assignment

ROWS = ()
SOURCES = (
    "https://github.com/pytorch/pytorch/issues/5059",
    "https://github.com/Lightning-AI/pytorch-lightning/issues/20412",
    "https://github.com/xingyizhou/CenterNet/issues/233",
)
TORCH = "2.11, 2.15"
NEEDS = ("two-processes", "numpy")
SEVERITY = "warning"
_TYPES = {("numpy.random", "Generator"), ("numpy.random", "RandomState"), ("random", "Random"), ("torch", "Generator")}


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["different"] <= bad["samples"] / 2
    assert good["different"] == good["samples"]


def watch(batch: Batch) -> Alarm | None:
    workers = getattr(batch.loader, "num_workers", 0)
    if batch.index or workers < 2 or batch.loader.worker_init_fn is not None or _asks_who_works(type(batch.dataset)):
        return None
    for name, value in _held(batch.dataset):
        kind = type(value)
        if (kind.__module__.partition("._")[0], kind.__name__) in _TYPES:
            told = f"the dataset's {name} is copied into {workers} workers, which all draw the same numbers; make it from the index, or in each worker"
            line = assignment(type(batch.dataset), name) if "." not in name else None
            return Alarm(told, at=line or batch.record.place, certain=False, evidence=f"{name} is a {kind.__name__}")
    return None


def _asks_who_works(kind: type) -> bool:
    """Whether a method of the dataset asks in which worker it runs: then it may make its own generator there."""
    ways = [one for owner in kind.__mro__ for one in vars(owner).values()]
    return any("get_worker_info" in getattr(getattr(one, "__code__", None), "co_names", ()) for one in ways)


def _held(dataset: Any) -> list[tuple[str, Any]]:
    """The dataset's own attributes, and those of the transforms it holds."""
    own = list(getattr(dataset, "__dict__", {}).items())
    parts = [(name, one) for name, one in own if callable(one) and "transform" in f"{name} {type(one)}".lower()]
    inner = [(name, one) for name, value in parts for one in getattr(value, "transforms", [value])]
    return own + [
        (f"{name}.{key}", one) for name, value in inner for key, one in getattr(value, "__dict__", {}).items()
    ]

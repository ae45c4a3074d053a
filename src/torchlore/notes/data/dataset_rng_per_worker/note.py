"""A generator made in a Dataset's `__init__` is copied into every worker: all draw the same numbers.

Workers are copies of the dataset, and a `np.random.default_rng()`, `RandomState`, `random.Random` or `torch.Generator`
kept on `self` is copied with its state. With four workers each augmentation is drawn four times, and the same ones come
back every epoch. The module-level `np.random`, `random` and `torch` generators are safe: torch seeds them in each worker.

Draw from the module-level generators, or make the generator from what differs: `np.random.default_rng([seed, epoch, i])`
in `__getitem__`, or once per worker from `torch.initial_seed()`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import classes, tree
from torchlore.check.project import Function
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = (
    "https://github.com/pytorch/pytorch/issues/5059",
    "https://github.com/Lightning-AI/pytorch-lightning/issues/20412",
)
TORCH = "2.11, 2.15"
NEEDS = ("two-processes", "numpy")
SEVERITY = "warning"
_MAKERS = {
    "numpy.random.default_rng",
    "numpy.random.RandomState",
    "numpy.random.Generator",
    "random.Random",
    "torch.Generator",
}
_TYPES = {("numpy.random", "Generator"), ("numpy.random", "RandomState"), ("random", "Random"), ("torch", "Generator")}


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["different"] <= bad["samples"] / 2
    assert good["different"] == good["samples"]


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        if not _is_dataset(source, cls.node) or "__getitem__" not in classes.methods(cls):
            continue
        used = {node.attr for node in ast.walk(classes.methods(cls)["__getitem__"]) if isinstance(node, ast.Attribute)}
        for name, found in classes.attributes(cls).items():
            made = [one for one in found if isinstance(one.value, ast.Call) and source.name(one.value.func) in _MAKERS]
            once = made and len(made) == len(found) and all(one.method == "__init__" for one in found)
            if name in used and once and classes.read_by_workers(cls) and not _seeded(source, name):
                told = f"every worker gets a copy of `self.{name}` and draws the same numbers: draw from `np.random` or `torch`, or make the generator from the index"
                yield source.hit(made[0].node, told)


def _seeded(source: Source, name: str) -> bool:
    """Whether a loader's `worker_init_fn` gives the attribute another value in each worker, or may do so."""
    given = (tree.argument(call, 9, "worker_init_fn") for call in source.calls("torch.utils.data.DataLoader"))
    for one in given:
        if one is None or tree.literal(one) is None:
            continue
        made = source.project.resolve(source, one)
        body = made.node if isinstance(made, Function) else None
        if body is None or any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(body)):
            return True
    return False


def _is_dataset(source: Source, node: ast.ClassDef) -> bool:
    return any(
        source.name(base.value if isinstance(base, ast.Subscript) else base).endswith("Dataset") for base in node.bases
    )


def watch(batch: Batch) -> Alarm | None:
    workers = getattr(batch.loader, "num_workers", 0)
    if batch.index or workers < 2 or batch.loader.worker_init_fn is not None:
        return None
    for name, value in getattr(batch.dataset, "__dict__", {}).items():
        kind = type(value)
        if (kind.__module__.partition("._")[0], kind.__name__) in _TYPES:
            told = f"the dataset's {name} is copied into {workers} workers, which all draw the same numbers; make it from the index, or in each worker"
            return Alarm(told, at=batch.record.place, certain=False, evidence=f"{name} is a {kind.__name__}")
    return None

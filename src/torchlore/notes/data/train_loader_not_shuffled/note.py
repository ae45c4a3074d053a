"""A training loader without `shuffle=True` hands the data out as they lie: class after class.

`DataLoader(train_set, batch_size=64)` does not shuffle. Most datasets lie sorted (an image folder: class by class), so
every batch holds one class, batch norm sees one class at a time, and each update undoes the one before. The loss of the
last batches looks fine, the test does not.

Write `DataLoader(train_set, batch_size=64, shuffle=True)`, or give a sampler. Time series and evaluation keep their
order; a stream (`IterableDataset`) must shuffle itself.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, frameworks, tree
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = ("https://github.com/Deci-AI/super-gradients/issues/416",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_TRAIN = re.compile(r"^(tr|trn|train|training)_?(data_?)?(loader|dl|iter|dataloader)s?$", re.IGNORECASE)
_ORDERED = re.compile(r"series|sequen|window|stream|bptt|stateful|replay|cached|ordered|sorted_", re.IGNORECASE)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["classes_in_a_batch"] == 1.0
    assert good["classes_in_a_batch"] > 3.0


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.utils.data.DataLoader"):
        held = source.parents[call]
        target = held.targets[0] if isinstance(held, ast.Assign) else None
        name = tree.dotted(target).rpartition(".")[2] if target is not None else ""
        shuffle = tree.argument(call, 2, "shuffle")
        plain = shuffle is None or tree.literal(shuffle) is False
        chosen = any(not tree.lacks(call, place, key) for place, key in ((3, "sampler"), (4, "batch_sampler")))
        if not _TRAIN.match(name) or not plain or chosen or tree.spread(call) or not _lies_in_order(source, call):
            continue
        if frameworks.owned(source, call) or not any(source.methods("backward")) or _ORDERED.search(source.text):
            continue
        message = f"`{name}` hands the data out in the order of the dataset, in every epoch: add shuffle=True"
        yield source.hit(call, message, edits.set_keyword(source, call, "shuffle", "True"), safe=False)


def _lies_in_order(source: Source, call: ast.Call) -> bool:
    """Whether the dataset is known, can be shuffled, and was not shuffled by a random split."""
    given = tree.argument(call, 0, "dataset")
    found = source.values(given) if given is not None else ()
    if not found or any(one.kind != "dataset" for one in found):
        return False
    outside = {name for one in found for name in _bases(source, one.name)}
    return not any("Iterable" in name or "Subset" in name for name in outside)


def _bases(source: Source, name: str) -> set[str]:
    from torchlore.check.project import Class

    cls = source.project.find(name, source.path)
    return {name, *source.project.bases(cls)[1]} if isinstance(cls, Class) else {name}


def watch(batch: Batch) -> Alarm | None:
    labels, sampler = batch.labels, type(getattr(batch.loader, "sampler", None)).__name__
    if labels is None or labels.numel() < 4 or labels.is_cuda or sampler != "SequentialSampler":
        return None
    only = int(labels[0]) if bool((labels == labels[0]).all()) else None
    classes = batch.memory.setdefault("classes", set()) | ({only} if only is not None else set())
    batch.memory["classes"] = classes
    mixed = batch.memory.get("mixed", 0) + (only is None)
    batch.memory["mixed"] = mixed
    trained = batch.memory.setdefault("start", batch.run.backwards)
    ready = batch.run.backwards - trained >= 6 and len(classes) >= 2 and batch.record.batches >= 8
    if not ready or 4 * mixed > batch.record.batches:
        return None
    return Alarm(
        "nearly every training batch holds a single class; add shuffle=True to the loader", at=batch.record.place
    )

"""Every loader worker runs a copy of an IterableDataset: with n workers each sample comes n times.

A map-style dataset is asked for indices, and each index is asked for once. An `IterableDataset` is just iterated, by each
worker from the start. With `num_workers=4` an epoch holds every sample four times, an evaluation counts everything four
times, and the code is the same as the one that worked without workers.

Let each worker take its share:

```python
def __iter__(self):
    worker = torch.utils.data.get_worker_info()
    first, step = (worker.id, worker.num_workers) if worker else (0, 1)
    yield from itertools.islice(self.records(), first, None, step)
```
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, stated, tree
from torchlore.check.pattern import regex
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = ("https://github.com/huggingface/nanoVLM/issues/200",)
TORCH = "2.11, 2.15"
NEEDS = ("two-processes",)
SEVERITY = "error"
_RANDOM = regex(r"\b(torch\.rand\w*|random\.\w+|np\.random\.\w+|randn?|randint|multinomial)\(")
WORDS = ("DataLoader",)


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["samples"] == 80
    assert good["samples"] == 40
    assert bad["different"] == good["different"] == 40


def find(source: Source) -> Iterator[Hit]:
    seen: set[ast.AST] = set()
    for call in source.calls("torch.utils.data.DataLoader"):
        asked, given = tree.argument(call, 5, "num_workers"), tree.argument(call, 0, "dataset")
        told = stated.constants(source, asked, options=True) if asked is not None else [0]
        workers = told[0] if len(told) == 1 else 0
        if not isinstance(workers, int) or workers < 2 or given is None or tree.keyword(call, "worker_init_fn"):
            continue
        for value in source.values(given):
            cls = source.project.find(value.name, source.path) if value.kind == "dataset" else None
            if isinstance(cls, Class) and _copied(cls):
                place = classes.methods(cls).get("__iter__", call) if cls.source is source else call
                message = f"each of {workers} workers iterates the whole {cls.node.name}, so every sample comes {workers} times: "
                if place not in seen:
                    seen.add(place)
                    yield source.hit(place, message + "take a share by get_worker_info()")


def _copied(cls: Class) -> bool:
    """Whether each worker surely gives the same samples: nothing asks for the worker, nothing is drawn at random."""
    own, outside = cls.source.project.bases(cls)
    streams = "torch.utils.data.IterableDataset" in outside
    text = "".join(ast.unparse(one.node) for one in own)  # without comments
    wraps = any(one.value is not None and isinstance(one.value, ast.Name) and re.search("data|source|pipe|ds$|reader", one.name)
                for found in classes.attributes(cls).values() for one in found)  # fmt: skip
    seeded = "generator=" in text or not _RANDOM.search(text)
    wraps |= "while True" in text  # a source that never ends: games that are played, say
    return streams and "worker" not in text and "rank" not in text and seeded and not wraps


def watch(batch: Batch) -> Alarm | None:
    workers = getattr(batch.loader, "num_workers", 0)
    streams = any(one.__name__ == "IterableDataset" for one in type(batch.dataset).__mro__)
    if workers < 2 or not streams or batch.epoch > 0 or batch.index > workers or not batch.tensors:
        return None
    first = batch.tensors[0]
    mark = (tuple(first.shape), float(first.double().sum()), float(first.double().std())) if first.numel() > 1 else None
    if batch.index == 0:
        batch.memory["first"] = mark
    if batch.index != 1 or mark is None or mark != batch.memory.get("first") or mark[2] == 0:
        return None
    return Alarm(
        f"two workers hand out the same batch: each of {workers} iterates the whole dataset; take a share by get_worker_info()",
        at=batch.record.place,
    )

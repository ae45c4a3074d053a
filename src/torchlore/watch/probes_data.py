"""What DataLoaders hand out, and how long the program waits for it."""

from __future__ import annotations

import functools
import weakref
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader, _utils
from torch.utils.data.dataloader import _BaseDataLoaderIter

from torchlore.watch.pictures import Batch, Event
from torchlore.watch.records import LoaderRecord
from torchlore.watch.session import Watcher

if TYPE_CHECKING:
    from torchlore.watch.probes import Patches


def install_data(watcher: Watcher, patches: Patches) -> None:
    """Set the probes; a worker process takes itself out of the watch."""
    init, walk, following = DataLoader.__init__, DataLoader.__iter__, _BaseDataLoaderIter.__next__
    iterators = watcher.iterators
    work = _utils.worker._worker_loop  # noqa: SLF001 - where every worker begins

    @functools.wraps(init)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        loader(watcher, self)

    @functools.wraps(walk)
    def begun(self: Any) -> Any:
        record = loader(watcher, self)
        started(record, self)
        if not watcher.rich and watcher.pace.woken():
            watcher.open()
        record.awake = watcher.rich
        iterator = walk(self)
        key = id(iterator)
        ref = weakref.ref(iterator, lambda gone: _forget(iterators, key, gone))
        iterators[key] = (ref, record, self)  # a loader made in the `for` line lives on through its iterator
        return iterator

    @functools.wraps(following)
    def handed(self: Any) -> Any:
        start = perf_counter_ns()
        walked = iterators.get(id(self))
        try:
            data = following(self)
        except StopIteration:
            ran_out(walked)
            raise
        if walked is not None and walked[0]() is self:
            record = walked[1]
            record.index += 1
            record.batches += 1
            wait = perf_counter_ns() - start
            record.wait_ns += wait
            if watcher.rich:
                handed_out(watcher, record, data, wait)
            else:
                watcher.pace.calls += 1
        return data

    @functools.wraps(work)
    def worker(*args: Any, **kwargs: Any) -> Any:
        watcher.off = True
        patches.undo()
        return work(*args, **kwargs)

    patches.put(DataLoader, "__init__", made)
    patches.put(DataLoader, "__iter__", begun)
    patches.put(_BaseDataLoaderIter, "__next__", handed, busy=True)
    patches.put(_utils.worker, "_worker_loop", worker)


def started(record: LoaderRecord, thing: Any) -> None:
    """A loader is walked through from the beginning."""
    if record.epoch >= 0 and len(record.sizes) < 1000:
        record.sizes.append(record.index + 1)
    record.epoch += 1
    record.index = -1
    if thing.drop_last and thing.batch_size and hasattr(thing.sampler, "__len__"):
        record.left_out = len(thing.sampler) % thing.batch_size


def ran_out(walked: tuple[Any, ...] | None) -> None:
    """An iterator has no more batches: count the epochs that had none."""
    if walked is not None and walked[1].index < 0 and walked[1].awake:
        walked[1].empty += 1


def _forget(iterators: dict[int, tuple[Any, ...]], key: int, gone: object) -> None:
    if key in iterators and iterators[key][0] is gone:
        del iterators[key]


def loader(watcher: Watcher, thing: Any) -> LoaderRecord:
    """What is known about this loader."""
    record = watcher.known.get(id(thing))
    if record is None or record.thing is not thing:
        record = watcher.known[id(thing)] = LoaderRecord(thing, watcher.map.place(watcher.map.frame(2)))
        watcher.run.loaders.append(record)
    return record  # type: ignore[no-any-return]  # the table holds records of several kinds


def handed_out(watcher: Watcher, record: LoaderRecord, data: Any, wait_ns: int) -> None:
    """A batch came out of a loader while we look closely."""
    start = perf_counter_ns()
    place = watcher.map.place(watcher.map.frame(2))
    record.loop_place = place
    watcher.add(Event("next", "batch", place, record.key, {"record": record, "wait_ns": wait_ns}))
    if watcher.by_picture["Batch"]:
        watcher.show(Batch(watcher.run, place, record, data, wait_ns), watcher.by_picture["Batch"])
    watcher.pace.spent_ns += perf_counter_ns() - start

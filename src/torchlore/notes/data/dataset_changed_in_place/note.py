"""An in-place change in __getitem__ changes the data set itself, once more in every epoch.

`x = self.data[i]` is a view of the stored tensor or array, not a copy. `x -= self.mean`, `x[mask] = 0` or `x.div_(255)`
then write into the data set: the second epoch normalises what is normalised already, cut-outs add up until the images
are black, noise grows from epoch to epoch. With workers each process spoils its own copy, so it depends on
`num_workers` and `persistent_workers` as well.

Make a new tensor, `x = (self.data[i] - self.mean) / self.std`, or copy first: `x = self.data[i].clone()` (`.copy()` for
an array).
"""

from typing import Any

from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = ("https://github.com/facebookresearch/pycls/pull/21", "https://github.com/pytorch/vision/issues/680")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert good["means"][0] == good["means"][2]
    assert bad["means"][2] < bad["means"][0] - 0.5  # the mean was taken off three times


def watch(batch: Batch) -> Alarm | None:
    stored = {
        k: v
        for k, v in getattr(batch.dataset, "__dict__", {}).items()
        if hasattr(v, "_version") and hasattr(v, "untyped_storage")
    }
    versions = {name: tensor._version for name, tensor in stored.items()}  # noqa: SLF001 - autograd's own counter of writes
    seen = batch.memory.setdefault("versions", versions)
    batch.memory["versions"] = versions
    changed = [name for name in versions.keys() & seen.keys() if versions[name] != seen[name]]
    if not changed or not batch.times(3, true=True):
        return None
    message = (
        f"each batch changes the data set's own `{changed[0]}` in place, so every epoch sees other data: copy the sample "
        "in __getitem__ before changing it"
    )
    return Alarm(message, at=batch.record.place)

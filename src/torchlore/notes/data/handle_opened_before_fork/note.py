"""A file opened in a Dataset's `__init__` is shared by all workers, or cannot reach them at all.

A forked worker inherits the open handle with its one file position: two workers that read a ZIP, a SQLite database, LMDB
or a plain file at once read each other's bytes or fail. Where workers are spawned (macOS, Windows, Linux from Python
3.14 on) the handle must be pickled, which h5py, LMDB and SQLite refuse.

Open it in `__getitem__`, once per worker: `if self.file is None: self.file = h5py.File(self.path, "r")`, or use
`torchlore.recipes.data.H5Dataset`.
"""

from __future__ import annotations

from typing import Any

from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/11887", "https://github.com/pytorch/pytorch/issues/11929")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_MODULES = ("h5py", "lmdb", "zipfile", "sqlite3", "tables", "rasterio", "tarfile", "netCDF4", "_io")


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert not bad["can_be_sent"]
    assert good["can_be_sent"]
    assert bad["sum"] == good["sum"]


def watch(batch: Batch) -> Alarm | None:
    if batch.index or getattr(batch.loader, "num_workers", 0) == 0:
        return None
    for name, value in getattr(batch.dataset, "__dict__", {}).items():
        module = type(value).__module__.partition(".")[0]
        if module in _MODULES and hasattr(value, "close"):
            told = f"the dataset's {name} was opened before the workers were started and is shared by all of them; open it in __getitem__, once per worker"
            return Alarm(
                told, at=batch.record.place, evidence=f"{name} is a {type(value).__module__}.{type(value).__name__}"
            )
    return None

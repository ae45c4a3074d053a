"""A file opened in a Dataset's `__init__` is shared by all workers, or cannot reach them at all.

A forked worker inherits the open handle with its one file position: two workers that read a ZIP, a SQLite database, LMDB
or a plain file at once read each other's bytes or fail. Where workers are spawned (macOS, Windows, Linux from Python
3.14 on) the handle must be pickled, which h5py, LMDB and SQLite refuse.

Open it in `__getitem__`, once per worker: `if self.file is None: self.file = h5py.File(self.path, "r")`, or use
`torchlore.recipes.data.H5Dataset`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import classes, follow, project, tree
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/11887", "https://github.com/pytorch/pytorch/issues/11929")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_OPENERS = {"h5py.File", "lmdb.open", "lmdb.Environment", "zipfile.ZipFile", "sqlite3.connect", "tables.open_file", "rasterio.open",
            "tarfile.open", "tarfile.TarFile", "netCDF4.Dataset", "open", "io.open"}  # fmt: skip
_MODULES = ("h5py", "lmdb", "zipfile", "sqlite3", "tables", "rasterio", "tarfile", "netCDF4", "_io")


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert not bad["can_be_sent"]
    assert good["can_be_sent"]
    assert bad["sum"] == good["sum"]


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        methods = classes.methods(cls)
        if not _is_dataset(source, cls.node) or not {"__getitem__", "__iter__"} & methods.keys() or _alone(cls):
            continue
        readers = [methods[name] for name in ("__getitem__", "__iter__") if name in methods]
        used = {node.attr for reader in readers for node in ast.walk(reader) if isinstance(node, ast.Attribute)}
        for name, found in classes.attributes(cls).items():
            opened = [one for one in found if one.method == "__init__" and _opens(source, one.value)]
            if (
                opened
                and name in used
                and "__getstate__" not in methods
                and "close" not in _calls_on(methods["__init__"], name)
            ):
                told = f"`self.{name}` is opened before the workers exist and shared by all of them: open it in `__getitem__`, once per worker"
                yield source.hit(opened[0].node, told, severity="hint" if _only_reads(opened[0].value) else None)


def _alone(cls: Class) -> bool:
    """Whether every loader of the files that use it reads without workers, or asks first whether it may have some."""
    users = project.candidates(cls.source.project, cls, cls.node.name)
    loaders = [(user, one) for user in users for one in user.calls("torch.utils.data.DataLoader")]
    counts = [follow.followed(at, given) for at, one in loaders if (given := tree.argument(one, 5, "num_workers"))]
    none = (tree.literal(one) == 0 or (isinstance(one, ast.IfExp) and tree.literal(one.orelse) == 0) for one in counts)
    return bool(loaders) and len(counts) == len(loaders) and all(none)


def _is_dataset(source: Source, node: ast.ClassDef) -> bool:
    return any(
        source.name(base.value if isinstance(base, ast.Subscript) else base).endswith("Dataset") for base in node.bases
    )


def _opens(source: Source, value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and source.name(value.func) in _OPENERS


def _only_reads(value: ast.expr | None) -> bool:
    """`lmdb.open(..., readonly=True)`: against its documents, yet it works under fork."""
    return isinstance(value, ast.Call) and tree.literal(tree.argument(value, None, "readonly")) is True


def _calls_on(function: ast.AST, name: str) -> set[str]:
    nodes = (
        node for node in ast.walk(function) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute)
    )
    return {node.attr for node in nodes if node.value.attr == name}  # type: ignore[attr-defined]  # an Attribute, see above


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

"""Features in a file: HDF5, Parquet, safetensors or NPY, written block by block, atomically, and read back equal.

N pictures. A layer is one array (N, ...); names, classes and where they come from stand beside it.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchlore.train.run import Refused

TAKEN = ("names", "labels", "name", "label", "__metadata__")  # no layer may be called so
MOST_HEADER = 100_000_000  # bytes: readers of safetensors refuse more


@dataclass(frozen=True)
class Table:
    """Features to write: one row a picture, each layer as an iterator over blocks of rows."""

    names: list[str]
    labels: list[str]
    shapes: dict[str, tuple[int, ...]]  # of one picture's feature
    dtype: str  # float32 or float16
    blocks: Callable[[str], Iterator[np.ndarray[Any, Any]]]
    about: dict[str, Any]


@dataclass(frozen=True)
class Features:
    """Features that were read: layers (N, ...), the name and class of each row, and how they were made."""

    layers: dict[str, Tensor]
    names: list[str]
    labels: list[str]
    about: dict[str, Any]


def _write_h5(path: Path, table: Table) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.attrs["about"] = json.dumps(table.about)
        for key, texts in (("names", table.names), ("labels", table.labels)):
            file.create_dataset(key, data=[os.fsencode(one) for one in texts], dtype=h5py.string_dtype())
        for layer, shape in table.shapes.items():
            data = file.create_dataset(layer, (len(table.names), *shape), table.dtype)
            at = 0
            for block in table.blocks(layer):
                data[at : at + len(block)] = block
                at += len(block)


def _read_h5(path: Path, wanted: str | None) -> Features:
    import h5py

    with h5py.File(path, "r") as file:
        if "about" not in file.attrs or "names" not in file:
            raise Refused(f"{path} was not written by `lore extract`: it has no names of pictures")
        about = json.loads(str(file.attrs["about"]))
        texts = [[os.fsdecode(one) for one in file[key][:]] for key in ("names", "labels")]
        layers = {name: torch.from_numpy(file[name][:]) for name in _chosen(about, wanted)}
    return Features(layers, texts[0], texts[1], about)


def _write_npy(path: Path, table: Table) -> None:
    ((layer, shape),) = table.shapes.items()
    whole = np.lib.format.open_memmap(path, "w+", np.dtype(table.dtype), (len(table.names), *shape))
    at = 0
    for block in table.blocks(layer):
        whole[at : at + len(block)] = block
        at += len(block)
    whole.flush()


def _write_beside(path: Path, table: Table) -> None:
    """NPY holds one array and nothing else; names and the rest go into a file of the same name with .json behind it."""
    beside = {"about": table.about, "names": table.names, "labels": table.labels}
    part = path.with_name(f".{path.name}.json.part")
    part.write_text(json.dumps(beside), encoding="utf-8")
    part.replace(path.with_name(f"{path.name}.json"))


def _read_npy(path: Path, wanted: str | None) -> Features:
    beside = path.with_name(f"{path.name}.json")
    if not beside.is_file():
        raise Refused(f"{path} has no {beside.name} beside it, which holds the names of its rows")
    found = json.loads(beside.read_text(encoding="utf-8"))
    layers = {layer: torch.from_numpy(np.load(path)) for layer in _chosen(found["about"], wanted)}
    return Features(layers, found["names"], found["labels"], found["about"])


def _write_safetensors(path: Path, table: Table) -> None:
    width, kind = np.dtype(table.dtype).itemsize, {"float32": "F32", "float16": "F16"}[table.dtype]
    texts = {"about": table.about, "names": table.names, "labels": table.labels}
    header: dict[str, Any] = {"__metadata__": {name: json.dumps(value) for name, value in texts.items()}}
    end = 0
    for layer, shape in table.shapes.items():
        start, end = end, end + len(table.names) * math.prod(shape) * width
        header[layer] = {"dtype": kind, "shape": [len(table.names), *shape], "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    if len(text) > MOST_HEADER:
        raise Refused(f"{len(table.names)} names do not fit into the header of {path.name}: write to .h5 or .parquet")
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for layer in table.shapes:
            for block in table.blocks(layer):
                file.write(np.ascontiguousarray(block).data)


def _read_safetensors(path: Path, wanted: str | None) -> Features:
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        texts = file.metadata() or {}
        if "names" not in texts or "about" not in texts:
            raise Refused(f"{path} was not written by `lore extract`: it has no names of pictures")
        about = json.loads(texts["about"])
        layers = {name: file.get_tensor(name) for name in _chosen(about, wanted)}
    return Features(layers, json.loads(texts["names"]), json.loads(texts["labels"]), about)


def _write_parquet(path: Path, table: Table) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    number = {"float32": pa.float32(), "float16": pa.float16()}[table.dtype]
    sizes = {layer: math.prod(shape) for layer, shape in table.shapes.items()}
    columns = [pa.field("name", pa.string()), pa.field("label", pa.string())]
    columns += [pa.field(layer, pa.list_(number, size)) for layer, size in sizes.items()]
    schema = pa.schema(columns, metadata={"about": json.dumps(table.about)})
    at = 0
    with parquet.ParquetWriter(path, schema) as writer:
        for blocks in zip(*map(table.blocks, sizes), strict=True):
            rows = slice(at, at + len(blocks[0]))
            flat = [
                pa.FixedSizeListArray.from_arrays(pa.array(block.reshape(-1)), size)
                for block, size in zip(blocks, sizes.values(), strict=True)
            ]
            texts = [pa.array(table.names[rows]), pa.array(table.labels[rows])]
            writer.write_table(pa.Table.from_arrays([*texts, *flat], schema=schema))
            at = rows.stop


def _read_parquet(path: Path, wanted: str | None) -> Features:
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    texts = file.schema_arrow.metadata or {}
    if b"about" not in texts:
        raise Refused(f"{path} was not written by `lore extract`: it does not say how it was made")
    about = json.loads(texts[b"about"])
    chosen = _chosen(about, wanted)
    found = file.read(columns=["name", "label", *chosen])
    layers = {}
    for name in chosen:
        flat = found[name].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        layers[name] = torch.from_numpy(flat.reshape(found.num_rows, *about["shapes"][name]).copy())
    return Features(layers, found["name"].to_pylist(), found["label"].to_pylist(), about)


def _chosen(about: dict[str, Any], wanted: str | None) -> list[str]:
    if wanted == "":
        return []
    if wanted is not None and wanted not in about["layers"]:
        raise Refused(f"there is no layer {wanted!r} in the file; it has {', '.join(about['layers'])}")
    return list(about["layers"]) if wanted is None else [wanted]


WRITERS = {".h5": _write_h5, ".npy": _write_npy, ".safetensors": _write_safetensors, ".parquet": _write_parquet}
READERS = {".h5": _read_h5, ".npy": _read_npy, ".safetensors": _read_safetensors, ".parquet": _read_parquet}


def check_target(path: Path, layers: list[str]) -> None:
    """Refuse an output that cannot hold these layers."""
    if path.suffix not in WRITERS:
        raise Refused(f"-o {path}: the name must end in {', '.join(WRITERS)}")
    if path.suffix == ".npy" and len(layers) > 1:
        raise Refused(f"-o {path}: an .npy file holds one layer and {len(layers)} were asked for: write to .h5")
    if bad := [name for name in layers if name in TAKEN]:
        raise Refused(f"a layer called {bad[0]!r} cannot be written: the file uses this name itself")
    if not path.absolute().parent.is_dir():
        raise Refused(f"-o {path}: there is no folder {path.absolute().parent}")


def write(path: Path, table: Table) -> None:
    """Write the file under another name and rename it when it is whole."""
    part = path.with_name(f".{path.stem}.part{path.suffix}")
    WRITERS[path.suffix](part, table)
    if path.suffix == ".npy":
        _write_beside(path, table)
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(path)


def read(path: str | Path, layer: str | None = None) -> Features:
    """Read a file of `lore extract`: all layers, one, or none for an empty name."""
    place = Path(path)
    if place.suffix not in READERS:
        raise Refused(f"{path}: the name must end in {', '.join(READERS)}")
    if not place.is_file():
        raise Refused(f"there is no file {path}")
    try:
        return READERS[place.suffix](place, layer)
    except (OSError, ValueError, KeyError) as error:
        if isinstance(error, Refused):
            raise
        raise Refused(f"{path} cannot be read: {' '.join(str(error).split())}") from None

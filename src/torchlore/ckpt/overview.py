"""A checkpoint at a glance, as plain data that a terminal or another program can show."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from torchlore.ckpt.describe import Opaque
from torchlore.ckpt.formats import inside, read_index
from torchlore.ckpt.tensors import SHORT, Tensor, array
from torchlore.ckpt.torchfile import Checkpoint
from torchlore.ckpt.weights import (
    children_of,
    facts,
    groups,
    is_ema,
    is_module,
    main_group,
    resume_parts,
    tensors,
    wrapper_prefix,
)
from torchlore.finding import Finding


def clean(text: Any, width: int = 120) -> str:
    """Text from a file made fit for a terminal: no control characters, not too long."""
    out = "".join(char if char.isprintable() else repr(char)[1:-1] for char in str(text)[: width + 1])
    return out if len(out) <= width else out[: width - 1] + "…"


def size(count: float) -> str:
    """Bytes for a person.

    >>> size(25_600_000)
    '25.6 MB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return ""


def many(count: int, noun: str) -> str:
    """A count with its noun.

    >>> many(1, "file"), many(2, "file")
    ('1 file', '2 files')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def overview(checkpoint: Checkpoint, found: list[Finding]) -> dict[str, Any]:
    """Everything `lore ckpt show` tells, as one dict of plain values."""
    every = tensors(checkpoint.root)
    sets = groups(checkpoint.root)
    name = main_group(sets)
    main = sets.get(name, {}) if name is not None else {}
    return {
        "path": checkpoint.path,
        "format": checkpoint.format,
        "details": {key: clean(value, 400) for key, value in checkpoint.details.items()},
        "file_bytes": sum(file.stat().st_size for file in files(checkpoint)),
        "tensors": len(every),
        "tensor_bytes": sum(tensor.nbytes for tensor in every.values()),
        "weights": name,
        "parameters": sum(tensor.numel for key, tensor in main.items() if not _is_buffer(key)),
        "prefix": wrapper_prefix(main),
        "dtypes": dict(Counter(tensor.dtype for tensor in main.values() or every.values())),
        "devices": dict(Counter(tensor.device for tensor in every.values())),
        "groups": {
            key: {"tensors": len(state), "bytes": _bytes(state), "ema": is_ema(key)} for key, state in sets.items()
        },
        "facts": _values(checkpoint.root),
        "resume": resume_parts(checkpoint.root),
        "findings": [asdict(finding) for finding in found],
        "keys": [
            {
                "key": key,
                "shape": list(t.shape),
                "dtype": t.dtype,
                "bytes": t.nbytes,
                "device": t.device,
                "kind": t.kind,
            }
            for key, t in every.items()
        ],
    }


def _values(root: Any) -> dict[str, Any]:
    """Epoch, metrics and the like; a metric may be a tensor of one number."""
    found = {clean(key): clean(value) if isinstance(value, str) else value for key, value in facts(root).items()}
    for key, value in root.items() if isinstance(root, dict) and main_group(groups(root)) != "" else ():
        if isinstance(value, Tensor) and value.shape == () and value.fits and value.storage is not None:
            found[clean(key)] = array(value).item()
    return found


def _bytes(state: dict[str, Tensor]) -> int:
    return sum(tensor.nbytes for tensor in state.values())


def _is_buffer(key: str) -> bool:
    return key.endswith(("running_mean", "running_var", "num_batches_tracked", "position_ids"))


def files(checkpoint: Checkpoint) -> list[Path]:
    """The files a checkpoint is made of: one, or the shards of a folder."""
    path = Path(checkpoint.path)
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file())
    if checkpoint.format != "sharded index":
        return [path]
    return [file for name in sorted(set(read_index(path).values())) if (file := inside(path.parent, name)).is_file()]


# the tree of keys ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Node:
    """A place in the tree: a tensor, a plain value, or a branch."""

    name: str
    value: Any = None
    below: dict[str, Node] = field(default_factory=dict)

    def count(self) -> tuple[int, int]:
        """Tensors below, and their bytes."""
        if isinstance(self.value, Tensor):
            return 1, self.value.nbytes
        parts = [node.count() for node in self.below.values()]
        return sum(part[0] for part in parts), sum(part[1] for part in parts)


def tree(root: Any) -> Node:
    """The keys as a tree, dotted names split at their dots."""
    top = Node("")
    budget = [100_000]
    _grow(top, root, budget, ())
    return top


def _grow(node: Node, value: Any, budget: list[int], above: tuple[int, ...]) -> None:
    budget[0] -= 1
    if budget[0] < 0 or len(above) > 60 or id(value) in above:  # too much, too deep, or it holds itself
        return
    if is_module(value):
        from torchlore.ckpt.weights import module_state

        value = module_state(value)
    children = children_of(value)
    if not children:
        node.value = value
        return
    for key, item in children:
        if budget[0] < 0:
            return
        place = node
        parts = str(key).split(".") if isinstance(item, Tensor) else [str(key)]
        for part in parts:
            place = place.below.setdefault(part, Node(part))
        _grow(place, item, budget, (*above, id(value)))


def lines(top: Node, limit: int) -> list[tuple[int, Node, bool]]:
    """Depth, node and whether it is open, top down; branches are opened by levels until `limit` lines are used."""
    opened: set[int] = {id(top)}
    used, level = len(top.below), list(top.below.values())
    while level:
        following: list[Node] = []
        for node in sorted(level, key=lambda item: ("optim" in item.name, len(item.below))):  # weights before moments
            if node.below and used + len(node.below) <= limit:
                opened.add(id(node))
                used += len(node.below)
                following += node.below.values()
        level = following
    out: list[tuple[int, Node, bool]] = []
    _collect(top, 0, opened, out)
    return out


def _collect(node: Node, depth: int, opened: set[int], out: list[tuple[int, Node, bool]]) -> None:
    for below in node.below.values():
        out.append((depth, below, id(below) in opened))
        if id(below) in opened:
            _collect(below, depth + 1, opened, out)


def say(node: Node) -> tuple[str, str, str]:
    """Shape, dtype and size of a node, in words."""
    value = node.value
    if isinstance(value, Tensor):
        marks = "" if value.kind == "dense" else f" {value.kind}"
        return str(tuple(value.shape)), SHORT.get(value.dtype, value.dtype) + marks, size(value.nbytes)
    if node.below:
        count, nbytes = node.count()
        return many(count, "tensor") if count else many(len(node.below), "value"), "", size(nbytes) if count else ""
    if isinstance(value, Opaque):
        return clean(value.name, 60), "", ""
    return clean(repr(value), 60), "", ""

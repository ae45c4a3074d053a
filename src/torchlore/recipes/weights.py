"""Weights from anywhere into a model: prefixes resolved, every key accounted for, safetensors beside torch's format."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchlore.recipes import _wants, checkpoint
from torchlore.recipes._files import atomic_path
from torchlore.recipes.device import unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlore.recipes.device import Device

State = dict[str, Any]
WRAPPERS = ("module", "_orig_mod", "_fsdp_wrapped_module")  # what wrappers put into names, at any depth
ROOTS = ("model", "net", "network", "encoder", "backbone", "student", "ema", "ema_model", "module")
PLAIN = ("state_dict", "model_state_dict", "model", "net", "weights", "params", "module")
AVERAGED = ("state_dict_ema", "model_ema", "ema_state_dict", "ema_model", "ema", "params_ema", "average")


@dataclass(frozen=True)
class Report:
    """What happened to each key; `str()` of it is a text to print."""

    matched: tuple[str, ...]
    missing: tuple[str, ...]  # of the model, not in the file
    unexpected: tuple[str, ...]  # of the file, not in the model
    misshaped: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]  # name, in the file, in the model
    renamed: str = ""  # how the file's names were changed

    @property
    def complete(self) -> bool:
        """Whether the model got all of its weights and the file held nothing else."""
        return not (self.missing or self.unexpected or self.misshaped)

    def __str__(self) -> str:
        total = len(self.matched) + len(self.missing) + len(self.misshaped)
        lines = [f"{len(self.matched)} of {total} weights loaded" + (f", {self.renamed}" if self.renamed else "")]
        lines += [f"  missing     {name}" for name in self.missing]
        lines += [f"  unexpected  {name}" for name in self.unexpected]
        lines += [
            f"  misshaped   {name}: {have} in the file, {want} in the model" for name, have, want in self.misshaped
        ]
        return "\n".join(lines)


def pick(loaded: Mapping[str, Any], ema: bool = False) -> State:
    """Find the weights in what a checkpoint file held.

    Knows the names that torch scripts, timm, Lightning, fairseq-like tools and this package use.

    Args:
        loaded: A state dict, or a dict that holds one.
        ema: Take the averaged weights, an error where there are none.

    Returns:
        The state dict.

    >>> pick({"epoch": 3, "state_dict": {"w": torch.ones(1)}})
    {'w': tensor([1.])}
    """
    _wants.kind("pick", Mapping, "a state dict, or a dict that holds one", loaded=loaded)
    for name in AVERAGED if ema else PLAIN:
        inner = loaded.get(name)
        if isinstance(inner, dict) and _is_state(inner.get("average", inner)):
            return dict(inner.get("average", inner))
    if not ema and _is_state(loaded):
        return dict(loaded)
    what = f"{'averaged ' * ema}weights (ema={ema})"
    raise ValueError(f"no {what} found; what was loaded holds {', '.join(sorted(map(str, loaded))[:8]) or 'nothing'}")


def _is_state(value: object) -> bool:
    return isinstance(value, dict) and any(isinstance(one, torch.Tensor) for one in value.values())


def strip(name: str, words: tuple[str, ...] = WRAPPERS) -> str:
    """Take the words of wrappers out of a parameter's name.

    >>> strip("module.layer1._orig_mod.weight")
    'layer1.weight'
    """
    if not isinstance(name, str) or not isinstance(words, tuple):  # asked first: this runs for every name of a model
        _wants.kind("strip", str, "a name", name=name)
        _wants.kind("strip", tuple, "a tuple of words", words=words)
    return ".".join(part for part in name.split(".") if part not in words)


def _renamings() -> dict[str, Callable[[str], str | None]]:
    """Ways to read the file's names, simplest first; None leaves a name out."""
    ways: dict[str, Callable[[str], str | None]] = {"": lambda name: name}
    ways["wrapper prefixes removed"] = strip
    for root in ROOTS:
        ways[f"prefix {root}. removed"] = lambda name, root=root: _below(strip(name), root)  # type: ignore[misc] # mypy cannot infer a default's type
    for root in ROOTS:
        ways[f"prefix {root}. added"] = lambda name, root=root: f"{root}.{strip(name)}"  # type: ignore[misc] # the same
    return ways


def _below(name: str, root: str) -> str | None:
    return name.removeprefix(root + ".") if name.startswith(root + ".") else None


def align(state: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[State, str]:
    """Rename a state dict's keys so that as many as possible fit a model's.

    Args:
        state: The weights of the file.
        wanted: The state dict of the model.

    Returns:
        The renamed weights, and what was done to the names in words.

    >>> align({"module.w": 1}, {"w": 0})
    ({'w': 1}, 'wrapper prefixes removed')
    """
    _wants.kind("align", Mapping, "a state dict", state=state, wanted=wanted)
    best: tuple[int, State, str] = (-1, {}, "")
    for words, rename in _renamings().items():
        named = [(rename(name), name) for name in state]
        renamed = {name if new is None else new: state[name] for new, name in named}
        if len(renamed) < len(state):  # two names became one
            continue
        hits = sum(name in wanted for name in renamed)
        if hits > best[0]:
            best = (hits, renamed, words)
    return best[1], best[2]


def load_into(
    model: nn.Module,
    source: Mapping[str, Any] | str | os.PathLike[str],
    *,
    ema: bool = False,
    partial: bool = False,
    skip: str | Iterable[str] = (),
) -> Report:
    """Load weights and account for every key; nothing is changed unless it succeeds.

    Args:
        model: Wrapped or not.
        source: A state dict, a checkpoint that holds one, or a file of either format.
        ema: Take the averaged weights of a checkpoint.
        partial: Accept missing, unexpected and mis-shaped keys; that nothing at all fits is always an error.
        skip: One or several names of modules of the model to leave as they are, such as a new head.

    Returns:
        The report.

    >>> print(load_into(nn.Linear(2, 1), {"module.weight": torch.zeros(1, 2)}, partial=True))
    1 of 2 weights loaded, wrapper prefixes removed
      missing     bias
    """
    _wants.kind("load_into", (Mapping, str, os.PathLike), "a state dict or a path", source=source)
    loaded = source if isinstance(source, Mapping) else read(source)
    inner, skip = unwrap(model), tuple(_wants.names("load_into", skip=skip))
    wanted = inner.state_dict(keep_vars=True)
    for name in skip:
        if not any(_inside(one, (name,)) for one in wanted):
            raise ValueError(f"load_into: skip names {name!r}, which the model has not; it has {_some(wanted)}.")
    state, renamed = align(pick(loaded, ema), wanted)
    report = _compare(state, wanted, skip, renamed)
    if not report.matched:
        raise ValueError(
            f"none of the {len(state)} weights fits the model: the source has {_some(state)}, the model wants "
            f"{_some(wanted)}"
        )
    left = [name for name in report.missing if not _inside(name, skip)]
    unexpected = [name for name in report.unexpected if not _inside(name, skip)]
    if not partial and (left or unexpected or report.misshaped):
        raise ValueError(f"{report}\ngive partial=True to load what fits, or skip=(...) for new layers")
    chosen = {name: state[name] for name in report.matched}
    inner.load_state_dict(chosen, strict=False)
    return report


def _inside(name: str, modules: tuple[str, ...]) -> bool:
    return any(name == one or name.startswith(one + ".") for one in modules)


def _some(names: Mapping[str, Any]) -> str:
    return ", ".join(list(names)[:3]) + (", ..." if len(names) > 3 else "")


def _compare(state: State, wanted: Mapping[str, Any], skip: tuple[str, ...], renamed: str) -> Report:
    common = [name for name in wanted if name in state and not _inside(name, skip)]
    odd = [name for name in common if not _fits(state[name], wanted[name])]
    return Report(
        matched=tuple(name for name in common if name not in set(odd)),
        missing=tuple(name for name in wanted if name not in common),
        unexpected=tuple(name for name in state if name not in wanted),
        misshaped=tuple((name, _shape(state[name]), _shape(wanted[name])) for name in odd),
        renamed=renamed,
    )


def _fits(have: Any, want: Any) -> bool:
    if not isinstance(want, torch.Tensor):  # extra state of a module, whatever that is
        return not isinstance(have, torch.Tensor)
    return isinstance(have, torch.Tensor) and (is_lazy(want) or have.shape == want.shape)


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.shape) if isinstance(value, torch.Tensor) else ()


def write(state: Mapping[str, torch.Tensor], path: str | os.PathLike[str], **metadata: str) -> Path:
    """Write weights atomically, as safetensors or in torch's format by the file's ending.

    Tied weights are stored once and tied again by `read`. A hash of the bytes goes into the safetensors header.

    Args:
        state: A state dict of tensors.
        path: Ends in `.safetensors`, or anything else for torch's format.
        metadata: Texts for the safetensors header.

    Returns:
        The path.

    >>> import tempfile
    >>> path = write({"w": torch.ones(2)}, Path(tempfile.mkdtemp()) / "a.safetensors")
    >>> read(path)
    {'w': tensor([1., 1.])}
    """
    _wants.path("write", path=path)
    _wants.kind("write", Mapping, "a dict of tensors", state=state)
    _wants.kind("write", str, "a text", **{f"metadata[{name!r}]": text for name, text in metadata.items()})
    if Path(path).suffix != ".safetensors":
        return checkpoint.save(state, path)
    from safetensors.torch import save_file

    unique, tied = _untie(state)
    notes = {**metadata, "format": "pt", "tied": json.dumps(tied), "sha256": _digest(unique)}
    with atomic_path(path) as part:
        save_file(unique, part, notes)
    return Path(path)


def _untie(state: Mapping[str, torch.Tensor]) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    unique: dict[str, torch.Tensor] = {}
    tied: dict[str, str] = {}
    first: dict[tuple[object, ...], str] = {}
    storages: set[int] = set()
    for name, value in state.items():
        if not isinstance(value, torch.Tensor):
            raise TypeError(
                _wants.message("write", f"state[{name!r}]", value, "a tensor: safetensors holds nothing else")
            )
        storage = value.untyped_storage().data_ptr()
        key = (storage, value.storage_offset(), value.shape, value.stride(), value.dtype)
        if value.numel() and key in first:
            tied[name] = first[key]
            continue
        first[key] = name
        alone = value.detach().cpu().contiguous()
        unique[name] = alone.clone() if storage in storages else alone  # the format wants no two in one storage
        storages.add(storage)
    return unique, tied


def _digest(tensors: Mapping[str, torch.Tensor]) -> str:
    total = hashlib.sha256()  # processors have instructions for it: twice as fast as blake2
    for name in sorted(tensors):
        value = tensors[name]
        total.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        total.update(value.contiguous().reshape(-1).view(torch.uint8).numpy().data if value.numel() else b"")
    return total.hexdigest()


def read(path: str | os.PathLike[str], device: Device = "cpu", check: bool = True) -> State:
    """Read weights, or a checkpoint that holds them, without running anything in the file.

    Args:
        path: A safetensors file by its ending, or a file of torch.
        device: Where the tensors go.
        check: Verify the checksums, or the hash of a safetensors file that has one.

    Returns:
        What the file holds.

    >>> import tempfile
    >>> read(write({"w": torch.ones(2)}, Path(tempfile.mkdtemp()) / "a.pt"))
    {'w': tensor([1., 1.])}
    """
    _wants.path("read", path=path)
    place = torch.device(device)
    if Path(path).suffix != ".safetensors":
        return checkpoint.load(path, place, check)
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            notes = file.metadata() or {}
            at_once = getattr(file, "get_tensors", None)  # from 0.8 on; one call for each tensor takes longer
            state: State = at_once() if at_once else {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no dict
    except OSError as error:
        raise FileNotFoundError(f"there is no weights file {path} that can be read: {error}") from error
    except SafetensorError as error:
        raise checkpoint.BrokenCheckpointError(f"{path} is not a whole safetensors file: {error}") from error
    if check and "sha256" in notes and notes["sha256"] != _digest(state):
        raise checkpoint.BrokenCheckpointError(f"{path} is damaged: its weights do not fit the hash in its header")
    if place.type != "cpu":
        state = {name: value.to(place) for name, value in state.items()}
    for name, first in json.loads(notes.get("tied", "{}")).items():
        state[name] = state[first]
    return state

"""Checkpoints: written whole or not at all, checked when read, loaded without running anything they hold."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import torch
from torch import nn

from torchlore.recipes import _wants
from torchlore.recipes._files import TEMPORARY, BrokenCheckpointError, atomic, load, plain, save, verify
from torchlore.recipes.device import unwrap
from torchlore.recipes.optim import load_optimizer
from torchlore.recipes.seed import restore_rng, rng_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlore.ckpt.match import Match
    from torchlore.recipes.device import Device

__all__ = [
    "BrokenCheckpointError",
    "Checkpoints",
    "Found",
    "Stateful",
    "ailments",
    "atomic",
    "average",
    "collect",
    "convert",
    "dangers",
    "distance",
    "fit",
    "load",
    "match",
    "plain",
    "repair",
    "restore",
    "save",
    "verify",
    "weights",
]

STEP = re.compile(r"step-(\d+)\.pt")


class Stateful(Protocol):
    """Whatever gives and takes its state: models, optimizers, schedulers, scalers, samplers, averages."""

    def state_dict(self) -> dict[str, Any]:
        """Give the state."""

    def load_state_dict(self, state: Any, /) -> Any:
        """Take it back."""


def collect(**parts: Stateful | Any) -> dict[str, Any]:
    """Gather the state of everything a run depends on, with the state of every random generator.

    Args:
        parts: Models (unwrapped first), optimizers, schedulers, scalers, samplers or averages by name; numbers,
            strings and tensors are kept as they are.

    Returns:
        A dict for `save`, with the generators under `rng`.

    >>> sorted(collect(model=nn.Linear(1, 1), epoch=3))
    ['epoch', 'model', 'rng']
    """
    if "rng" in parts:
        raise ValueError("collect: parts names 'rng', which is taken by the state of the random generators.")
    return {**{name: _state(part) for name, part in parts.items()}, "rng": rng_state()}


def _state(part: Any) -> Any:
    if isinstance(part, nn.Module):
        return unwrap(part).state_dict()
    return part.state_dict() if "state_dict" in dir(part) else part


def restore(state: Mapping[str, Any], **parts: Stateful) -> None:
    """Put back what `collect` gathered, every part of it or an error, and the random generators last.

    Args:
        state: The loaded checkpoint.
        parts: The same objects by the same names.

    >>> net = nn.Linear(1, 1)
    >>> restore(collect(model=net, epoch=3), model=net)
    """
    _wants.kind("restore", Mapping, "a loaded checkpoint", state=state)
    for name, part in parts.items():
        if name not in state:
            held = ", ".join(sorted(state)) or "nothing"
            raise KeyError(f"restore: parts names {name!r}, which the state has not; it holds {held}.")
        if "load_state_dict" not in dir(part):
            raise TypeError(_wants.message("restore", f"parts[{name!r}]", part, "what takes a state, such as a model"))
    for name, part in parts.items():
        if isinstance(part, nn.Module):
            unwrap(part).load_state_dict(state[name])
        elif isinstance(part, torch.optim.Optimizer):
            load_optimizer(part, state[name])
        else:
            part.load_state_dict(state[name])
    restore_rng(state["rng"])


@dataclass(frozen=True)
class Found:
    """The newest checkpoint that is whole, and those that were passed over with the reason."""

    path: Path
    state: dict[str, Any]
    skipped: tuple[str, ...] = ()


class Checkpoints:
    """A folder of checkpoints of one run: the newest few, the last and the best.

    `step-00000040.pt` and its like are rotated; `last.pt` and `best.pt` are hard links to them and cost nothing. The
    best figure is read back from `best.pt`, so that a resumed run does not overwrite it with something worse.

    >>> import tempfile
    >>> run = Checkpoints(tempfile.mkdtemp(), mode="max")
    >>> for step, accuracy in [(1, 0.5), (2, 0.9), (3, 0.7)]: _ = run.save({"step": step}, step, accuracy)
    >>> run.newest().state["step"], load(run.folder / "best.pt")["step"], run.best
    (3, 2, 0.9)
    """

    def __init__(self, folder: str | os.PathLike[str], *, mode: Literal["min", "max"], keep: int = 2) -> None:
        if mode not in {"min", "max"}:
            raise ValueError(f"Checkpoints: mode is {mode!r}; it must be 'min' for a loss or 'max' for an accuracy.")
        _wants.whole("Checkpoints", 1, keep=keep)
        _wants.path("Checkpoints", folder=folder)
        self.folder, self.mode, self.keep = Path(folder), mode, keep
        self.folder.mkdir(parents=True, exist_ok=True)
        for stale in self.folder.glob(f".*{TEMPORARY}"):  # a writer that was killed
            stale.unlink()
        self.best = self._saved_best()

    def _saved_best(self) -> float | None:
        if not (self.folder / "best.pt").exists():
            return None
        try:
            figure = load(self.folder / "best.pt").get("checkpoint", {}).get("figure")
        except BrokenCheckpointError:
            return None  # anything is better than a best that cannot be read
        return None if figure is None else float(figure)

    def steps(self) -> list[int]:
        """List the steps that are kept, newest first."""
        found = (STEP.fullmatch(one.name) for one in self.folder.iterdir())
        return sorted((int(match[1]) for match in found if match), reverse=True)

    def path(self, step: int) -> Path:
        """Give the file of a step."""
        return self.folder / f"step-{step:08d}.pt"

    def save(self, state: Mapping[str, Any], step: int, figure: float | None = None) -> Path:
        """Write one checkpoint, move `last.pt` and, for a better figure, `best.pt`, and drop the oldest.

        Args:
            state: What to keep; `collect` makes it. The name `checkpoint` is used by this class.
            step: The number of steps done.
            figure: What `mode` is about; NaN is never better.

        Returns:
            The file.
        """
        figure = None if figure is None else float(figure)
        if "checkpoint" in state:
            raise ValueError("the name 'checkpoint' is taken by the step and the figure of the file")
        newer = [other for other in self.steps() if other > step]
        if newer:
            raise ValueError(
                f"{self.folder} already holds step {newer[0]}, later than {step}: go on from newest(), or start in an empty folder"
            )
        path = save({**state, "checkpoint": {"step": int(step), "figure": figure}}, self.path(step))
        self._mend(step, figure)
        for old in self.steps()[self.keep :]:
            self.path(old).unlink()
        return path

    def _mend(self, step: int, figure: float | None) -> None:
        """Set the two links that a writer killed between its steps has not set."""
        _link(self.path(step), self.folder / "last.pt")
        if self._better(figure):
            _link(self.path(step), self.folder / "best.pt")
            self.best = figure

    def _better(self, figure: float | None) -> bool:
        if figure is None or math.isnan(figure):
            return False
        if self.best is None:
            return True
        return figure > self.best if self.mode == "max" else figure < self.best

    def newest(self, map_location: Device = "cpu") -> Found | None:
        """Load the newest checkpoint whose checksums fit; None if the folder holds none.

        One that is broken is named in the result and renamed to `*.broken`, so that it is not counted again.
        """
        skipped: list[str] = []
        for step in self.steps():
            try:
                state = load(self.path(step), map_location)
            except BrokenCheckpointError as error:
                skipped.append(str(error))
                continue
            for broken in self.steps()[: len(skipped)]:
                self.path(broken).replace(self.path(broken).with_suffix(".broken"))
            self._mend(step, state.get("checkpoint", {}).get("figure"))
            return Found(self.path(step), state, tuple(skipped))
        if skipped:
            raise BrokenCheckpointError(f"no checkpoint in {self.folder} is whole: {skipped[0]}")
        return None


def _link(source: Path, target: Path) -> None:
    """Let a second name point to a file, atomically; copy where the file system has no hard links."""
    if target.exists() and target.samefile(source):  # a rename onto a link of the same file leaves both names
        return
    name = target.parent / f".{target.name}.{os.getpid()}{TEMPORARY}"
    name.unlink(missing_ok=True)
    try:
        os.link(source, name)
    except OSError:
        with atomic(target) as file:
            file.write(source.read_bytes())
        return
    name.replace(target)


# any checkpoint, of any format, without running it: the functions behind `lore ckpt`, for tensors and models ----------


def weights(path: str | os.PathLike[str], group: str | None = None) -> dict[str, torch.Tensor]:
    """Read the weights of any checkpoint: torch zip or legacy, whole-model pickle, safetensors, shards, DCP, ONNX.

    Nothing in the file runs: a whole-model pickle gives its state_dict even where its class is gone or hostile.

    Args:
        path: A file or a folder.
        group: Which weights, where there are several; "ema" for the averaged ones.

    Returns:
        Tensors on the CPU by name.

    >>> import tempfile
    >>> weights(save({"model": nn.Linear(1, 2).state_dict()}, Path(tempfile.mkdtemp()) / "a.pt"))["weight"].shape
    torch.Size([2, 1])
    """
    from torchlore import ckpt
    from torchlore.ckpt.tensors import raw_array

    _wants.path("weights", path=path)
    if group is not None:
        _wants.kind("weights", str, "a name or None", group=group)
    found = ckpt.weights(ckpt.read_checkpoint(Path(path)), group)
    return {name: _torch(raw_array(one), one.dtype) for name, one in found.items()}


def _torch(raw: Any, dtype: str) -> torch.Tensor:
    copied = raw.astype(raw.dtype.newbyteorder("="), order="C")
    tensor = torch.from_numpy(copied)
    wanted = getattr(torch, dtype)
    return tensor if tensor.dtype == wanted else tensor.view(wanted)


def match(state: Mapping[str, torch.Tensor], model: nn.Module) -> Match:
    """Say which weights fit a model, which do not and why, and the renaming that would make them fit.

    Args:
        state: Weights by name.
        model: What they are for.

    Returns:
        `mapping` from their names to the model's, `rules` in words, `misfits`, `missing` and `unused`.

    >>> match({"module.weight": torch.ones(2, 1), "module.bias": torch.ones(2)}, nn.Linear(1, 2)).rules
    ["take the prefix 'module.' off"]
    """
    from torchlore.ckpt import match as find

    return find(_specs(state), _specs(unwrap(model).state_dict()))


def _specs(state: Mapping[str, Any]) -> dict[str, tuple[tuple[int, ...], str]]:
    _wants.kind("", Mapping, "weights by name", state=state)
    _wants.kind("", torch.Tensor, "a tensor", **{f"state[{name!r}]": one for name, one in state.items()})
    return {name: (tuple(one.shape), str(one.dtype).removeprefix("torch.")) for name, one in state.items()}


def fit(state: Mapping[str, torch.Tensor], model: nn.Module) -> dict[str, torch.Tensor]:
    """Give the weights that fit a model, under the model's names; load them with `strict=False` and look at `match`.

    Args:
        state: Weights by name.
        model: What they are for.

    Returns:
        A state_dict, perhaps not a complete one.

    >>> sorted(fit({"module.weight": torch.ones(2, 1), "module.bias": torch.ones(3)}, nn.Linear(1, 2)))
    ['weight']
    """
    return {new: state[old] for old, new in match(state, model).mapping.items()}


def average(states: Sequence[Mapping[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Average the weights of several state_dicts, in float64; whole numbers come from the last one.

    Args:
        states: Two or more with the same names and shapes.

    Returns:
        New tensors of the first one's dtypes.

    >>> average([{"w": torch.zeros(2)}, {"w": torch.ones(2)}])["w"]
    tensor([0.5000, 0.5000])
    """
    states = _wants.several("average", Mapping, "a state_dict", states=states)
    if len(states) < 2:
        raise ValueError(_wants.message("average", "states", states, "a list of two state_dicts or more"))
    odd = sorted({name for state in states for name in state if not all(name in other for other in states)})
    if odd:
        raise KeyError(f"average: states do not have the same names: {odd[0]!r} is not in all of them.")
    found = {}
    for name, first in states[0].items():
        if first.is_floating_point() or first.is_complex():
            wide = torch.complex128 if first.is_complex() else torch.float64
            total = torch.zeros(first.shape, dtype=wide, device=first.device)
            for state in states:
                total += state[name]
            found[name] = (total / len(states)).to(first.dtype)
        else:
            found[name] = states[-1][name].clone()
    return found


def dangers(path: str | os.PathLike[str]) -> list[str]:
    """Name what a checkpoint would import or call that is not known to be harmless, without running it.

    Args:
        path: A file or a folder.

    Returns:
        One line each, empty for a file of tensors and plain data.

    >>> import tempfile
    >>> dangers(save({"w": torch.ones(2)}, Path(tempfile.mkdtemp()) / "a.pt"))
    []
    """
    from torchlore.ckpt import scan

    _wants.path("dangers", path=path)
    return [f"{one.verdict}: {one.what}, {one.reason}" for report in scan(Path(path)) for one in report.worst()]


def ailments(path: str | os.PathLike[str]) -> list[str]:
    """Say what is wrong with a checkpoint: NaN, negative variance, oversized storages, missing parts, cut-off tensors.

    Args:
        path: A file or a folder.

    Returns:
        One line each, gravest first.

    >>> import tempfile
    >>> ailments(save({"w": torch.ones(2) / 0}, Path(tempfile.mkdtemp()) / "a.pt"))
    ['error: w holds infinities.']
    """
    from torchlore.ckpt import inspect, read_checkpoint

    _wants.path("ailments", path=path)
    return [f"{one.severity}: {one.message}" for one in inspect(read_checkpoint(Path(path)))]


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    dtype: str | None = None,
    group: str | None = None,
    strip: bool = True,
) -> Path:
    """Write the weights of any checkpoint anew, without running it.

    Args:
        source: Any checkpoint; a whole-model pickle becomes a plain state_dict.
        target: A .safetensors file, or any other name for a file that `load` reads.
        dtype: "float16", "bfloat16" or another one for the floating-point weights.
        group: Which weights, where there are several; "ema" for the averaged ones.
        strip: Take the prefixes of wrappers off the names.

    Returns:
        The target.

    >>> import tempfile
    >>> path = save({"model": nn.DataParallel(nn.Linear(1, 2)).state_dict()}, Path(tempfile.mkdtemp()) / "a.pt")
    >>> load(convert(path, path.with_name("b.pt"), dtype="float16"))["weight"].dtype
    torch.float16
    """
    from torchlore.ckpt import convert as write

    _wants.path("convert", source=source, target=target)
    if dtype is not None:
        _wants.one_of("convert", "dtype", dtype, ("float64", "float32", "float16", "bfloat16"))
    write(Path(source), Path(target), dtype=dtype, which=group, prefix="auto" if strip else None)
    return Path(target)


def repair(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> list[str]:
    """Save the tensors of a damaged checkpoint that are whole.

    Args:
        source: A file that a crash cut off, or whose bytes changed.
        target: The file to write.

    Returns:
        What is lost, one line each.

    >>> import tempfile
    >>> path = save({"w": torch.ones(2)}, Path(tempfile.mkdtemp()) / "a.pt")
    >>> repair(path, path.with_name("b.pt"))
    []
    """
    from torchlore.ckpt import repair as salvage

    _wants.path("repair", source=source, target=target)
    return salvage(Path(source), Path(target)).notes


def distance(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> dict[str, float]:
    """Compare the weights of two checkpoints: relative distance of each tensor that differs, largest first.

    Args:
        first: Any checkpoint.
        second: Any checkpoint with the same names and shapes.

    Returns:
        Name -> norm of the difference over the norm of the first.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> distance(save({"w": torch.ones(2)}, folder / "a.pt"), save({"w": 3 * torch.ones(2)}, folder / "b.pt"))
    {'w': 2.0}
    """
    from torchlore.ckpt import diff

    _wants.path("distance", first=first, second=second)
    found = diff(Path(first), Path(second))
    odd = [*found.only_first, *found.only_second, *found.shapes]
    if odd:
        raise ValueError(
            f"{first} and {second} do not hold the same weights: {odd[0]!r} is not in both, or of another shape"
        )
    return {one.key: one.relative for one in found.changes}

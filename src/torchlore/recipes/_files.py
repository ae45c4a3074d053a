"""One checkpoint file: written whole or not at all, checked when read, loaded without running it.

Users import these from `checkpoint`.
"""

from __future__ import annotations

import collections
import io
import os
import pickle
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import torch

from torchlore.recipes import _wants

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.recipes.device import Device

PLAIN = (int, float, complex, str, bool, type(None), torch.Size, torch.dtype, torch.device)
TEMPORARY = ".part"
SIGNATURE = len(b"crc32:01234567")


class BrokenCheckpointError(ValueError):
    """A file that is not a whole checkpoint: cut short, changed, or something else."""


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only when it is whole and on the disk.

    Writes beside the target, flushes to the device, renames, and flushes the folder, so that after a crash or a power
    cut the name holds the old content or the new one. When the block raises, nothing is left.

    Args:
        path: The file to write; its folder is made.

    Yields:
        A binary file.

    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic(folder / "a.bin") as file: file.write(b"all")
    3
    >>> [one.name for one in folder.iterdir()]
    ['a.bin']
    """
    with atomic_path(path) as part, part.open("wb") as file:
        yield file


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the place beside the target that `atomic` writes to, for those who open a file by its name.

    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_path(folder / "a.txt") as part: part.write_text("all")
    3
    >>> (folder / "a.txt").read_text()
    'all'
    """
    _wants.path("", path=path)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=TEMPORARY, dir=target.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        _publish(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _publish(part: Path, target: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    part.chmod(0o666 & ~mask)  # mkstemp gives 0600, which a plain open() would not
    part.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def plain(value: Any, where: str = "state") -> Any:
    """Make sure that a value loads with `weights_only=True`, and say which part would not.

    NumPy numbers, which is what `np.mean(...)` gives, become Python numbers. A tensor that is a small view of a large
    storage is copied, because the whole storage would be written.

    Args:
        value: Dicts, lists, tuples, tensors, numbers and strings of any depth.
        where: What the value is called in the error.

    Returns:
        The same value with the replacements.

    >>> plain({"n": {1}})
    Traceback (most recent call last):
        ...
    TypeError: state['n'] is a builtins.set, which no safe load takes; save tensors, numbers, strings, lists and dicts
    """
    if isinstance(value, torch.Tensor):
        return _compact(value)
    if type(value) in PLAIN:
        return value
    if type(value) in {dict, collections.OrderedDict, collections.defaultdict}:
        return _plain_dict(value, where)
    if type(value) in {list, tuple}:
        return type(value)(plain(one, f"{where}[{number}]") for number, one in enumerate(value))
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return value.item()
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    raise TypeError(f"{where} is a {kind}, which no safe load takes; save tensors, numbers, strings, lists and dicts")


def _plain_dict(value: Mapping[Any, Any], where: str) -> dict[Any, Any]:
    pairs = {plain(key, f"a key of {where}"): plain(one, f"{where}[{key!r}]") for key, one in value.items()}
    if type(value) is not collections.OrderedDict:
        return pairs
    ordered = collections.OrderedDict(pairs)
    vars(ordered).update(vars(value))  # a state_dict keeps the versions of its modules in an attribute
    return ordered


def _compact(value: torch.Tensor) -> torch.Tensor:
    if value.is_sparse or value.layout is not torch.strided or value.device.type == "meta":
        return value
    wasteful = value.untyped_storage().nbytes() > 2 * value.numel() * value.element_size() + 1024
    return value.detach().clone() if wasteful else value.detach()


def save(state: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write a checkpoint atomically, so that `load` can check and read it safely.

    Args:
        state: Tensors, numbers, strings, lists and dicts; see `plain`.
        path: The file; its folder is made.

    Returns:
        The path.

    >>> path = save({"epoch": 3, "w": torch.ones(2)}, Path(tempfile.mkdtemp()) / "a.pt")
    >>> load(path)["epoch"]
    3
    """
    _wants.kind("save", Mapping, "a dict", state=state)
    _wants.path("save", path=path)
    checked = plain(dict(state))
    try:
        with atomic(path) as file:
            summed = _Summed(file)
            try:
                torch.save(checked, cast("IO[bytes]", summed))
            except RuntimeError as error:  # torch makes one of a full disk and forgets why
                raise summed.failed or error from None
            _sign(file, summed.crc)
    except (OSError, RuntimeError) as error:
        raise OSError(f"{path} could not be written, and what was there before is kept: {error}") from error
    return Path(path)


class _Summed(io.RawIOBase):
    """Passes everything on and keeps the CRC-32 of it, so that the file need not be read again."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.crc = file, 0
        self.failed: OSError | None = None

    def write(self, data: Any, /) -> int:
        self.crc = zlib.crc32(data, self.crc)
        try:
            return self.file.write(data)
        except OSError as error:
            self.failed = error
            raise


def _sign(file: IO[bytes], crc: int) -> None:
    """Put the sum of the whole file into the comment that every zip may end with."""
    file.seek(-2, os.SEEK_END)
    file.write(struct.pack("<H", SIGNATURE) + b"crc32:%08x" % crc)


def verify(path: str | os.PathLike[str]) -> None:
    """Raise `BrokenCheckpointError` where a checkpoint is cut short or any of its bytes changed.

    What `save` wrote ends with a CRC-32 of the whole file. A file of `torch.save` is a zip whose every record carries
    one, which torch writes and never looks at again; there the records and the list of them are checked.

    Args:
        path: A file written by `save` or `torch.save`.

    >>> verify(save({"w": torch.ones(2)}, Path(tempfile.mkdtemp()) / "a.pt"))
    """
    _wants.path("verify", path=path)
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no checkpoint {path}")
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        file.seek(max(size - SIGNATURE, 0))
        signature = re.fullmatch(rb"crc32:([0-9a-f]{8})", file.read())
        if signature and _sum(file, size - SIGNATURE - 2) != int(signature[1], 16):
            raise BrokenCheckpointError(f"{path} is damaged: its checksum does not fit")
    if not signature:
        _verify_zip(path, size)


def _sum(file: IO[bytes], length: int) -> int:
    """The CRC-32 of the first bytes and of the two zeros that stood behind them before the comment came."""
    file.seek(0)
    crc = 0
    while length > 0:
        part = file.read(min(length, 1 << 20))
        crc, length = zlib.crc32(part, crc), length - len(part)
    return zlib.crc32(b"\0\0", crc)


def _verify_zip(path: str | os.PathLike[str], size: int) -> None:
    with Path(path).open("rb") as file:
        file.seek(max(size - 22 - SIGNATURE, 0))
        end = file.read()
    place = end.rfind(b"PK\5\6")
    if 0 <= place <= len(end) - 22 and struct.unpack_from("<H", end, place + 20)[0] != len(end) - place - 22:
        raise BrokenCheckpointError(f"{path} ({size} bytes) is cut short")
    try:
        with zipfile.ZipFile(path) as archive:
            bad = archive.testzip()
            folders = [one.filename for one in archive.infolist() if one.external_attr & 0x10]
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, RuntimeError, EOFError) as error:
        raise BrokenCheckpointError(f"{path} ({size} bytes) is not a whole checkpoint: {error}") from error
    if bad is not None:
        raise BrokenCheckpointError(f"{path} is damaged: the checksum of its record {bad} does not fit")
    if folders:  # torch would believe it and read nothing
        raise BrokenCheckpointError(f"{path} is damaged: its record {folders[0]} is marked as a folder")


def load(path: str | os.PathLike[str], map_location: Device = "cpu", check: bool = True) -> dict[str, Any]:
    """Read a checkpoint without running anything in it.

    Args:
        path: A file written by `save` or `torch.save`.
        map_location: Where the tensors go, whatever device they were saved from.
        check: Verify every checksum first.

    Returns:
        What was saved.

    >>> load(save({"w": torch.ones(2)}, Path(tempfile.mkdtemp()) / "a.pt"))["w"]
    tensor([1., 1.])
    """
    _wants.path("load", path=path)
    target = _place(map_location)
    if check:
        verify(path)
    try:
        found: dict[str, Any] = torch.load(path, map_location=target, weights_only=True)
    except pickle.UnpicklingError as error:
        raise BrokenCheckpointError(
            f"{path} holds Python objects ({_objects(path)}), which loading would have to run; save state_dict() and "
            "plain numbers instead"
        ) from error
    except (RuntimeError, EOFError, ValueError, KeyError) as error:
        raise BrokenCheckpointError(f"{path} is not a checkpoint that torch can read: {error}") from error
    return found


def _place(map_location: Device) -> torch.device:
    try:
        return torch.device(map_location)
    except (RuntimeError, TypeError) as error:
        raise ValueError(_wants.message("load", "map_location", map_location, "a device such as 'cpu'")) from error


def _objects(path: str | os.PathLike[str]) -> str:
    try:
        return ", ".join(torch.serialization.get_unsafe_globals_in_checkpoint(str(path))) or "of an old format"
    except (pickle.UnpicklingError, RuntimeError, ValueError):
        return "which cannot even be listed"

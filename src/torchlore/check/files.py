"""Which files a check reads, and their text."""

from __future__ import annotations

import io
import os
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from torchlore.check.config import Config, matches

if TYPE_CHECKING:
    from collections.abc import Iterable

_SKIP = {".git", ".hg", ".svn", ".venv", "venv", "env", ".env", "node_modules", "__pycache__", ".mypy_cache", ".tox",
         ".nox", ".ruff_cache", ".pytest_cache", ".eggs", "build", "dist", "site-packages", ".ipynb_checkpoints"}  # fmt: skip
_TOO_LARGE = 3_000_000  # bytes; a generated file, and not one a person reads
_NOTEBOOK = 50_000_000  # bytes; pictures make notebooks large, not code


class Unreadable(NamedTuple):
    """A path that could not be checked, and why, in one line."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


def discover(paths: Iterable[str], config: Config, *, force: bool = False) -> tuple[list[str], list[Unreadable]]:
    """The files under these paths in sorted order, and what could not be read.

    A file named outright is taken though it is excluded, but with `force`.
    """
    files: set[str] = set()
    trouble: list[Unreadable] = []
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112  # a check of thousands of paths; pathlib costs twice the walk
            found, bad = _walk(path, config)
            files.update(found)
            trouble += bad
        elif os.path.exists(path):  # noqa: PTH110  # as above
            if not (force and _excluded(*os.path.split(path), config)):
                files.add(path)
        else:
            trouble.append(Unreadable(path, "no such file or folder"))
    return sorted(files), trouble


def _walk(top: str, config: Config) -> tuple[list[str], list[Unreadable]]:
    found: list[str] = []
    trouble: list[Unreadable] = []
    endings = (".py", ".ipynb", ".md") if config.markdown else (".py", ".ipynb")

    def failed(error: OSError) -> None:
        trouble.append(Unreadable(str(error.filename), f"cannot be read: {error.strerror}"))

    for folder, folders, names in os.walk(top, onerror=failed):  # links to folders are not followed: no loops
        folders[:] = sorted(name for name in folders if name not in _SKIP and not _excluded(folder, name, config))
        wanted = (name for name in names if name.endswith(endings) and not _excluded(folder, name, config))
        found += [os.path.normpath(os.path.join(folder, name)) for name in wanted]  # noqa: PTH118  # as above
    return found, trouble


def _excluded(folder: str, name: str, config: Config) -> bool:
    if not config.exclude:
        return False
    path = str(Path(folder, name).absolute())
    return any(matches(path, glob, config.root) for glob in config.exclude)


def read_bytes(path: str) -> bytes | Unreadable:
    """The bytes of a file, or why it cannot be read."""
    most = _NOTEBOOK if path.endswith(".ipynb") else _TOO_LARGE
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # the hottest read of the tool
            data = file.read(most + 1)
    except OSError as error:
        return Unreadable(path, f"cannot be read: {error.strerror}")
    if len(data) > most:
        return Unreadable(path, f"is larger than {most // 1_000_000} MB and was not checked: exclude it")
    return data


def decode(path: str, data: bytes) -> str | Unreadable:
    """Python source as text, by its own encoding declaration."""
    if b"\0" in data[:4096]:
        return Unreadable(path, "is binary, not Python source")
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        pass
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        return Unreadable(path, f"is not valid text: {error}")


def encoding_of(data: bytes) -> str:
    """The encoding a file was read with, to write it back the same way."""
    if data.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    return "utf-8"


def write_whole(path: Path, content: bytes) -> None:
    """In one move: a full disk or a kill leaves what was there."""
    import shutil

    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    there = path.exists()
    try:
        part.write_bytes(content)
        if there:
            shutil.copymode(path, part)
        part.replace(path)
    except OSError as error:
        left = "it was left as it was" if there else "it was not written"
        raise OSError(error.errno, f"{error.strerror}; {left}", str(path)) from error
    finally:
        part.unlink(missing_ok=True)

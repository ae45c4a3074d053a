"""What the user chose: `[tool.torchlore]` in pyproject.toml, and the flags that override it."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from torchlore.finding import Severity


class BrokenConfig(ValueError):
    """A setting that cannot be used; the message says which one, what it was and what it takes."""


@dataclass(frozen=True)
class Config:
    """Choices for one check."""

    select: tuple[str, ...] = ()  # only these slugs; empty: all
    ignore: tuple[str, ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()  # glob -> slugs silent there
    severity: tuple[tuple[str, str], ...] = ()  # slug -> severity in place of the note's own
    exclude: tuple[str, ...] = ()  # globs of files and folders not to read
    show: Severity = Severity.WARNING  # the mildest severity that is shown
    torch: tuple[int, ...] = ()  # the torch version the code is written for: (2, 4)
    markdown: bool = False
    root: str = ""  # the folder of the pyproject.toml, which globs are relative to
    known: frozenset[str] = field(default=frozenset(), compare=False, repr=False)  # a set has no fixed order in print


_KEYS = {"select", "ignore", "exclude", "per-file-ignores", "severity", "show", "torch", "markdown"}


def find_pyproject(start: Path) -> Path | None:
    """The nearest pyproject.toml at or above a path."""
    folder = start if os.path.isdir(start) else start.parent  # noqa: PTH112  # Path's own raises in a closed folder
    for candidate in (folder, *folder.parents):
        file = candidate / "pyproject.toml"
        if os.path.isfile(file):  # noqa: PTH113  # as above
            return file
    return None


def load(start: Path) -> Config:
    """The settings that hold for a path; the defaults where no pyproject.toml has a `[tool.torchlore]`."""
    file = find_pyproject(start.resolve())
    if file is None:
        return Config()
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise BrokenConfig(f"{file}: cannot be read: {error.strerror}") from error
    if b"tool.torchlore" not in raw:
        return Config(root=str(file.parent))
    import tomllib

    try:
        table = tomllib.loads(raw.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BrokenConfig(f"{file}: {error}") from error
    return read(table.get("tool", {}).get("torchlore", {}), file)


def read(table: dict[str, Any], file: Path) -> Config:
    """The settings of a `[tool.torchlore]` table; BrokenConfig where one cannot be used."""
    for key in table:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"it takes {', '.join(sorted(_KEYS))}"
            raise BrokenConfig(f"{file}: [tool.torchlore] has no setting `{key}`: {hint}")
    config = Config(root=str(file.parent))
    per_file = _table(table.get("per-file-ignores", {}), "per-file-ignores", file)
    severities = _table(table.get("severity", {}), "severity", file)
    return replace(
        config,
        select=_strings(table.get("select", []), "select", file),
        ignore=_strings(table.get("ignore", []), "ignore", file),
        exclude=_strings(table.get("exclude", []), "exclude", file),
        per_file=tuple((glob, _strings(slugs, f"per-file-ignores.{glob}", file)) for glob, slugs in per_file.items()),
        severity=tuple((slug, _severity(value, slug, file)) for slug, value in severities.items()),
        show=Severity(_severity(table["show"], "show", file)) if "show" in table else config.show,
        torch=_version(table["torch"], file) if "torch" in table else (),
        markdown=_flag(table.get("markdown", False), "markdown", file),
    )


def _strings(value: Any, key: str, file: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BrokenConfig(f"{file}: `{key}` takes a list of strings, got {value!r}")
    return tuple(value)


def _flag(value: Any, key: str, file: Path) -> bool:
    if not isinstance(value, bool):
        raise BrokenConfig(f"{file}: `{key}` is true or false, got {value!r}")
    return value


def _table(value: Any, key: str, file: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BrokenConfig(f"{file}: `{key}` takes a table, got {value!r}")
    return value


def _version(value: Any, file: Path) -> tuple[int, ...]:
    parts = value.split(".") if isinstance(value, str) else []
    if not parts or not all(part.isdecimal() for part in parts):
        raise BrokenConfig(f'{file}: `torch` takes the version the code is written for, such as "2.4", got {value!r}')
    return tuple(int(part) for part in parts)


def _severity(value: Any, key: str, file: Path) -> str:
    if value not in [*map(str, Severity)]:
        raise BrokenConfig(f"{file}: severity of `{key}` is error, warning or hint, got {value!r}")
    return str(value)


def silent(config: Config, path: str) -> set[str]:
    """Slugs that are not checked in a file."""
    found = set(config.ignore)
    for glob, slugs in config.per_file:
        if matches(path, glob, config.root):
            found.update(slugs)
    return found


def matches(path: str, glob: str, root: str) -> bool:
    """Whether a path fits a glob, written relative to the root or for a name anywhere."""
    from fnmatch import fnmatch

    name = path.replace("\\", "/")
    relative = name.removeprefix(f"{root.rstrip('/')}/") if root else name
    pattern = glob.rstrip("/")
    parts = relative.split("/")
    tails = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
    return any(fnmatch(part, pattern) for part in parts) or any(fnmatch(tail, pattern) for tail in tails)

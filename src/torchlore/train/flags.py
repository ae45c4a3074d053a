"""A dataclass as command-line flags and as a YAML file; the dataclass is the only schema."""

from __future__ import annotations

import argparse
import difflib
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from torchlore.train.run import TASKS, Refused, Run, defaults


def add_flags(parser: argparse.ArgumentParser) -> None:
    """One flag a field; unset flags stay None, so that a file's values can show through."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="read options from this YAML file; flags win over it"
    )
    for one in fields(Run):
        names = [f"--{one.name.replace('_', '-')}"]
        text = f"{one.metadata['help']} (default: {one.default if one.default != '' else 'none'})"
        if isinstance(one.default, bool):
            parser.add_argument(*names, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            parser.add_argument(
                *names,
                type=type(one.default),
                default=None,
                choices=one.metadata["choices"] or None,
                help=text,
                metavar=one.name.upper() if not one.metadata["choices"] else None,
            )


def from_flags(args: argparse.Namespace) -> Run:
    """The run: the task's defaults, then the file, then the flags."""
    given = {one.name: value for one in fields(Run) if (value := getattr(args, one.name, None)) is not None}
    return _made((_values(args.config) if args.config else {}) | given)


def read(path: Path) -> Run:
    """A run from a YAML file; an unknown or ill-typed name is refused with the nearest right one."""
    return _made(_values(path))


def _made(values: dict[str, Any]) -> Run:
    return replace(defaults(values.get("task", Run().task)), **values)


def _values(path: Path) -> dict[str, Any]:
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is no text: {error}") from None
    except yaml.YAMLError as error:
        raise Refused(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise Refused(f"{path} must hold names and values, such as `epochs: 10`; it holds a {type(values).__name__}")
    return {str(name): _typed(path, str(name), value) for name, value in values.items()}


def _typed(path: Path, name: str, value: Any) -> Any:
    known = {one.name: one for one in fields(Run)}
    if name not in known:
        alike = [one for one in known if name.replace("_", " ") in known[one].metadata["help"]]
        near = difflib.get_close_matches(name, known, n=1) or alike
        raise Refused(f"{path}: there is no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    wanted = type(known[name].default)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if wanted is float and isinstance(value, str):  # YAML 1.1 reads 1e-3 as a word
        try:
            return float(value)
        except ValueError:
            pass
    if type(value) is not wanted:
        raise Refused(f"{path}: {name} takes a {wanted.__name__}; got {value!r}")
    return value


def write(run: Run, path: Path) -> None:
    """The run as YAML, every field, in the order of the dataclass; written whole, as a resumed run may be killed here."""
    import yaml

    from torchlore.recipes.checkpoint import atomic

    with atomic(path) as file:
        file.write(yaml.safe_dump(asdict(_rooted(run)), sort_keys=False).encode())


def _rooted(run: Run) -> Run:
    """The run with the files it names called from the root, so that it goes on from any folder."""

    def whole(name: str) -> str:
        return str(Path(name).absolute()) if Path(name).exists() else name

    embedded = {preset.defaults.get("data", Run().data) for preset in TASKS.values()}
    path, mark, factory = run.model.rpartition(":")
    return replace(
        run,
        data=run.data if run.data in embedded else whole(run.data),
        model=f"{whole(path)}:{factory}" if mark and path.endswith(".py") else run.model,
        weights=run.weights if run.weights in ("none", "default") else whole(run.weights),
    )

"""Run a program as `python` would, with the watch on."""

from __future__ import annotations

import importlib.util
import io
import json
import multiprocessing.util
import os
import shutil
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter_ns
from types import TracebackType

from torchlore.finding import Finding, Severity
from torchlore.watch.ending import on_sigterm
from torchlore.watch.hook import after_import
from torchlore.watch.ledger import live
from torchlore.watch.places import MAKERS
from torchlore.watch.ranks import VARIABLE
from torchlore.watch.reading import Reading
from torchlore.watch.session import Options, Sentinel, Watcher

OURS = str(Path(__file__).parent) + os.sep
SITE = Path(__file__).parent / "site"


@dataclass(frozen=True)
class Program:
    """What to run: exactly one of a script's path, a module's name and code."""

    arguments: list[str]  # of the program, without its own name
    script: str = ""
    module: str = ""
    code: str = ""


@dataclass
class Outcome:
    """How the program ended, and what was found."""

    status: int
    findings: list[Finding]
    watcher: Watcher
    interrupted: bool = False
    unread: str = ""  # why the source was not read, where it was not


class CannotRun(Exception):
    """The program cannot even be started; the message says why, as python's own would."""


def run(
    program: Program,
    sentinels: Callable[[], Iterable[Sentinel]],
    options: Options,
    ended: Callable[[Outcome], None] | None = None,
) -> Outcome:
    """Run the program to its end; exceptions are printed as python prints them. The sentinels are asked for once torch is there.

    Where SIGTERM ends the program, `ended` gets what was found until then, and the process ends as it would have without us.
    """
    source, path = _prepare(program)
    options.roots = (*options.roots, path if path.startswith("<") else os.path.dirname(os.path.abspath(path)) + os.sep)  # noqa: PTH100, PTH120 - strings are compared
    watcher = Watcher([], options)
    with tempfile.TemporaryDirectory(prefix="lore-watch-") as folder:
        _tell_children(folder, options)
        reading = Reading(options)
        after_import("torch", lambda: begin(watcher, sentinels, folder, reading), lambda: reading.begin(path))
        on_sigterm(lambda: _terminated(watcher, reading, folder, ended))
        status, interrupted = _execute(source, path)
        return _outcome(watcher, reading, folder, status, interrupted=interrupted)


def _outcome(watcher: Watcher, reading: Reading, folder: str, status: int, *, interrupted: bool) -> Outcome:
    """What this process and those it started have found."""
    watcher.rich = True
    watcher.run.crashed = status != 0 or 0 < watcher.options.steps <= watcher.run.steps
    watcher.finish()
    seen = [*watcher.ledger.results(), *_from_children(folder, watcher)]
    return Outcome(status, merged(reading.together(seen)), watcher, interrupted, reading.trouble)


def _terminated(watcher: Watcher, reading: Reading, folder: str, ended: Callable[[Outcome], None] | None) -> None:
    outcome = _outcome(watcher, reading, folder, 128 + signal.SIGTERM, interrupted=False)
    shutil.rmtree(folder, ignore_errors=True)
    if ended is not None:
        ended(outcome)


def begin(watcher: Watcher, sentinels: Callable[[], Iterable[Sentinel]], folder: str, reading: Reading) -> None:
    """Torch is imported: set the probes. A process forked later begins with empty hands and leaves what it finds."""
    from torchlore.watch.probes import install

    start = perf_counter_ns()
    watcher.take(sentinels())
    install(watcher)
    found = reading.end()
    for one in found:
        watcher.tell(live(one))
    watcher.read.update((one.slug, one.path) for one in found)
    watcher.pace.setup_ns = perf_counter_ns() - start
    multiprocessing.util.register_after_fork(watcher, lambda forked: _after_fork(forked, folder))


def _after_fork(watcher: Watcher, folder: str) -> None:
    watcher.ledger.findings.clear()
    watcher.options.live = None
    watcher.run.past -= watcher.run.steps
    multiprocessing.util.Finalize(None, leave, args=(watcher, folder, Reading(watcher.options)), exitpriority=100)


def _prepare(program: Program) -> tuple[bytes, str]:
    """The source to run and its file name; `__main__`, `sys.argv` and `sys.path[0]` are set as python sets them."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=__builtins__, __file__=None, __cached__=None, __package__=None)
    if program.code:
        name, path, first, source = "-c", "<string>", "", program.code.encode()
        main.__dict__.pop("__file__")
    elif program.module:
        path = _find_module(program.module, main)
        name, first = path, str(Path.cwd())
        source = Path(path).read_bytes()
    else:
        name, path = program.script, os.path.abspath(program.script)  # noqa: PTH100 - symlinks stay, as with python
        first = os.path.dirname(os.path.realpath(path))  # noqa: PTH120 - as python does
        try:
            with io.open_code(path) as file:  # audited, as python opens scripts
                source = file.read()
        except OSError as error:
            raise CannotRun(f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}") from None
    if not program.code:
        main.__file__ = path
    sys.modules["__main__"] = main
    sys.argv[:] = [name, *program.arguments]
    sys.path[0] = first
    return source, path


def _find_module(name: str, main: types.ModuleType) -> str:
    sys.path[0] = str(Path.cwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        raise CannotRun(f"Error while finding module specification for {name!r} ({error})") from None
    if spec is None or spec.origin is None or not spec.has_location:
        raise CannotRun(f"No module named {name}")
    main.__spec__, main.__loader__, main.__package__ = spec, spec.loader, spec.parent
    return spec.origin


def _execute(source: bytes, path: str) -> tuple[int, bool]:
    """The exit status, and whether Ctrl-C ended it."""
    try:
        code = compile(source, path, "exec", dont_inherit=True)
        exec(code, sys.modules["__main__"].__dict__)  # noqa: S102 - running the user's program is what this is for
    except SystemExit as leaving:
        return _status(leaving.code), False
    except KeyboardInterrupt as error:
        _complain(error)
        return 128 + signal.SIGINT, True
    except BaseException as error:  # noqa: BLE001 - whatever ends the program is printed as python prints it
        _complain(error)
        return 1, False
    finally:
        sys.stdout.flush()
    return 0, False


def _status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1


def _complain(error: BaseException) -> None:
    """The traceback without our own frames."""
    sys.stdout.flush()
    hide(error)
    sys.excepthook(type(error), error, error.__traceback__)


def hide(error: BaseException) -> None:
    """Take our frames out of a traceback, and out of those of its causes."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        one.__traceback__ = _without_ours(one.__traceback__)
        one = one.__cause__ or one.__context__


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(OURS) and code not in MAKERS:
            frames.append(traceback)
        traceback = traceback.tb_next
    result = None
    for one in reversed(frames):
        result = TracebackType(result, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return result


def _tell_children(folder: str, options: Options) -> None:
    """Processes started by the program watch themselves and leave what they found in this folder."""
    settings = {
        "folder": folder,
        "share": options.share,
        "steps": options.steps,
        "only": sorted(options.only),
        "ignore": sorted(options.ignore),
        "roots": list(options.roots),
        "reads": options.source,
        "source": str(Path(__file__).parents[2]),
    }
    os.environ[VARIABLE] = json.dumps(settings)
    old = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{SITE}{os.pathsep}{old}" if old else str(SITE)


def leave(watcher: Watcher, folder: str, reading: Reading) -> None:
    """Write what a child process found; a DataLoader's worker was no part of the watch."""
    if watcher.off or not Path(folder).is_dir():
        return
    watcher.finish()
    seen = watcher.ledger.results()
    found = [asdict(one) for one in reading.together(seen)]
    facts = {"steps": watcher.run.steps, "cost_ns": watcher.pace.total_ns, "findings": found}
    Path(folder, f"{os.getpid()}.json").write_text(json.dumps(facts), encoding="utf-8")


def _from_children(folder: str, watcher: Watcher) -> list[Finding]:
    found = list[Finding]()
    for path in sorted(Path(folder).glob("*.json")):
        left = json.loads(path.read_text(encoding="utf-8"))
        watcher.run.child_steps += left["steps"]
        found.extend(Finding(**{**one, "severity": Severity(one["severity"]), "edits": ()}) for one in left["findings"])
    return found


def merged(findings: list[Finding]) -> list[Finding]:
    """One for each trap and line, with the counts added up: two ranks see the same."""
    from dataclasses import replace

    by_place: dict[tuple[str, str, int], Finding] = {}
    for one in findings:
        key = (one.slug, one.path, one.line)
        old = by_place.get(key)
        by_place[key] = one if old is None else replace(old, count=old.count + one.count)
    return sorted(by_place.values(), key=lambda one: (one.severity.rank, one.step or 0, one.path, one.line))

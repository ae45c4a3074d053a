"""Where in the user's own code something happens: the first frame that is neither PyTorch's, Python's nor ours."""

from __future__ import annotations

import dis
import inspect
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType
from typing import Any

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # noqa: PTH100, PTH120 - strings are compared
Maker = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
IGNORED = re.compile(r"#\s*lore:\s*ignore(?:\[([\w\-, ]+)\])?")


_make: Maker = lambda original, args, kwargs: original(*args, **kwargs)  # noqa: E731 - one line, so that all of it stands on one
MAKERS: set[CodeType] = set()  # frames of these are ours, whatever file they name


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the user's program."""

    path: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        return f"{os.path.basename(self.path)}:{self.line}"  # noqa: PTH119 - a string, not a path to open

    @property
    def text(self) -> str:
        """The source line, stripped; "" where the source cannot be read."""
        return linecache.getline(self.path, self.line).strip()

    def first(self, pattern: str) -> Place | None:
        """The first line of its file that matches, None where none does."""
        lines = linecache.getlines(self.path)
        return next((Place(self.path, n, "") for n, line in enumerate(lines, 1) if re.search(pattern, line)), None)

    def ignores(self, slug: str) -> bool:
        """Whether `# lore: ignore` or `# lore: ignore[slug]` stands on the line or alone on the one above."""
        above = linecache.getline(self.path, self.line - 1) if self.line > 1 else ""
        lines = [linecache.getline(self.path, self.line), above if above.lstrip().startswith("#") else ""]
        found = [match for line in lines for match in IGNORED.finditer(line)]
        return any(match[1] is None or slug in re.split(r"[,\s]+", match[1].strip()) for match in found)


def assignment(owner: type, attribute: str) -> Place | None:
    """The line of a class that sets `self.<attribute>`; the line of the class itself where there is none."""
    return line_in(owner, rf"\bself\.{re.escape(attribute)}\s*(:[^=]+)?=")


def layer_line(modules: Iterable[Any], tensor: Any) -> Place | None:
    """The line of the user's class that sets the layer with this parameter, or the parameter itself; None where there is none."""
    for module in modules:
        for path, part in module.named_modules():
            key = next((name for name, one in part.named_parameters(recurse=False) if one is tensor), None)
            if key is None:
                continue
            above, _, attribute = path.rpartition(".")
            torchs = type(part).__module__.startswith("torch.")
            owner, name = (module.get_submodule(above), attribute) if torchs else (part, key)
            mine = name and not type(owner).__module__.startswith("torch.")
            return assignment(type(owner), name) if mine else None
    return None


def line_in(owner: type | Callable[..., Any], pattern: str) -> Place | None:
    """The first line of a class or function that matches; its own first line where none does, None without a source."""
    try:
        lines, first = inspect.getsourcelines(owner)
        path = inspect.getsourcefile(owner) or ""
    except (OSError, TypeError):
        return None
    offset = next((n for n, line in enumerate(lines) if re.search(pattern, line)), 0)
    return Place(path, first + offset, owner.__name__)


def _library_roots() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")} | {os.path.dirname(os.__file__)}  # noqa: PTH120 - strings are compared
    folders |= {os.path.realpath(folder) for folder in folders}
    return tuple(sorted(folder + os.sep for folder in folders))


class Map:
    """Which code is the user's. One a watch: `roots` are folders that count as the user's wherever they lie."""

    def __init__(self, roots: tuple[str, ...] = ()) -> None:
        self.libraries = _library_roots()
        self.roots = roots
        self.known: dict[CodeType, bool] = {}
        self.calls: dict[tuple[CodeType, int], str] = {}
        self.makers: dict[tuple[CodeType, int], Maker] = {}

    def is_user(self, code: CodeType) -> bool:
        """Whether this code was written by the user."""
        known = self.known.get(code)
        if known is None:
            known = self.known[code] = self.judge(code.co_filename)
        return known

    def judge(self, path: str) -> bool:
        """The same for a file name."""
        if path.startswith("<"):
            return path.startswith("<ipython") or path in self.roots
        if any(self.holds(root, path) for root in self.roots):
            return True
        if path.startswith(OURS):
            return f"{os.sep}notes{os.sep}" in path
        return not path.startswith(self.libraries) and f"{os.sep}site-packages{os.sep}" not in path

    def holds(self, root: str, path: str) -> bool:
        """Whether a file lies in this folder of the user's, and not in libraries that lie in it: an environment in a project."""
        inner = [one for one in (*self.libraries, OURS) if one.startswith(root) and one != root]
        installed = f"{os.sep}site-packages{os.sep}" in os.sep + path.removeprefix(root)
        return path.startswith(root) and not installed and not path.startswith((*inner, "\0"))

    def frame(self, depth: int = 1) -> FrameType | None:
        """The nearest frame of the user's, `depth` frames up from the caller."""
        frame: FrameType | None = sys._getframe(depth + 1)  # noqa: SLF001 - the documented way to look up the stack
        while frame is not None and not self.is_user(frame.f_code):
            frame = frame.f_back
        return frame

    def place(self, frame: FrameType | None) -> Place | None:
        """Where this frame stands."""
        return None if frame is None else Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)

    def maker(self, frame: FrameType) -> Maker:
        """What makes a call as if from the line this frame stands on: a warning in it names that line, not one of ours."""
        key = (frame.f_code, frame.f_lasti)
        known = self.makers.get(key)
        if known is None:
            at = frame.f_code
            code = _make.__code__.replace(
                co_filename=at.co_filename, co_name=at.co_name, co_firstlineno=frame.f_lineno or at.co_firstlineno
            )
            known = self.makers[key] = FunctionType(code, frame.f_globals)
            self.known[code] = False
            MAKERS.add(code)
        return known

    def next_instruction(self, frame: FrameType) -> str:
        """The name of the instruction after the call that runs now: POP_TOP means that the result is thrown away."""
        key = (frame.f_code, frame.f_lasti)
        known = self.calls.get(key)
        if known is None:
            known = self.calls[key] = _after(*key)
        return known


def _after(code: CodeType, last: int) -> str:
    """On Python 3.11 `f_lasti` points into the inline cache of the CALL: take the last instruction that starts before."""
    names = [(one.offset, one.opname) for one in dis.get_instructions(code) if one.opname not in ("CACHE", "NOP")]
    index = max((n for n, (offset, _) in enumerate(names) if offset <= last), default=0)
    if not names[index][1].startswith("CALL") or index + 1 >= len(names):
        return ""
    return names[index + 1][1]

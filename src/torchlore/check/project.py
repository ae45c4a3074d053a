"""The files of one check, and how their functions, classes and methods find each other."""

from __future__ import annotations

import ast
import os
from collections import Counter
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from torchlore.check.names import top_level
from torchlore.check.pattern import regex
from torchlore.check.source import Source
from torchlore.check.text import Text
from torchlore.check.tree import FunctionNode, class_of, function, method_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_IMPORT = regex(r"\n[ \t]*(?:from|import)[ \t]+([\w., \t]+)")
_DEF = regex(r"def (\w+)\(")
_CALLER_FILES = 3  # files read for the callers of one function


class Function(NamedTuple):
    """A function or method of the project."""

    source: Source
    node: FunctionNode
    qualified: str
    owner: ast.ClassDef | None = None  # the class of a method


class Class(NamedTuple):
    """A class of the project."""

    source: Source
    node: ast.ClassDef
    qualified: str


class Project:
    """The files of one check. Files are read and parsed when somebody asks for them."""

    def __init__(self, files: Iterable[tuple[str, str]] = (), torch: tuple[int, ...] = ()) -> None:
        self.torch = torch  # the version the code is written for; () where nobody said
        self._paths: dict[str, str] = {}  # module -> path
        self.twins: dict[str, list[str]] = {}  # module -> paths, where several folders have their own `model.py`
        self.given: set[str] = set()  # paths of the files of this check
        self.texts: dict[str, str] = {}  # path -> text, for those that were read or handed in
        self.contents: dict[str, bytes] = {}  # path -> what is in the file, where somebody has read it already
        for path, text in files:
            self.add([path])
            self.texts[path] = text
        self.parsed: dict[str, Source | None] = {}  # path -> file; None where it cannot be parsed
        self._importers: dict[str, list[str]] | None = None
        self.state: dict[Any, Any] = {}  # what the value engine keeps while it works
        self.consulted: set[str] = set()  # other files asked about since `begin`
        self._home = ""
        self._turn = 0
        self._size = 0  # characters of all parsed files
        self._asked: dict[str, int] = {}  # path -> the last turn in which somebody asked for it
        self._defines: dict[str, frozenset[str]] = {}
        self._found: dict[Any, Any] = {}  # answers that hold while one file is checked
        self._folders: dict[
            str, bool
        ] = {}  # whether a module or its folder is in a folder, whether a project begins there

    def adopt(self, source: Source) -> None:
        """Make a parsed file known under its path and module."""
        self.add([source.path], source.module)
        known = self.parsed.get(source.path)
        if known is not source:
            self._size += len(source.text) - (len(known.text) if known else 0)
        self.parsed[source.path] = source
        self._asked[source.path] = self._turn
        self._found.clear()

    def add(self, paths: Iterable[str], module: str = "") -> None:
        """Make files known by their paths; they are read when somebody asks for them."""
        for path in paths:
            name = module or module_name(path)
            first = self._paths.get(name)
            if not first:
                self._paths[name] = path
            elif path != first and path not in self.given:
                self.twins.setdefault(name, [first]).append(path)
            self.given.add(path)

    def begin(self, path: str) -> None:
        """A file is checked from here on."""
        self.consulted.clear()
        self._found.clear()
        self._home = path
        self._turn += 1

    def source(self, path: str) -> Source | None:
        """The parsed file, None if it cannot be read or parsed."""
        if path != self._home:
            self.consulted.add(path)
        if path not in self.parsed:
            found = self.parsed[path] = _parse(self, path)
            self._size += len(found.text) if found else 0
        self._asked[path] = self._turn
        return self.parsed[path]

    def module(self, name: str, near: str = "") -> Source | None:
        """The file of a module: one of the project's, or one beside a file of the project that imports it."""
        path = self.path(name, near)
        known = path in self.given or near in self.given or near.endswith("__init__.py")  # no further: it must end
        return self.source(path) if path and known else None

    def path(self, name: str, near: str) -> str | None:
        """The file of a module: one of the project's, or one beside the importing file."""
        if name in self.twins:
            return _nearest(self.twins[name], near)
        path = self._paths.get(name)
        if path is None and near and near not in ("<text>", "<stdin>"):
            path = _beside(name, near, self._folders)
            self._paths[name] = path or ""
        return path

    def find(self, qualified: str, near: str = "", hops: int = 5) -> Function | Class | None:
        """The function, class or method of this full name, followed through re-exports."""
        key = qualified, near, hops
        if key not in self._found:
            self._found[key] = _find(self, qualified, near, hops)
        found: Function | Class | None = self._found[key]
        return found

    def resolve(self, source: Source, node: ast.expr) -> Function | Class | None:
        """The project's function or class that a name or dotted name stands for."""
        name = source.name(node)
        if isinstance(node, ast.Name) and (not name or node.id in _defined_again(source)):
            return _nested(source, node)
        if "." in name and not name.startswith(("torch.", "numpy.")):
            return self.find(name, source.path)
        return None

    def bases(self, cls: Class) -> tuple[list[Class], set[str]]:
        """The project's classes a class inherits from (itself first), and the full names of the others."""
        key = "bases", cls.node
        if key not in self._found:
            self._found[key] = [cls], set()  # `class Net(Net.Base)` over another Net asks for itself
            self._found[key] = _bases(self, cls)
        found: tuple[list[Class], set[str]] = self._found[key]
        return found

    def method(self, cls: Class, name: str) -> Function | None:
        """The method a class has or inherits inside the project."""
        key = "method", cls.node, name
        if key not in self._found:
            self._found[key] = _method(self, cls, name)
        found: Function | None = self._found[key]
        return found

    def importers(self, module: str) -> list[str]:
        """Paths of the project's files that import a module, by the last part of its name."""
        if len(self._paths) > 1:
            self.consulted.add("")  # the answer depends on which files there are
        if self._importers is None:
            self._importers = {}
            for path in sorted({*self._paths.values(), *self.given} - {""}):
                for tail in _imported_tails(self.text(path) or ""):
                    self._importers.setdefault(tail, []).append(path)
        return self._importers.get(module.rpartition(".")[2], [])

    def trim(self, most: int) -> None:
        """Between two checks: where more characters are parsed than this, let go of the files not asked for the longest."""
        if self._size <= most:
            return
        for path in sorted(self.parsed, key=lambda one: self._asked[one]):
            source = self.parsed[path]
            if source is not None:
                source.memo.clear()  # it may speak of files that are gone
                if self._size > most // 2:
                    self._size -= len(source.text)
                    source.release()
                    del self.parsed[path]
        self.state.clear()

    def text(self, path: str) -> str | None:
        """The text of a file, None if it cannot be read."""
        if path not in self.texts:
            known = self.parsed.get(path)
            try:
                self.texts[path] = known.text if known else Text(_text(path, self.contents.get(path)))
            except (OSError, ValueError):
                return None
        return self.texts[path]

    def defines(self, path: str) -> frozenset[str]:
        """Names of the functions and methods a file defines, by its text alone; and "backward()" where it runs one."""
        found = self._defines.get(path)
        if found is None:
            found = self._defines[path] = defined(self.text(path) or "")
        return found


def _text(path: str, content: bytes | None) -> str:
    """The text of a file, every line ended by one newline; ValueError where it is not UTF-8."""
    text = (Path(path).read_bytes() if content is None else content).decode()
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _parse(project: Project, path: str) -> Source | None:
    text = project.text(path)
    if text is None or len(text) > 3_000_000:
        return None
    try:
        return Source(text, path, project, module_name(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _find(project: Project, qualified: str, near: str, hops: int) -> Function | Class | None:
    module, _, name = qualified.rpartition(".")
    while module and hops:
        source = project.module(module, near)
        if source is not None:
            return _in_module(project, source, name.split("."), hops)
        module, _, head = module.rpartition(".")
        name = f"{head}.{name}"
    return None


def _bases(project: Project, cls: Class) -> tuple[list[Class], set[str]]:
    order, outside = [cls], set()
    for base in cls.node.bases:
        node = base.value if isinstance(base, ast.Subscript) else base
        name = cls.source.name(node)
        found = project.resolve(cls.source, node)
        if isinstance(found, Class) and found.node is not cls.node:
            more, names = project.bases(found)
            order += [one for one in more if one.node is not cls.node]
            outside |= names
        else:
            outside.add(name or cls.source.code(node))
    return order, outside


def _method(project: Project, cls: Class, name: str) -> Function | None:
    for base in project.bases(cls)[0]:
        for node in base.node.body:
            if isinstance(node, FunctionNode) and node.name == name:
                return Function(base.source, node, f"{base.qualified}.{name}", base.node)
    return None


def _in_module(project: Project, source: Source, parts: list[str], hops: int) -> Function | Class | None:
    found = definitions(source).get(parts[0])
    if found is None:
        target = source.names.imported.get(parts[0])
        if target and target != f"{source.module}.{parts[0]}":
            return project.find(".".join([target, *parts[1:]]), source.path, hops - 1)
        return None
    if len(parts) == 1:
        return found
    if isinstance(found, Class) and len(parts) == 2:
        return project.method(found, parts[1])
    return None


def defined(text: str) -> frozenset[str]:
    """Names of the functions and methods a text defines, by a glance; and "backward()" where it runs a backward pass."""
    return frozenset((*_DEF.findall(text), *(("backward()",) if ".backward(" in text else ())))


def imported_files(source: Source) -> set[str]:
    """Paths of the project's files that a file imports something from, itself left out."""
    project, near = source.project, source.path
    found: set[str] = set()
    for qualified in source.names.imported.values():
        for module in (qualified, qualified.rpartition(".")[0]):
            path = project.path(module, near) if module and not module.startswith(("torch.", "numpy")) else None
            if path:
                found.add(path)
                break
    found.discard(near)
    if found:
        project.consulted.add("")
    return found


def ambiguous(project: Project, qualified: str) -> bool:
    """Whether several files are called like the module of this name: `model.Net` where each folder has its `model.py`."""
    twins, name = project.twins, qualified if project.twins else ""
    while name := name.rpartition(".")[0]:
        if name in twins:
            return True
    return False


def candidates(project: Project, found: Function | Class, word: str) -> Iterator[Source]:
    """The file itself, then files that import it and hold the word."""
    yield found.source
    count, users = 0, project.importers(found.source.module)
    known: dict[tuple[str, str], list[str]] = project.state.setdefault("users", {})
    key = found.source.path, word
    if users and key not in known:  # asked for `forward` of every class of a module
        saying = [path for path in users if f"{word}(" in (project.text(path) or "")]
        twins = ambiguous(project, found.qualified)
        mine = found.source.path, None
        known[key] = [path for path in saying if not twins or project.path(found.source.module, path) in mine]
    for path in known[key] if users else ():
        if path == found.source.path:
            continue
        source = project.source(path)
        if source is not None:
            yield source
            count += 1
            if count >= _CALLER_FILES:
                return


def in_notebooks(project: Project, word: str) -> bool:
    """Whether a notebook of the project says a word: what its cells import and call is not followed."""
    project.consulted.add("")  # the answer depends on which files there are
    books = (path for path in sorted(project.given) if path.endswith(".ipynb"))
    return any(word in (project.text(path) or "") for path in books)


def alone(source: Source) -> Project:
    """The project of one file that is already parsed."""
    project = Project()
    project.adopt(source)
    return project


@cache
def _is_package(folder: str) -> bool:
    return os.path.isfile(f"{folder}/__init__.py")  # noqa: PTH113  # asked for every file; pathlib costs ten times as much


@cache
def module_name(path: str) -> str:
    """Dotted module name of a file: its packages are the folders above it that hold an `__init__.py`."""
    folder, file = os.path.split(path)
    stem = os.path.splitext(file)[0]  # noqa: PTH122  # as above
    parts = [] if stem == "__init__" else [stem]
    while folder and folder != "." and (name := os.path.basename(folder)) and _is_package(folder):  # noqa: PTH119  # as above
        parts.append(name)
        folder = os.path.dirname(folder)  # noqa: PTH120  # as above
    return ".".join(reversed(parts)) or "__main__"


def _imported_tails(text: str) -> set[str]:
    tails: set[str] = set()
    for match in _IMPORT.finditer(f"\n{text}"):
        for part in match[1].replace(" import ", ",").split(","):
            tails.add(part.strip().split(" ")[0].rpartition(".")[2])
    return tails


def _nearest(paths: list[str], near: str) -> str | None:
    """Of several modules of one name the one whose folder shares most with the importing file's; None where two do."""
    if near in paths:
        return near  # `vae.py` beside `vae.ipynb`: its own names are its own
    paths = [path for path in paths if path.endswith(".py")] or paths  # nobody imports a notebook
    folder = near.split("/")[:-1]
    pairs = (zip(path.split("/")[:-1], folder, strict=False) for path in paths)
    shared = [sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], one)) for one in pairs]
    best = [path for path, count in zip(paths, shared, strict=True) if count == max(shared)]
    return best[0] if len(best) == 1 else None


def _beside(name: str, near: str, known: dict[str, bool]) -> str | None:
    inner, above = name.replace(".", "/"), os.path.dirname  # pathlib costs ten times as much
    head = inner.partition("/")[0]
    folder = above(near.removeprefix("./"))
    for _ in range(4):
        start = f"{folder.rstrip('/')}/" if folder else ""
        if _exists(known, f"{start}{head}.py", f"{start}{head}"):
            for file in (f"{start}{inner}.py", f"{start}{inner}/__init__.py"):
                if os.path.isfile(file):  # noqa: PTH113  # as above
                    return file
        if above(folder) == folder or _exists(known, f"{start}.git", f"{start}pyproject.toml"):
            return None
        folder = above(folder)
    return None


def _exists(known: dict[str, bool], one: str, other: str) -> bool:
    """Whether one of two paths exists, looked up once: a package's modules are asked for one by one."""
    if one not in known:
        known[one] = os.path.exists(one) or os.path.exists(other)  # noqa: PTH110  # as above
    return known[one]


def definitions(source: Source) -> dict[str, Function | Class]:
    """Functions and classes at the top of a file, by name."""
    table: dict[str, Function | Class] | None = source.memo.get("definitions")
    if table is None:
        table = source.memo["definitions"] = {}
        for node in top_level(source.tree):
            if isinstance(node, FunctionNode):
                table[node.name] = Function(source, node, f"{source.module}.{node.name}")
            elif isinstance(node, ast.ClassDef):
                table[node.name] = Class(source, node, f"{source.module}.{node.name}")
    return table


def _defined_again(source: Source) -> dict[str, ast.ClassDef]:
    """Classes that a file defines more than once, as notebooks do: the last of each name."""
    found: dict[str, ast.ClassDef] | None = source.memo.get("defined again")
    if found is None:
        seen = Counter(node.name for node in source.all(ast.ClassDef))
        found = {node.name: node for node in source.all(ast.ClassDef) if seen[node.name] > 1}
        source.memo["defined again"] = found
    return found


def as_class(source: Source, node: ast.ClassDef) -> Class:
    """A class node as a class of the project; one that is defined again further down has a name of its own."""
    known: dict[ast.ClassDef, Class] = source.memo.setdefault("classes", {})
    if node not in known:
        known[node] = _as_class(source, node)
    return known[node]


def _as_class(source: Source, node: ast.ClassDef) -> Class:
    outer = function(source, node)
    again = "" if outer or _defined_again(source).get(node.name, node) is node else f"@{node.lineno}"
    return Class(source, node, f"{source.module}.{outer.name + '.' if outer else ''}{node.name}{again}")


def as_function(source: Source, node: FunctionNode) -> Function:
    """A function node as a function of the project, with the class it is a method of."""
    owner = method_class(source, node)
    middle = f"{owner.name}." if owner else ""
    return Function(source, node, f"{source.module}.{middle}{node.name}", owner)


def _nested(source: Source, name: ast.Name) -> Function | Class | None:
    from torchlore.check.scopes import reaching

    for binding in reaching(source, name):
        if isinstance(binding.node, FunctionNode):
            return as_function(source, binding.node)
        if isinstance(binding.node, ast.ClassDef):
            return as_class(source, binding.node)
    return None


def enclosing_class(source: Source, node: ast.AST) -> Class | None:
    """The class around a node as a class of the project."""
    found = class_of(source, node)
    return as_class(source, found) if found else None

"""The files of one check, and how their functions, classes and methods find each other."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from torchlore.check.names import top_level
from torchlore.check.source import Source
from torchlore.check.tree import FunctionNode, class_of, function, method_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([\w., \t]+)", re.MULTILINE)
_CALLER_FILES = 3  # files read for the callers of one function
_FOREIGN_FILES = 12  # files looked into for the sake of one


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

    def __init__(self, files: Iterable[tuple[str, str]] = ()) -> None:
        self._paths: dict[str, str] = {}  # module -> path
        self._texts: dict[str, str] = {}  # path -> text, for those that were handed in
        for path, text in files:
            self._paths.setdefault(module_name(path), path)
            self._texts[path] = text
        self.parsed: dict[str, Source | None] = {}  # path -> file; None where it cannot be parsed
        self._importers: dict[str, list[str]] | None = None
        self.state: dict[Any, Any] = {}  # what the value engine keeps while it works
        self.consulted: set[str] = set()  # other files asked about since `begin`
        self._home = ""

    def adopt(self, source: Source) -> None:
        """Make a parsed file known under its path and module."""
        self._paths[source.module] = source.path
        self.parsed[source.path] = source

    def add(self, paths: Iterable[str]) -> None:
        """Make files known by their paths; they are read when somebody asks for them."""
        for path in paths:
            self._paths.setdefault(module_name(path), path)

    def begin(self, path: str) -> None:
        """A file is checked from here on: it may look into a few others, the same ones whoever checks it."""
        self.consulted.clear()
        self._home = path

    def source(self, path: str) -> Source | None:
        """The parsed file, None if it cannot be read or parsed, or if enough files were consulted."""
        if path != self._home and path not in self.consulted:
            if len(self.consulted) >= _FOREIGN_FILES:
                return None
            self.consulted.add(path)
        if path not in self.parsed:
            self.parsed[path] = self._parse(path)
        return self.parsed[path]

    def module(self, name: str, near: str = "") -> Source | None:
        """The file of a module: one of the project's, or one beside the importing file."""
        path = self.path(name, near)
        return self.source(path) if path else None

    def path(self, name: str, near: str) -> str | None:
        """The file of a module: one of the project's, or one beside the importing file."""
        path = self._paths.get(name)
        if path is None and near and near not in ("<text>", "<stdin>"):
            path = _beside(name, near)
            self._paths[name] = path or ""
        return path

    def find(self, qualified: str, near: str = "", hops: int = 5) -> Function | Class | None:
        """The function, class or method of this full name, followed through re-exports."""
        module, _, name = qualified.rpartition(".")
        while module and hops:
            source = self.module(module, near)
            if source is not None:
                return _in_module(self, source, name.split("."), hops)
            module, _, head = module.rpartition(".")
            name = f"{head}.{name}"
        return None

    def resolve(self, source: Source, node: ast.expr) -> Function | Class | None:
        """The project's function or class that a name or dotted name stands for."""
        name = source.name(node)
        if name and not name.startswith(("torch.", "numpy.")):
            return self.find(name, source.path)
        if isinstance(node, ast.Name) and not name:
            return _nested(source, node)
        return None

    def bases(self, cls: Class, seen: frozenset[str] = frozenset()) -> tuple[list[Class], set[str]]:
        """The project's classes a class inherits from (itself first), and the full names of the others."""
        order, outside = [cls], set()
        for base in cls.node.bases:
            node = base.value if isinstance(base, ast.Subscript) else base
            name = cls.source.name(node)
            found = self.resolve(cls.source, node)
            if isinstance(found, Class) and found.qualified not in seen and found.node is not cls.node:
                more, names = self.bases(found, seen | {cls.qualified})
                order += more
                outside |= names
            else:
                outside.add(name or cls.source.code(node))
        return order, outside

    def method(self, cls: Class, name: str) -> Function | None:
        """The method a class has or inherits inside the project."""
        for base in self.bases(cls)[0]:
            for node in base.node.body:
                if isinstance(node, FunctionNode) and node.name == name:
                    return Function(base.source, node, f"{base.qualified}.{name}", base.node)
        return None

    def importers(self, module: str) -> list[str]:
        """Paths of the project's files that import a module, by the last part of its name."""
        if len(self._paths) > 1:
            self.consulted.add("")  # the answer depends on which files there are
        if self._importers is None:
            self._importers = {}
            for path in sorted(set(self._paths.values()) - {""}):
                for tail in sorted(_imported_tails(self.text(path) or "")):
                    self._importers.setdefault(tail, []).append(path)
        return self._importers.get(module.rpartition(".")[2], [])

    def trim(self, most: int) -> None:
        """Between two checks: where more characters are parsed than this, let go of the files that were parsed first."""
        total = sum(len(source.text) for source in self.parsed.values() if source is not None)
        if total <= most:
            return
        for path, source in list(self.parsed.items()):
            if source is not None:
                source.memo.clear()  # it may speak of files that are gone
                if total > most // 2:
                    total -= len(source.text)
                    source.release()
                    del self.parsed[path]
        self.state.clear()

    def text(self, path: str) -> str | None:
        """The text of a file, None if it cannot be read."""
        if path not in self._texts:
            known = self.parsed.get(path)
            try:
                self._texts[path] = known.text if known else Path(path).read_text(encoding="utf-8")
            except (OSError, ValueError):
                return None
        return self._texts[path]

    def _parse(self, path: str) -> Source | None:
        text = self.text(path)
        if text is None or len(text) > 3_000_000:
            return None
        try:
            return Source(text, path, self, module_name(path))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
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


def text_of(project: Project, qualified: str, near: str) -> str:
    """The text of the project's file that holds a name; "" where it is none of ours."""
    for module in (qualified, qualified.rpartition(".")[0]):
        path = project.path(module, near) if module and not module.startswith(("torch.", "numpy")) else None
        if path and path != near:
            project.consulted.add("")
        if path:
            return project.text(path) or ""
    return ""


def candidates(project: Project, found: Function | Class, word: str) -> Iterator[Source]:
    """The file itself, then files that import it and hold the word."""
    yield found.source
    count = 0
    for path in project.importers(found.source.module):
        if path == found.source.path or f"{word}(" not in (project.text(path) or ""):
            continue
        source = project.source(path)
        if source is not None:
            yield source
            count += 1
            if count >= _CALLER_FILES:
                return


def alone(source: Source) -> Project:
    """The project of one file that is already parsed."""
    project = Project()
    project.adopt(source)
    return project


@cache
def _is_package(folder: str) -> bool:
    return Path(folder, "__init__.py").is_file()


def module_name(path: str) -> str:
    """Dotted module name of a file: its packages are the folders above it that hold an `__init__.py`."""
    file = Path(path)
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = file.parent
    while folder.name and _is_package(str(folder)):
        parts.append(folder.name)
        folder = folder.parent
    return ".".join(reversed(parts)) or "__main__"


def _imported_tails(text: str) -> set[str]:
    tails: set[str] = set()
    for match in _IMPORT.finditer(text):
        for part in match[1].replace(" import ", ",").split(","):
            tails.add(part.strip().split(" ")[0].rpartition(".")[2])
    return tails


def _beside(name: str, near: str) -> str | None:
    parts = name.split(".")
    folder = Path(near).parent
    for _ in range(4):
        for file in (folder.joinpath(*parts[:-1], f"{parts[-1]}.py"), folder.joinpath(*parts, "__init__.py")):
            if file.is_file():
                return str(file)
        if folder == folder.parent or (folder / ".git").exists() or (folder / "pyproject.toml").exists():
            return None
        folder = folder.parent
    return None


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


def as_class(source: Source, node: ast.ClassDef) -> Class:
    """A class node as a class of the project."""
    outer = function(source, node)
    return Class(source, node, f"{source.module}.{outer.name + '.' if outer else ''}{node.name}")


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

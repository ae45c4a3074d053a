"""One parsed file: its text, its tree, an index of its nodes, and what its names mean."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import defaultdict
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from torchlore.check import joined, names, normal, options, turns
from torchlore.check.pattern import regex
from torchlore.check.text import Text
from torchlore.check.walk import index
from torchlore.finding import Edit, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlore.check.project import Project
    from torchlore.check.values import Value

Node = TypeVar("Node", bound=ast.AST)
_LINE_END = regex(r"\r\n?|\n")  # where Python ends a line; a form feed does not


class Hit(NamedTuple):
    """What a rule says about one place of the file it was given."""

    line: int
    column: int  # 1-based, in characters
    end_line: int
    end_column: int
    message: str
    edits: tuple[Edit, ...] = ()
    safe: bool = True
    severity: Severity | None = None  # None: the note's own


class Source:
    """One parsed file. Raises SyntaxError where the running Python cannot parse the text."""

    def __init__(self, text: str, path: str = "<text>", project: Project | None = None, module: str = "") -> None:
        self.text = self.around = Text(text)  # `around`: the page of which it is a block
        self.path = path
        self.module = module or "__main__"
        self.tree = ast.parse(text)
        self.nodes, self.parents, self.flat = index(self.tree)
        self.turns = turns.write(self.nodes, self.parents)  # loops that the user wrote as comprehensions
        self.options = options.write(
            self.nodes, self.parents
        )  # `options` of `**options`, whose parts are given there now
        if self.turns or self.options:
            self.nodes, self.parents, self.flat = index(self.tree)
        if normal.spell(self.nodes, self.parents):
            self.nodes, self.parents, self.flat = index(self.tree)
        self.joints = joined.join(self.nodes, self.parents)  # statements that hold what stands on the line before
        if self.joints:
            self.nodes, self.parents, self.flat = index(self.tree)
        self.memo: dict[Any, Any] = {}  # what helpers computed about this file, by their own keys
        self.shown: frozenset[int] = frozenset()  # lines whose value a notebook shows
        self.names = names.Names(self)
        self._tails: dict[str, list[ast.Call]] | None = None
        self._starts: list[int] | None = None
        if project is not None:
            self.project = project
        normal.place_leading(self)

    @cached_property
    def project(self) -> Project:
        """The files of this check; only this one where none was given."""
        from torchlore.check.project import alone

        return alone(self)

    def all(self, *types: type[Node]) -> Iterator[Node]:
        """Nodes of these types, in the order of the text for each type."""
        found: Any = self.nodes
        if len(types) == 1:
            return iter(found.get(types[0], ()))
        return chain.from_iterable(found.get(cls, ()) for cls in types)

    def name(self, node: ast.AST | None) -> str:
        """The full dotted name, however it was imported: `F.relu` is "torch.nn.functional.relu"; "" if it has none."""
        return self.names.of(node)

    def calls(self, *qualified: str) -> Iterator[ast.Call]:
        """Calls of any of these functions or classes, however they were imported, by full canonical name."""
        tails, wanted = self._tails or self._call_tails(), _tails(qualified)
        if tails.keys().isdisjoint(wanted):
            return iter(())
        of, pairs = self.names.of, zip(qualified, wanted, strict=True)
        return (call for name, tail in pairs for call in tails.get(tail, ()) if of(call.func) == name)

    def methods(self, *attributes: str) -> Iterator[ast.Call]:
        """Calls `x.attribute(...)` on any `x`, imported modules included."""
        tails = self._tails or self._call_tails()
        if tails.keys().isdisjoint(attributes):
            return iter(())
        named = (call for attribute in attributes for call in tails.get(attribute, ()))
        return (call for call in named if call.func.__class__ is ast.Attribute)

    def code(self, node: ast.AST) -> str:
        """The text of a node as the user wrote it."""
        start, end = self.span(node)
        return self.text[start:end]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """First and last-plus-one character of a node in the text."""
        if node.__class__ is ast.Module:  # which has no place of its own
            return 0, len(self.text)
        place: Any = node
        end_line, end_column = place.end_lineno or place.lineno, place.end_col_offset or place.col_offset
        return self.offset(place.lineno, place.col_offset), self.offset(end_line, end_column)

    def offset(self, line: int, column: int) -> int:
        """Character position of an `ast` position, whose columns count UTF-8 bytes."""
        starts = self._starts or self.line_starts
        start = starts[min(line, len(starts)) - 1]
        if self.text.isascii():
            return min(start + column, len(self.text))
        stop = starts[line] if line < len(starts) else len(self.text)
        return start + len(self.text[start:stop].encode()[:column].decode(errors="ignore"))

    @property
    def line_starts(self) -> list[int]:
        """Character position of the start of each line."""
        if self._starts is None and "\r" in self.text:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        elif self._starts is None:  # three times as fast
            self._starts = [0, *accumulate([len(line) + 1 for line in self.text.split("\n")[:-1]])]
        return self._starts

    def place(self, offset: int) -> tuple[int, int]:
        """1-based line and column of a character position."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def hit(self, node: ast.AST, message: str, *edits: Edit, safe: bool = True, severity: str | None = None) -> Hit:
        """What a rule yields: where (a node), one sentence, and the edits that repair it, if any."""
        start, end = self.span(node)
        chosen = Severity(severity) if severity else None
        fits = all(_fits(self, one) for one in edits)
        return Hit(*self.place(start), *self.place(end), message, edits if fits else (), safe, chosen)

    def values(self, node: ast.expr) -> tuple[Value, ...]:
        """What the expression may be, one value for each possibility; see `torchlore.check.values`."""
        from torchlore.check.values import values

        return values(self, node)

    def release(self) -> None:
        """Cut the circles through this file, so that its memory is freed at once; nobody may ask it again."""
        self.memo.clear()
        self.__dict__.clear()

    def _call_tails(self) -> dict[str, list[ast.Call]]:
        if self._tails is None:
            tails: dict[str, list[ast.Call]] = defaultdict(list)
            tail = self.names.tail
            for call in cast("list[ast.Call]", self.nodes.get(ast.Call, ())):
                func = call.func
                if func.__class__ is ast.Attribute:
                    tails[func.attr].append(call)  # type: ignore[attr-defined]  # the class was just compared
                elif func.__class__ is ast.Name:
                    tails[tail(func.id)].append(call)  # type: ignore[attr-defined]  # the class was just compared
            self._tails = dict(tails)
        return self._tails


@lru_cache(maxsize=4096)
def _tails(qualified: tuple[str, ...]) -> tuple[str, ...]:
    """The last parts of full names."""
    return tuple(name.rpartition(".")[2] for name in qualified)


def lines(source: Source) -> Sequence[str]:
    """The lines of the text, as Python counts them."""
    return _LINE_END.split(source.text)


def _fits(source: Source, edit: Edit) -> bool:
    """Whether the text that an edit changes says what the tree says there."""
    line = source.place(edit.start)[0]
    if any(edit.start < source.span(one)[0] < edit.end for one in source.joints):
        return False  # it would take away what stands between the two lines
    if any(one.lineno <= line <= (one.end_lineno or 0) for one in source.turns):
        return False  # the loop it means is no statement
    around = (source.span(one) for one in source.options)
    return not any(edit.start < end and edit.end >= start for start, end in around)

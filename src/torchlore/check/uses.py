"""Where a spelling occurs in a file: names, attributes and calls, looked up in tables that are made once."""

from __future__ import annotations

import ast
from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from torchlore.check.source import Source


def says(source: Source, *words: str) -> bool:
    """Whether one of these words, given in small letters, stands anywhere in the text, however it is written.

    A hundred times as fast as a pattern that ignores the case.
    """
    return any(map(source.text.lower().__contains__, words))


def names(source: Source, identifier: str) -> list[ast.Name]:
    """Every plain name that is spelled so, read or bound, in the order of the text."""
    return _names(source).get(identifier, [])


def identifiers(source: Source) -> Iterator[str]:
    """How plain names are spelled in the file, each spelling once."""
    return iter(_names(source))


def any_spellings(source: Source, names: Collection[str]) -> list[str]:
    """The plain names of the file that are imported or defined as one of these full names."""
    table: dict[str, list[str]] | None = source.memo.get("uses.spellings")
    if table is None:
        table, known, spelled = {}, source.names, _names(source)
        source.memo["uses.spellings"] = table
        told = (*known.imported, *known.aliases, *known.defined)
        for identifier in spelled if known.stars else dict.fromkeys(told):
            if identifier in spelled:
                table.setdefault(known.root(identifier), []).append(identifier)
    return [one for full in names if full in table for one in table[full]]


def _names(source: Source) -> dict[str, list[ast.Name]]:
    table: dict[str, list[ast.Name]] | None = source.memo.get("uses.names")
    if table is None:
        table = source.memo["uses.names"] = {}
        for node in source.all(ast.Name):
            table.setdefault(node.id, []).append(node)
    return table


def attributes(source: Source, name: str) -> list[ast.Attribute]:
    """Every `x.name`, read or bound, in the order of the text."""
    return _attributes(source).get(name, [])


def any_attributes(source: Source, names: set[str]) -> Iterator[ast.Attribute]:
    """Every `x.name` for one of these names, name by name in the order of the alphabet."""
    table = _attributes(source)
    return (one for name in sorted(table.keys() & names) for one in table[name])


def _attributes(source: Source) -> dict[str, list[ast.Attribute]]:
    table: dict[str, list[ast.Attribute]] | None = source.memo.get("uses.attributes")
    if table is None:
        table = source.memo["uses.attributes"] = {}
        for node in source.all(ast.Attribute):
            table.setdefault(node.attr, []).append(node)
    return table


def set_attributes(source: Source) -> set[str]:
    """What is assigned to as an attribute in the file, `weight` of `self.weight = ...`."""
    found: set[str] | None = source.memo.get("uses.set")
    if found is None:
        store = ast.Store
        found = source.memo["uses.set"] = {one.attr for one in source.all(ast.Attribute) if one.ctx.__class__ is store}
    return found


def keywords(source: Source, *names: str) -> Iterator[ast.keyword]:
    """Every `name=...` that a call or a class is given, name by name."""
    table: dict[str | None, list[ast.keyword]] | None = source.memo.get("uses.keywords")
    if table is None:
        table = source.memo["uses.keywords"] = {}
        for node in source.all(ast.keyword):
            table.setdefault(node.arg, []).append(node)
    return chain.from_iterable(table[name] for name in names if name in table)


def assigns(source: Source, target: type[ast.expr] | None, value: type[ast.expr] | None = None) -> list[ast.Assign]:
    """Every assignment whose first target and whose value are of these classes, None for any, in the order of the text."""
    table: dict[tuple[type | None, type | None], list[ast.Assign]] | None = source.memo.get("uses.assigns")
    if table is None:
        table = source.memo["uses.assigns"] = defaultdict(list)
        for node in source.all(ast.Assign):
            to, of = node.targets[0].__class__, node.value.__class__
            table[to, of].append(node)
            table[to, None].append(node)
            table[None, of].append(node)
    return table.get((target, value), [])


def stored(source: Source) -> list[ast.Name]:
    """Every plain name that is bound or deleted and not read, in the order of the text."""
    found: list[ast.Name] | None = source.memo.get("uses.stored")
    if found is None:
        load = ast.Load
        found = source.memo["uses.stored"] = [one for one in source.all(ast.Name) if one.ctx.__class__ is not load]
    return found


def calls_under(source: Source, prefix: str) -> Iterator[tuple[ast.Call, str]]:
    """Calls of whatever has a full name that starts so, with that name; the prefix starts in `torch`."""
    table: list[tuple[ast.Call, str]] | None = source.memo.get("uses.calls")
    if table is None:
        named = ((call, source.name(call.func)) for call in source.all(ast.Call))
        table = source.memo["uses.calls"] = [(call, name) for call, name in named if name.startswith("torch")]
    return ((call, name) for call, name in table if name.startswith(prefix))

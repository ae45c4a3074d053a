"""What a pickle says it would build, written down instead of built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


class BadFile(ValueError):
    """The file is not what it says it is, or it is cut off; the message is one sentence for the user."""

    def __init__(self, message: str) -> None:
        # names from the file must not break the line or steer the terminal
        super().__init__("".join(char if char.isprintable() else repr(char)[1:-1] for char in message))


@dataclass(slots=True, eq=False)
class Global:
    """A name that the pickle would import."""

    module: str
    name: str
    position: int
    computed: bool = False  # the name was not written down but made by a call

    @property
    def path(self) -> str:
        """`module.name`."""
        return f"{self.module}.{self.name}"


@dataclass(slots=True, eq=False)
class Seq:
    """A list, tuple, set or frozenset."""

    kind: str
    items: list[Value]


@dataclass(slots=True, eq=False)
class Map:
    """A dict; pairs, because a hostile key may be anything."""

    pairs: list[tuple[Value, Value]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Call:
    """What the pickle would call, and what it would do to the result."""

    function: Value
    arguments: Value
    position: int
    opcode: str
    keywords: Value = None
    states: list[Value] = field(default_factory=list)  # BUILD
    items: list[Value] = field(default_factory=list)  # APPEND, ADDITEMS
    pairs: list[tuple[Value, Value]] = field(default_factory=list)  # SETITEM


@dataclass(slots=True, eq=False)
class Persistent:
    """An object that the loader is asked to bring: in torch's files, a storage."""

    identity: Value
    position: int


@dataclass(slots=True, eq=False)
class Blob:
    """Bytes or text too large to hold: where they lie in the stream, and how they begin."""

    offset: int
    length: int
    head: bytes
    text: bool = False


@dataclass(slots=True, eq=False)
class Unknown:
    """Something that cannot be known without running the pickle."""

    what: str


Value: TypeAlias = "bool | int | float | str | bytes | Global | Seq | Map | Call | Persistent | Blob | Unknown | None"


def arguments(call: Call) -> list[Value]:
    """The positional arguments of a call, empty where they are not written down."""
    return call.arguments.items if isinstance(call.arguments, Seq) else []


def is_global(value: Value, *paths: str) -> bool:
    """Whether the value is one of these dotted names."""
    return isinstance(value, Global) and value.path in paths


def brief(value: Value, depth: int = 2, width: int = 60) -> str:
    """One short line of what the value is, for a person."""
    text = _brief(value, depth)
    return text if len(text) <= width else text[: width - 1] + "…"


def _brief(value: Value, depth: int) -> str:
    if isinstance(value, Seq):
        opening, closing = {"list": ("[", "]"), "tuple": ("(", ")")}.get(value.kind, ("{", "}"))
        return f"{opening}{_several(value.items, depth)}{closing}"
    if isinstance(value, Call):
        return f"{_brief(value.function, depth - 1) if depth else '…'}({_several(arguments(value), depth)})"
    if isinstance(value, int) and value.bit_length() > 256:
        return "a huge number"
    return _leaf(value)


def _several(items: list[Value], depth: int) -> str:
    return "…" if depth == 0 else ", ".join(_brief(item, depth - 1) for item in items[:8])


def _leaf(value: Value) -> str:
    if isinstance(value, str | bytes):
        return repr(value[:60])
    if isinstance(value, Blob):
        return f"{value.length:,} {'characters' if value.text else 'bytes'}"
    words = {Global: "path", Unknown: "what"}.get(type(value))
    if words:
        return str(getattr(value, words))
    return {Map: "a dict", Persistent: "storage"}.get(type(value), repr(value))

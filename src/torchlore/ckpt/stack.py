"""The state of the pickle machine: its stack, marks and memo, and the trace that it writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import BinaryIO

from torchlore.ckpt.values import Blob, Persistent, Value

MAX_OPCODES = 5_000_000
MAX_HELD = 64 << 20  # bytes of constants that are kept; a longer pickle is read on, its constants as blobs
BLOB = 64 << 10  # bytes; a longer constant stays in the file
MAX_LINE = 1 << 20


class Fault(Exception):
    """The stream ends or breaks here."""


@dataclass(slots=True)
class Event:
    """Something that matters for safety: an import, a call, a change to an object."""

    kind: str  # "import", "call", "build", "change", "computed", "extension", "buffer", "bytes"
    position: int
    opcode: str
    value: Value
    state: Value = None


@dataclass(slots=True)
class Trace:
    """One pickle, read to its end or to where it breaks."""

    start: int
    end: int = 0
    value: Value = None
    events: list[Event] = field(default_factory=list)
    persistent: list[Persistent] = field(default_factory=list)
    protocol: int = 0
    opcodes: int = 0
    fault: str = ""  # empty: it ended with STOP


@dataclass(slots=True)
class Machine:
    """The stack, the marks and the memo of one pickle."""

    stream: BinaryIO
    trace: Trace
    limit: int = MAX_OPCODES
    stack: list[Value] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    memo: dict[int, Value] = field(default_factory=dict)
    held: int = 0
    depth: int = 0

    def read(self, count: int) -> bytes:
        """Exactly `count` bytes."""
        data = self.stream.read(count)
        if len(data) != count:
            raise Fault("the stream ends in the middle of an opcode")
        return data

    def line(self) -> bytes:
        """The rest of the line, without its end."""
        data = self.stream.readline(MAX_LINE)
        if not data.endswith(b"\n"):
            raise Fault("a line of text does not end")
        return data[:-1]

    def name(self) -> str:
        """A line that is a name; the unpickler in pure Python also takes one that the file's end cuts off."""
        try:
            return self.stream.readline(MAX_LINE)[:-1].decode("utf-8")
        except UnicodeDecodeError:
            raise Fault("a name is not UTF-8") from None

    def constant(self, count: int, *, text: bool = False) -> bytes | Blob:
        """The next `count` bytes, left in the file when they are many."""
        if count <= BLOB and self.held + count <= MAX_HELD:
            self.held += count
            return self.read(count)
        offset = self.stream.tell()
        head = self.stream.read(min(count, 64))
        if offset + count > self.stream.seek(0, 2):
            raise Fault(f"the stream ends inside a constant of {count:,} bytes")
        self.stream.seek(offset + count)
        return Blob(offset, count, head, text)

    def pop(self) -> Value:
        """The topmost value above the last mark."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise Fault("the stack is empty")
        return self.stack.pop()

    def top(self) -> Value:
        """The topmost value, left where it is."""
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise Fault("the stack is empty")
        return self.stack[-1]

    def pop_mark(self) -> list[Value]:
        """Everything above the last mark."""
        if not self.marks:
            raise Fault("no mark is set")
        mark = self.marks.pop()
        items = self.stack[mark:]
        del self.stack[mark:]
        return items

    def note(self, kind: str, opcode: str, value: Value, state: Value = None) -> None:
        """Write an event down, at the opcode that caused it."""
        self.trace.events.append(Event(kind, self.position(opcode), opcode, value, state))

    def position(self, opcode: str) -> int:
        """The byte where the current opcode began, for opcodes without an argument; close to it for the others."""
        return max(self.stream.tell() - 1 - _ARGUMENT.get(opcode, 0), self.trace.start)


_ARGUMENT = {"EXT1": 1, "EXT2": 2, "EXT4": 4}

"""A pickle machine that writes down what it is told to do and does none of it.

It follows CPython's unpickler opcode by opcode: where that one would stop with an error, this one stops too and keeps
what came before, because that much would have run. Nothing is imported, called or built.
"""

from __future__ import annotations

import _compat_pickle  # the names that Python 3 translates when it meets a pickle of Python 2
import codecs
import struct
import warnings
from collections.abc import Callable
from typing import BinaryIO

from torchlore.ckpt.stack import BLOB, MAX_OPCODES, Event, Fault, Machine, Trace
from torchlore.ckpt.values import Blob, Call, Global, Map, Persistent, Seq, Unknown, Value, arguments, is_global

MAX_NESTING = 8


def trace(stream: BinaryIO, limit: int = MAX_OPCODES, depth: int = 0) -> Trace:
    """Read one pickle from where the stream stands."""
    result = Trace(stream.tell())
    machine = Machine(stream, result, limit, depth=depth)
    try:
        _run(machine)
    except Fault as fault:
        result.fault = str(fault)
    result.end = stream.tell()
    return result


def _run(machine: Machine) -> None:
    read, result, table = machine.stream.read, machine.trace, OPCODES
    while result.opcodes < machine.limit:
        code = read(1)
        if not code:
            raise Fault("the stream ends before STOP")
        result.opcodes += 1
        if code == b".":
            result.value = machine.pop()
            return
        handler = table.get(code)
        if handler is None:
            raise Fault(f"byte {code[0]:#04x} at {machine.stream.tell() - 1} is no opcode")
        handler(machine)
    raise Fault(f"it has more than {machine.limit:,} opcodes")


# numbers and text -----------------------------------------------------------------------------------------------------


def _push(value: Value) -> Callable[[Machine], None]:
    return lambda m: m.stack.append(value)


def _fixed(layout: str) -> Callable[[Machine], None]:
    unpack, size = struct.Struct(layout).unpack, struct.calcsize(layout)
    return lambda m: m.stack.append(unpack(m.read(size))[0])


def _int_line(m: Machine) -> None:
    text = m.line()
    m.stack.append({b"00": False, b"01": True}[text] if text in (b"00", b"01") else _integer(text))


def _long_line(m: Machine) -> None:
    m.stack.append(_integer(m.line().removesuffix(b"L")))


def _integer(text: bytes) -> Value:
    if len(text) > 1000:
        return Unknown("a huge number")
    try:
        return int(text.decode("ascii"), 0)
    except ValueError:
        raise Fault(f"{text[:20]!r} is no number") from None


def _float_line(m: Machine) -> None:
    text = m.line()
    try:
        m.stack.append(float(text))
    except ValueError:
        raise Fault(f"{text[:20]!r} is no number") from None


def _long(width: int) -> Callable[[Machine], None]:
    def handler(m: Machine) -> None:
        count = int.from_bytes(m.read(width), "little", signed=width == 4)
        if count < 0:
            raise Fault("a number has a negative length")
        data = m.constant(count)
        m.stack.append(
            int.from_bytes(data, "little", signed=True) if isinstance(data, bytes) else Unknown("a huge number")
        )

    return handler


def _string_line(m: Machine) -> None:
    text = m.line().strip()
    if len(text) < 2 or text[0] != text[-1] or text[:1] not in (b"'", b'"'):
        raise Fault("a string has no quotes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # an odd escape is the file's fault
            m.stack.append(_text(codecs.escape_decode(text[1:-1])[0]))
    except ValueError:
        raise Fault("a string has a broken escape") from None


def _unicode_line(m: Machine) -> None:
    try:
        m.stack.append(m.line().decode("raw-unicode-escape"))
    except UnicodeDecodeError:
        raise Fault("a string has a broken escape") from None


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("latin-1")  # a byte string of Python 2


def _sized(width: int, *, text: bool, signed: bool = False) -> Callable[[Machine], None]:
    def handler(m: Machine) -> None:
        count = int.from_bytes(m.read(width), "little", signed=signed)
        if count < 0 or count >= 1 << 62:
            raise Fault("a constant has an impossible length")
        at = m.stream.tell()
        data = m.constant(count, text=text)
        if not text and may_be_pickle(data if isinstance(data, bytes) else data.head):
            m.trace.events.append(Event("bytes", at, "BINBYTES", data))
        m.stack.append(_text(data) if text and isinstance(data, bytes) else data)

    return handler


def may_be_pickle(head: bytes) -> bool:
    """Whether bytes begin like a pickle or like an archive that may hold one."""
    if head[:1] == b"\x80":
        return len(head) > 1 and head[1] <= 5
    return head[:4] == b"PK\x03\x04" or (head[:1] in _TEXT_STARTS and b"\n" in head[:64])


_TEXT_STARTS = {b"c", b"(", b"]", b"}", b"i", b"I", b"S", b"V", b"N"}


# containers -----------------------------------------------------------------------------------------------------------


def _mark(m: Machine) -> None:
    m.marks.append(len(m.stack))


def _pop(m: Machine) -> None:
    if m.marks and m.marks[-1] == len(m.stack):
        m.marks.pop()
    else:
        m.pop()


def _pop_to_mark(m: Machine) -> None:
    m.pop_mark()


def _readonly(m: Machine) -> None:
    m.top()


def _frame(m: Machine) -> None:
    m.read(8)


def _tuple_of(count: int) -> Callable[[Machine], None]:
    def handler(m: Machine) -> None:
        items = [m.pop() for _ in range(count)]
        m.stack.append(Seq("tuple", items[::-1]))

    return handler


def _dict_mark(m: Machine) -> None:
    items = m.pop_mark()
    m.stack.append(Map(_pairs(items)))


def _pairs(items: list[Value]) -> list[tuple[Value, Value]]:
    if len(items) % 2:
        raise Fault("a dict has a key without a value")
    return list(zip(items[::2], items[1::2], strict=True))


def _extend(m: Machine, items: list[Value], opcode: str) -> None:
    target = m.top()
    if isinstance(target, Seq):
        target.items += items
    elif isinstance(target, Call):
        target.items += items
        m.note("change", opcode, target)
    else:
        m.note("change", opcode, target, Seq("list", items))


def _append(m: Machine) -> None:
    item = m.pop()
    _extend(m, [item], "APPEND")


def _set_items(m: Machine, pairs: list[tuple[Value, Value]], opcode: str) -> None:
    target = m.top()
    if isinstance(target, Map):
        target.pairs += pairs
    elif isinstance(target, Call):
        target.pairs += pairs
        m.note("change", opcode, target)
    else:
        m.note("change", opcode, target, Map(pairs))


def _set_item(m: Machine) -> None:
    value, key = m.pop(), m.pop()
    _set_items(m, [(key, value)], "SETITEM")


# the memo -------------------------------------------------------------------------------------------------------------


def _put(m: Machine, index: Value) -> None:
    if not isinstance(index, int) or index < 0:
        raise Fault("the memo has no such place")
    m.memo[index] = m.top()


def _get(m: Machine, index: Value) -> None:
    if not isinstance(index, int) or index not in m.memo:
        raise Fault("the memo holds nothing at that place")
    m.stack.append(m.memo[index])


# what a pickle can do to you ------------------------------------------------------------------------------------------


def _import(m: Machine, module: str, name: str, opcode: str, *, at: int, computed: bool = False) -> Global:
    if m.trace.protocol < 3:
        module, name = _python3(module, name)
    found = Global(module, name, at, computed)
    m.trace.events.append(Event("import", at, opcode, found))
    return found


def _python3(module: str, name: str) -> tuple[str, str]:
    if (module, name) in _compat_pickle.NAME_MAPPING:
        return _compat_pickle.NAME_MAPPING[module, name]
    return _compat_pickle.IMPORT_MAPPING.get(module, module), name


def _global_line(m: Machine) -> None:
    at = m.stream.tell() - 1
    module, name = m.name(), m.name()
    m.stack.append(_import(m, module, name, "GLOBAL", at=at))


def _stack_global(m: Machine) -> None:
    at = m.stream.tell() - 1
    name, module = m.pop(), m.pop()
    computed = not (isinstance(name, str) and isinstance(module, str))
    texts = [fold(part) for part in (module, name)]
    if computed and not all(isinstance(part, str | Call | Unknown | Persistent | Blob) for part in (module, name)):
        raise Fault("a name is no text")
    module_text, name_text = (text if isinstance(text, str) else "?" for text in texts)
    found = _import(m, module_text, name_text, "STACK_GLOBAL", at=at, computed=computed)
    m.stack.append(found)


def fold(value: Value, depth: int = 0) -> Value:
    """The text or bytes that a call of a codec would give, where that can be said without calling anything else."""
    if not isinstance(value, Call) or not is_global(
        value.function, "_codecs.encode", "_codecs.decode", "codecs.encode", "codecs.decode"
    ):
        return value
    given = [fold(item, depth + 1) for item in arguments(value)[:2]] if depth < 8 else []
    if not given or not isinstance(given[0], str | bytes) or len(given[0]) > BLOB:
        return value
    codec = given[1] if len(given) > 1 and isinstance(given[1], str) else "utf-8"
    if codec.lower().replace("-", "").replace("_", "") not in _PLAIN_CODECS:
        return value
    encodes = is_global(value.function, "_codecs.encode", "codecs.encode")
    work: Callable[[str | bytes, str], object] = codecs.encode if encodes else codecs.decode  # type: ignore[assignment]  # which type fits depends on the codec
    try:
        result = work(given[0], codec)
    except (ValueError, TypeError, AttributeError):
        return value
    return result if isinstance(result, str | bytes) else value


_PLAIN_CODECS = {
    "latin1",
    "utf8",
    "ascii",
    "rot13",
    "hex",
    "hexcodec",
    "base64",
    "base64codec",
    "iso88591",
    "utf16",
    "utf7",
}


def _call(m: Machine, function: Value, given: Value, opcode: str, keywords: Value = None) -> None:
    if not isinstance(given, Seq | Call | Persistent | Unknown) or (isinstance(given, Seq) and given.kind != "tuple"):
        raise Fault("the arguments of a call are no tuple")
    call = Call(function, given, m.stream.tell() - 1, opcode, keywords)
    m.trace.events.append(Event("call", call.position, opcode, call))
    m.stack.append(call)


def _reduce(m: Machine) -> None:
    given, function = m.pop(), m.pop()
    _call(m, function, given, "REDUCE")


def _new_object(m: Machine) -> None:
    given, cls = m.pop(), m.pop()
    _call(m, cls, given, "NEWOBJ")


def _new_object_ex(m: Machine) -> None:
    keywords, given, cls = m.pop(), m.pop(), m.pop()
    _call(m, cls, given, "NEWOBJ_EX", keywords)


def _inst(m: Machine) -> None:
    at = m.stream.tell() - 1
    found = _import(m, m.name(), m.name(), "INST", at=at)
    _call(m, found, Seq("tuple", m.pop_mark()), "INST")


def _obj(m: Machine) -> None:
    items = m.pop_mark()
    if not items:
        raise Fault("the stack is empty")
    _call(m, items[0], Seq("tuple", items[1:]), "OBJ")


def _build(m: Machine) -> None:
    state, target = m.pop(), m.top()
    m.note("build", "BUILD", target, state)
    if isinstance(target, Call):
        target.states.append(state)
        if is_global(target.function, "joblib.numpy_pickle.NumpyArrayWrapper"):
            _skip_joblib_array(m, target, state)


def _skip_joblib_array(m: Machine, target: Call, state: Value) -> None:
    """Joblib writes an array's bytes into the stream right after the object that describes it."""
    fields = {key: value for key, value in state.pairs if isinstance(key, str)} if isinstance(state, Map) else {}
    dtype = fields.get("dtype")
    code = arguments(dtype)[0] if isinstance(dtype, Call) and arguments(dtype) else None
    if not isinstance(code, str):
        raise Fault("a joblib array has no dtype")
    if code.startswith("O"):
        if m.depth >= MAX_NESTING:
            raise Fault("pickles are nested too deeply")
        inner = trace(m.stream, m.limit - m.trace.opcodes, m.depth + 1)
        m.trace.events += inner.events
        m.trace.opcodes += inner.opcodes
        if inner.fault:
            raise Fault(inner.fault)
        return
    if fields.get("numpy_array_alignment_bytes") is not None:
        m.read(m.read(1)[0])
    count = int(code[1:]) if code[1:].isdigit() and len(code) < 9 else 1
    shape = fields.get("shape")
    for size in shape.items if isinstance(shape, Seq) else []:
        count *= size if isinstance(size, int) and 0 <= size < 1 << 62 else 0
    if count >= 1 << 62:
        raise Fault("a joblib array has an impossible size")
    if count:
        target.items.append(m.constant(count))


def _extension(width: int) -> Callable[[Machine], None]:
    def handler(m: Machine) -> None:
        code = int.from_bytes(m.read(width), "little")
        m.note("extension", f"EXT{width}", code)
        m.stack.append(Unknown(f"extension {code}"))

    return handler


def _persistent_line(m: Machine) -> None:
    at = m.stream.tell() - 1
    _add_persistent(m, Persistent(_text(m.line()), at))


def _persistent(m: Machine) -> None:
    _add_persistent(m, Persistent(m.pop(), m.stream.tell() - 1))


def _add_persistent(m: Machine, value: Persistent) -> None:
    m.trace.persistent.append(value)
    m.stack.append(value)


def _protocol(m: Machine) -> None:
    m.trace.protocol = m.read(1)[0]
    if m.trace.protocol > 5:
        raise Fault(f"protocol {m.trace.protocol} does not exist")


def _next_buffer(m: Machine) -> None:
    m.note("buffer", "NEXT_BUFFER", None)
    m.stack.append(Unknown("a buffer that is not in the file"))


OPCODES: dict[bytes, Callable[[Machine], None]] = {
    b"(": _mark,
    b"0": _pop,
    b"1": _pop_to_mark,
    b"2": lambda m: m.stack.append(m.top()),
    b"N": _push(None),
    b"\x88": _push(True),
    b"\x89": _push(False),
    b"I": _int_line,
    b"L": _long_line,
    b"F": _float_line,
    b"J": _fixed("<i"),
    b"K": _fixed("<B"),
    b"M": _fixed("<H"),
    b"G": _fixed(">d"),
    b"\x8a": _long(1),
    b"\x8b": _long(4),
    b"S": _string_line,
    b"V": _unicode_line,
    b"T": _sized(4, text=True, signed=True),
    b"U": _sized(1, text=True),
    b"X": _sized(4, text=True),
    b"\x8c": _sized(1, text=True),
    b"\x8d": _sized(8, text=True),
    b"B": _sized(4, text=False),
    b"C": _sized(1, text=False),
    b"\x8e": _sized(8, text=False),
    b"\x96": _sized(8, text=False),
    b"\x97": _next_buffer,
    b"\x98": _readonly,
    b")": lambda m: m.stack.append(Seq("tuple", [])),
    b"]": lambda m: m.stack.append(Seq("list", [])),
    b"}": lambda m: m.stack.append(Map()),
    b"\x8f": lambda m: m.stack.append(Seq("set", [])),
    b"\x91": lambda m: m.stack.append(Seq("frozenset", m.pop_mark())),
    b"t": lambda m: m.stack.append(Seq("tuple", m.pop_mark())),
    b"\x85": _tuple_of(1),
    b"\x86": _tuple_of(2),
    b"\x87": _tuple_of(3),
    b"l": lambda m: m.stack.append(Seq("list", m.pop_mark())),
    b"d": _dict_mark,
    b"a": _append,
    b"e": lambda m: _extend(m, m.pop_mark(), "APPENDS"),
    b"\x90": lambda m: _extend(m, m.pop_mark(), "ADDITEMS"),
    b"s": _set_item,
    b"u": lambda m: _set_items(m, _pairs(m.pop_mark()), "SETITEMS"),
    b"p": lambda m: _put(m, _integer(m.line())),
    b"q": lambda m: _put(m, m.read(1)[0]),
    b"r": lambda m: _put(m, int.from_bytes(m.read(4), "little")),
    b"\x94": lambda m: _put(m, len(m.memo)),
    b"g": lambda m: _get(m, _integer(m.line())),
    b"h": lambda m: _get(m, m.read(1)[0]),
    b"j": lambda m: _get(m, int.from_bytes(m.read(4), "little")),
    b"c": _global_line,
    b"\x93": _stack_global,
    b"R": _reduce,
    b"\x81": _new_object,
    b"\x92": _new_object_ex,
    b"i": _inst,
    b"o": _obj,
    b"b": _build,
    b"\x82": _extension(1),
    b"\x83": _extension(2),
    b"\x84": _extension(4),
    b"P": _persistent_line,
    b"Q": _persistent,
    b"\x80": _protocol,
    b"\x95": _frame,
}

"""What a file or folder would do to the program that loads it: every pickle in every container, none of them run."""

from __future__ import annotations

import bz2
import lzma
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchlore.ckpt.files import MAX_INFLATED, Extent, chunks, read, stream, whole
from torchlore.ckpt.formats import Escape, load_onnx, load_safetensors, npy_object_start, read_index
from torchlore.ckpt.formats import inside as inside_folder
from torchlore.ckpt.judge import Use, uses
from torchlore.ckpt.machine import fold, may_be_pickle, trace
from torchlore.ckpt.names import Verdict, judge
from torchlore.ckpt.reader import sniff
from torchlore.ckpt.stack import Trace
from torchlore.ckpt.torchfile import legacy_traces, tar_members, tar_parts
from torchlore.ckpt.values import BadFile, Blob, Call, Global, arguments, is_global
from torchlore.ckpt.zips import directory, has_directory

MAX_PICKLES = 2000  # in one file; a file with more is not clean
MAX_NESTING = 8
_PICKLE_NAMES = (".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".joblib", ".dill", ".p", ".mar", ".torch")
_IDENTIFIER = re.compile(r"[^\W\d][\w.]*\Z")
_TEXT_IMPORT = re.compile(rb"[ci]([A-Za-z_][\w.]{0,80})\n([A-Za-z_][\w.]{0,80})\n")
_SCRIPT_FILES = re.compile(rb"(ops\.aten\.(save|from_file)|aten::(save|from_file)|torch\.(save|from_file)\()")
_KERAS_LAMBDA = re.compile(rb'"class_name":\s*"Lambda"')


@dataclass(slots=True)
class Report:
    """What one file holds: its kind, the names its pickles use, and whether it could be read at all."""

    path: str
    kind: str = ""
    pickles: int = 0
    uses: list[Use] = field(default_factory=list)
    error: str = ""

    @property
    def verdict(self) -> Verdict:
        """The worst of its uses; a file that could not be read is unknown."""
        worst = max((use.verdict for use in self.uses), key=lambda verdict: verdict.rank, default=Verdict.ALLOWED)
        return Verdict.UNKNOWN if self.error and worst is Verdict.ALLOWED else worst

    def worst(self) -> list[Use]:
        """The uses that are not allowed, worst first."""
        bad = [use for use in self.uses if use.verdict is not Verdict.ALLOWED]
        return sorted(bad, key=lambda use: -use.verdict.rank)


@dataclass(slots=True)
class _Scan:
    report: Report
    allow: tuple[str, ...]

    def add(self, what: str, verdict: Verdict, reason: str, member: str, at: int = 0) -> None:
        trusted = verdict is not Verdict.DANGEROUS and what in self.allow
        self.report.uses.append(Use(what, Verdict.ALLOWED if trusted else verdict, reason, "found", at, "", member))


def scan(path: str | Path, allow: tuple[str, ...] = ()) -> Iterator[Report]:
    """A report for a file, or for every file below a folder. Links are not followed.

    `allow` holds patterns of names you trust, such as `timm.*`.
    """
    target = Path(path)
    if not target.exists():
        raise BadFile(f"{path}: no such file or folder.")
    if not target.is_dir():
        yield scan_file(target, allow)
        return
    for folder, folders, names in os.walk(target):
        folders.sort()
        for name in sorted(names):
            file = Path(folder) / name
            if file.is_file() and not file.is_symlink():
                yield scan_file(file, allow)


def scan_file(path: str | Path, allow: tuple[str, ...] = ()) -> Report:
    """What one file would import and call when it is loaded."""
    report = Report(str(path))
    try:
        source = whole(path)
        report.kind = sniff(source) or "unknown"
        _extent(_Scan(report, allow), source, "", 0)
        if report.kind != "zip" and source.length > 22 and has_directory(str(path)):
            report.kind += " + zip"
            _zip(_Scan(report, allow), source, "", 1)
    except BadFile as error:
        report.error = str(error)
    except OSError as error:
        report.error = f"{path}: {error.strerror or error}."
    report.uses = _merge(report.uses)
    return report


def _merge(found: list[Use]) -> list[Use]:
    kept: dict[tuple[str, str], Use] = {}
    for use in found:
        old = kept.get((use.what, use.member))
        if old is None or use.verdict.rank > old.verdict.rank:
            kept[use.what, use.member] = use
    return sorted(kept.values(), key=lambda use: (-use.verdict.rank, use.member, use.position))


def _extent(scan_: _Scan, source: Extent, member: str, depth: int) -> None:
    if depth > MAX_NESTING or scan_.report.pickles > MAX_PICKLES:
        scan_.add("nesting", Verdict.UNKNOWN, "it holds too many pickles inside pickles to read them all", member)
        return
    if source.deflated:
        source = _inflated(scan_, source, member)
    kind = sniff(source)
    if kind in _MAY_BE_BOTH:
        _pickles(scan_, source, member, depth, certain=False)
    if kind == "zip":
        _zip(scan_, source, member, depth)
    elif kind == "legacy":
        with stream(source) as file:
            for done in legacy_traces(file):
                _trace(scan_, done, source, member, depth)
    elif kind == "tar":
        _tar(scan_, source, member, depth)
    elif kind in ("gzip", "bz2", "xz", "zlib"):
        _compressed(scan_, source, member, kind, depth)
    elif kind in _OTHERS:
        _OTHERS[kind](scan_, source, member, depth)
    else:
        named = (member or source.path).lower().endswith(_PICKLE_NAMES)
        _pickles(scan_, source, member, depth, certain=kind == "pickle" or named)


_MAY_BE_BOTH = ("tar", "bz2", "safetensors", "zlib")  # their first bytes can be opcodes too: one file, two readings


def _inflated(scan_: _Scan, source: Extent, member: str) -> Extent:
    with stream(source) as file:
        data = file.read()
    if len(data) >= MAX_INFLATED:
        scan_.add(member, Verdict.UNKNOWN, f"only its first {MAX_INFLATED:,} bytes were read", member)
    return Extent(source.path, 0, len(data), data=data)


def _compressed(scan_: _Scan, source: Extent, member: str, kind: str, depth: int) -> None:
    worker: Any = {
        "gzip": lambda: zlib.decompressobj(31),
        "zlib": zlib.decompressobj,
        "bz2": bz2.BZ2Decompressor,
        "xz": lzma.LZMADecompressor,
    }[kind]()
    out = bytearray()
    try:
        for data in chunks(source, 1 << 16):
            if len(out) >= MAX_INFLATED or worker.eof:
                break
            out += worker.decompress(data, MAX_INFLATED - len(out))
    except (zlib.error, OSError, lzma.LZMAError, EOFError) as error:
        if not out and kind == "zlib":
            _pickles(scan_, source, member, depth, certain=False)
            return
        scan_.add(f"{kind} stream", Verdict.UNKNOWN, f"it is broken ({error})", member)
    if len(out) >= MAX_INFLATED:
        bomb = source.nbytes * 200 < len(out)
        reason = "a few bytes become very many (bomb)" if bomb else f"only its first {MAX_INFLATED:,} bytes were read"
        scan_.add(f"{kind} stream", Verdict.DANGEROUS if bomb else Verdict.UNKNOWN, reason, member)
    _extent(scan_, Extent(source.path, 0, len(out), data=bytes(out)), f"{member} > {kind}".lstrip(" >"), depth + 1)


# pickles ----------------------------------------------------------------------------------------------------------------


def _pickles(scan_: _Scan, source: Extent, member: str, depth: int, *, certain: bool, script: bool = False) -> None:
    """One pickle after another, to the first bytes that are none; `certain` says that the first should be one."""
    named = (member or source.path).lower().endswith(_PICKLE_NAMES)
    with stream(source) as file:
        for number in range(MAX_PICKLES):
            done = trace(file)
            expected = number == 0 and certain and (named or not done.fault or not member)
            if convincing(done) or expected:
                _trace(scan_, done, source, member, depth, script=script)
            if done.fault or scan_.report.pickles > MAX_PICKLES:
                return
            file.seek(done.end)
            if not file.read(1):
                return
            file.seek(done.end)
    scan_.add("pickles", Verdict.UNKNOWN, f"more than {MAX_PICKLES} pickles follow each other", member)


def convincing(done: Trace) -> bool:
    """Whether bytes that may be anything are a pickle: they end as one, go on for long, or import a real name."""
    if any(event.kind == "extension" for event in done.events) or done.opcodes >= 10_000:
        return True
    names = [event.value for event in done.events if event.kind == "import" and isinstance(event.value, Global)]
    if not done.fault:
        return done.protocol > 0 or bool(names)
    return any(_IDENTIFIER.match(item.module) and _IDENTIFIER.match(item.name) for item in names)


def _trace(scan_: _Scan, done: Trace, source: Extent, member: str, depth: int, *, script: bool = False) -> None:
    report = scan_.report
    report.pickles += 1
    report.uses += uses(done, member, scan_.allow, script=script)
    if done.fault:
        reason = f"{done.fault}: what came before would still have run, the rest cannot be read"
        scan_.add("broken pickle", Verdict.UNKNOWN, reason, member, done.end)
        _rest(scan_, source, done.end, member)
    for place, inner in _nested(done, source):
        with stream(inner) as file:
            head = file.read(64)
        if head[:4] == b"PK\x03\x04" or convincing_start(inner):
            _extent(scan_, inner, f"{member} > bytes at {place}".lstrip(" >"), depth + 1)


def convincing_start(source: Extent) -> bool:
    """Whether an extent begins with a pickle that means something."""
    with stream(source) as file:
        return convincing(trace(file, 100_000))


def _nested(done: Trace, source: Extent) -> Iterator[tuple[int, Extent]]:
    for event in done.events:
        value = event.value
        if event.kind == "call" and isinstance(value, Call) and is_global(value.function, "_codecs.encode"):
            value = fold(value)
            first = arguments(event.value)[:1] if isinstance(event.value, Call) else []
            if first and isinstance(first[0], Blob):
                value = _latin(source, first[0])
        elif event.kind != "bytes":
            continue
        if isinstance(value, bytes) and may_be_pickle(value[:64]):
            yield event.position, Extent(source.path, 0, len(value), data=value)
        elif isinstance(value, Blob) and may_be_pickle(value.head):
            yield event.position, source.part(value.offset, value.length)


def _latin(source: Extent, blob: Blob) -> bytes:
    """Bytes that protocol 2 has written as text."""
    text = read(source, blob.offset, min(blob.length, MAX_INFLATED)).decode("utf-8", "replace")
    return text.encode("latin-1", "replace")


def _rest(scan_: _Scan, source: Extent, start: int, member: str) -> None:
    for found in _TEXT_IMPORT.finditer(read(source, start, 1 << 20)):
        module, name = (part.decode("ascii", "replace") for part in found.groups())
        verdict, reason = judge(module, name)
        if verdict is Verdict.DANGEROUS:
            scan_.add(
                f"{module}.{name}", verdict, f"it stands behind the break; {reason}", member, start + found.start()
            )


# containers -------------------------------------------------------------------------------------------------------------


def _zip(scan_: _Scan, source: Extent, member: str, depth: int) -> None:
    if source.path.endswith(".distcp") and not member:
        parts = _parts(source)
        for number, part in enumerate(parts):
            _one_zip(scan_, part, f"part {number}", depth)
        if sum(part.length for part in parts) < source.length:
            scan_.add("end of the shard", Verdict.UNKNOWN, "bytes behind its last zip cannot be read", member)
        return
    _one_zip(scan_, source, member, depth)


def _one_zip(scan_: _Scan, source: Extent, member: str, depth: int) -> None:
    found = directory(source)
    scan_.report.uses += found.odd
    names = {entry.name for entry in found.entries}
    script = any(name.split("/")[-1] == "constants.pkl" for name in names) and any("/code/" in name for name in names)
    if any(name.endswith(".data/extern_modules") for name in names):
        scan_.add("torch.package", Verdict.UNKNOWN, "it carries Python source that runs when it is imported", member)
    for entry in found.entries:
        inner = f"{member} > {entry.name}".lstrip(" >")
        last = entry.name.split("/")[-1].lower()
        if last.endswith((".so", ".dll", ".pyd", ".dylib", ".exe")):
            scan_.add(entry.name, Verdict.UNKNOWN, "it is machine code", inner)
        elif last.endswith(".py") and script:
            _script(scan_, entry.extent, inner)
        elif last == "config.json" and _KERAS_LAMBDA.search(read(entry.extent, 0, 8 << 20)):
            scan_.add(
                "Keras Lambda", Verdict.DANGEROUS, "it carries Python code that runs when the model is loaded", inner
            )
        elif last.endswith(_PICKLE_NAMES):
            _member(scan_, entry.extent, inner, depth, script=script)
        elif last.endswith((".npy", ".zip", ".npz", ".tar")) or may_be_pickle(read(entry.extent, 0, 64)):
            _extent(scan_, entry.extent, inner, depth + 1)


def _member(scan_: _Scan, extent: Extent, member: str, depth: int, *, script: bool) -> None:
    source = _inflated(scan_, extent, member) if extent.deflated else extent
    if sniff(source) in ("zip", "legacy", "tar", "gzip", "bz2", "xz", "zlib"):
        _extent(scan_, source, member, depth + 1)
    else:
        _pickles(scan_, source, member, depth, certain=True, script=script)


def _parts(source: Extent) -> list[Extent]:
    """The zips that a shard of a DCP checkpoint is made of."""
    ends, base, before = [], 0, b""
    for data in chunks(source):
        block, at = before + data, -1
        while (at := block.find(b"PK\x05\x06", at + 1)) >= 0:
            ends.append(base - len(before) + at + 22)
        before = block[-3:]
        base += len(data)
    ends = [end for end in ends if end <= source.nbytes]
    return [source.part(start, end - start) for start, end in zip([0, *ends], ends, strict=False)]


def _script(scan_: _Scan, extent: Extent, member: str) -> None:
    text = read(extent, 0, 8 << 20)
    found = _SCRIPT_FILES.search(text)
    if found:
        reason = "TorchScript code in it reads or writes files when it runs"
        scan_.add(found.group(1).decode("ascii", "replace"), Verdict.DANGEROUS, reason, member, found.start())


def _tar(scan_: _Scan, source: Extent, member: str, depth: int) -> None:
    members = tar_members(source)
    parts = tar_parts(members) if "pickle" in members else None
    for name, extent in members.items():
        inner = f"{member} > {name}".lstrip(" >")
        if name.startswith("/") or ".." in name.split("/"):
            scan_.add(
                f"tar member {name}", Verdict.DANGEROUS, "its name leads out of the folder it is unpacked into", inner
            )
        if parts is not None and name in ("storages", "tensors"):
            for done in parts.traces[name]:
                _trace(scan_, done, extent, inner, depth)
        else:
            _pickles(scan_, extent, inner, depth, certain=name == "pickle")


def _numpy(scan_: _Scan, source: Extent, member: str, depth: int) -> None:
    start = npy_object_start(source)
    if start is not None:
        inner = f"{member} > objects".lstrip(" >")
        _pickles(scan_, source.part(start, source.nbytes - start), inner, depth + 1, certain=True)


def _safetensors(scan_: _Scan, source: Extent, member: str, depth: int) -> None:
    load_safetensors(source)
    _ = scan_, member, depth  # a header that parses has nothing to hide in


def _hdf5(scan_: _Scan, source: Extent, member: str, depth: int) -> None:
    _ = depth
    if _KERAS_LAMBDA.search(read(source, 0, 64 << 20)):
        scan_.add(
            "Keras Lambda", Verdict.DANGEROUS, "it carries Python code that runs when the model is loaded", member
        )


def _onnx(scan_: _Scan, source: Extent, member: str, depth: int) -> None:
    try:
        load_onnx(source)
    except Escape as error:
        scan_.add("external data", Verdict.DANGEROUS, str(error), member)
    except BadFile:
        _pickles(scan_, source, member, depth, certain=False)


def _index(scan_: _Scan, source: Extent, member: str, depth: int) -> None:
    _ = depth
    if member or b'"weight_map"' not in read(source, 0, 1 << 20):
        return
    path = Path(source.path)
    for name in sorted(set(read_index(path).values())):
        try:
            inside_folder(path.parent, name)
        except Escape as error:
            scan_.add(f"shard {name}", Verdict.DANGEROUS, str(error), member)


def _seven_zip(scan_: _Scan, source: Extent, member: str, depth: int) -> None:
    _ = source, depth
    scan_.add(
        "7z archive", Verdict.UNKNOWN, "it cannot be opened here, and other scanners skip it; unpack it first", member
    )


_OTHERS = {
    "npy": _numpy,
    "safetensors": _safetensors,
    "hdf5": _hdf5,
    "onnx": _onnx,
    "json": _index,
    "7z": _seven_zip,
}

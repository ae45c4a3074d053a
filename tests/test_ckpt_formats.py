"""Every format is read as torch reads it, none of it is called dangerous, and its ailments are named."""

import collections
import functools
import io
import json
import pickle
import re
import struct
import tarfile
import warnings
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import torchlore
from torchlore.catalogue import notes
from torchlore.ckpt.describe import Opaque
from torchlore.ckpt.health import inspect, stats
from torchlore.ckpt.names import Verdict
from torchlore.ckpt.overview import overview, size
from torchlore.ckpt.reader import read_checkpoint
from torchlore.ckpt.scan import scan
from torchlore.ckpt.tensors import Tensor, array, blocks
from torchlore.ckpt.values import BadFile
from torchlore.ckpt.weights import facts, groups, resume_parts, tensors, weights, without_prefix, wrapper_prefix


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(8, 4)
        self.act = functools.partial(nn.functional.leaky_relu, negative_slope=0.1)
        self.register_buffer("kept", torch.arange(3))
        self.register_buffer("dropped", torch.arange(3), persistent=False)

    def forward(self, x: torch.Tensor):
        return self.head(self.body(x).flatten(1))


class Scriptable(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor):
        return self.conv(x) * self.scale.sum()


def training_state(net: nn.Module) -> dict:
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    net(torch.randn(2, 3, 8, 8)).sum().backward()
    optimizer.step()
    scheduler.step()
    return {
        "epoch": 3,
        "model": net.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "scaler": {"scale": 65536.0},
        "rng": torch.get_rng_state(),
        "metrics": {"accuracy": 0.93, "loss": np.float64(0.2)},
        "args": Namespace(lr=0.1, out=Path("runs")),
        "classes": {"cat", "dog"},
        "history": collections.defaultdict(list, loss=[1.0, 0.5]),
    }


def same(found: dict[str, Tensor], wanted: dict[str, torch.Tensor]) -> None:
    assert list(found) == list(wanted)
    for key, tensor in wanted.items():
        assert found[key].shape == tuple(tensor.shape), key
        assert found[key].dtype == str(tensor.dtype).removeprefix("torch."), key
        np.testing.assert_array_equal(
            array(found[key]), tensor.float().numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()
        )


def clean(path: Path, allowed: Verdict = Verdict.ALLOWED) -> None:
    for report in scan(path):
        assert not report.error
        assert report.verdict.rank <= allowed.rank, [use for use in report.uses if use.verdict is not Verdict.ALLOWED]


@pytest.fixture(scope="module")
def net():
    torch.manual_seed(0)
    return Net()


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_what_torch_saves_is_read_as_torch_loads_it(net, tmp_path, zipped, protocol):
    file = tmp_path / "a.pt"
    torch.save(training_state(net), file, _use_new_zipfile_serialization=zipped, pickle_protocol=protocol)
    found = read_checkpoint(file)
    assert found.format == ("torch zip" if zipped else "torch legacy")
    assert found.faults == []
    same(weights(found), torch.load(file, weights_only=False)["model"])
    assert found.root["metrics"] == {"accuracy": 0.93, "loss": 0.2}
    assert found.root["args"] == {"lr": 0.1, "out": "runs"}
    assert sorted(found.root["classes"]) == ["cat", "dog"]
    assert found.root["history"]["loss"] == [1.0, 0.5]
    assert facts(found.root)["epoch"] == 3
    assert all(resume_parts(found.root).values())
    clean(file)


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_a_whole_model_gives_its_state_dict_without_being_built(net, tmp_path, zipped):
    file = tmp_path / "whole.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.save(net, file, _use_new_zipfile_serialization=zipped)
    found = read_checkpoint(file)
    assert found.format == "whole-model pickle"
    same(weights(found), net.state_dict())
    clean(file, Verdict.UNKNOWN)


def test_wrapped_and_compiled_models_show_their_prefix(net, tmp_path):
    for wrapped, prefix in (
        (nn.DataParallel(net), "module."),
        (torch.compile(net), "_orig_mod."),
        (nn.DataParallel(torch.compile(net)), "module._orig_mod."),
    ):
        torch.save(wrapped.state_dict(), tmp_path / "a.pt")
        found = weights(read_checkpoint(tmp_path / "a.pt"))
        assert wrapper_prefix(found) == prefix
        same(without_prefix(found), net.state_dict())
        clean(tmp_path / "a.pt")


def test_prefixes_of_your_own_and_of_submodules():
    assert without_prefix({"a.w": 1, "a.b": 2}, "a.") == {"w": 1, "b": 2}
    assert without_prefix({"layer._orig_mod.w": 1, "x": 2}) == {"layer.w": 1, "x": 2}
    assert wrapper_prefix(["model.a", "head.b"]) == ""
    with pytest.raises(BadFile, match="does not begin"):
        without_prefix({"a.w": 1, "c": 2}, "a.")


def test_torchscript(tmp_path):
    model = Scriptable()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(model).save(str(tmp_path / "a.pt"))
        traced = torch.jit.trace(model, torch.zeros(1, 3, 8, 8))
        traced.save(str(tmp_path / "b.pt"))
    for name in ("a.pt", "b.pt"):
        found = read_checkpoint(tmp_path / name)
        assert found.format == "TorchScript"
        got, want = weights(found), model.state_dict()
        assert set(got) == set(want)
        same({key: got[key] for key in want}, want)
    clean(tmp_path)


def test_safetensors_whole_and_sharded(net, tmp_path):
    state = {**net.state_dict(), "half": torch.randn(5).bfloat16(), "flags": torch.tensor([True, False])}
    save_file(state, tmp_path / "model.safetensors", metadata={"epoch": "3"})
    found = read_checkpoint(tmp_path / "model.safetensors")
    assert found.details["metadata"] == {"epoch": "3"}
    same({key: weights(found)[key] for key in state}, state)
    folder = tmp_path / "sharded"
    folder.mkdir()
    names = list(state)
    save_file({key: state[key] for key in names[:4]}, folder / "model-00001-of-00002.safetensors")
    torch.save({key: state[key] for key in names[4:]}, folder / "model-00002-of-00002.bin")
    where = {
        key: f"model-0000{1 + (names.index(key) >= 4)}-of-00002.{'bin' if names.index(key) >= 4 else 'safetensors'}"
        for key in names
    }
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    for path in (folder, folder / "model.safetensors.index.json"):
        found = read_checkpoint(path)
        assert (found.format, found.details["shards"]) == ("sharded index", 2)
        same({key: weights(found)[key] for key in state}, state)
    clean(tmp_path)
    (folder / "model-00001-of-00002.safetensors").unlink()
    assert "model-00001-of-00002.safetensors is missing, and 4 tensors" in read_checkpoint(folder).faults[0]


def test_dcp(net, tmp_path):
    import torch.distributed.checkpoint as dcp

    state = {"model": net.state_dict(), "epoch": 7, "name": "run"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save(state, checkpoint_id=tmp_path / "dcp")
    found = read_checkpoint(tmp_path / "dcp")
    assert (found.format, found.root["epoch"], found.root["name"]) == ("DCP folder", 7, "run")
    same(weights(found), net.state_dict())
    clean(tmp_path)
    for file in (tmp_path / "dcp").glob("*.distcp"):
        file.unlink()
    assert "shard is not there" in read_checkpoint(tmp_path / "dcp").faults[0]


def test_onnx(tmp_path):
    onnx = pytest.importorskip("onnx")
    weight, scale = np.random.default_rng(0).normal(size=(4, 3)).astype("f4"), np.arange(4, dtype="f4")
    tensors_ = [onnx.numpy_helper.from_array(weight, "w"), onnx.helper.make_tensor("s", 1, [4], scale.tolist())]
    node = onnx.helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)
    graph = onnx.helper.make_graph(
        [node], "g",
        [onnx.helper.make_tensor_value_info("x", 1, ["n", 3])], [onnx.helper.make_tensor_value_info("y", 1, ["n", 4])],
        tensors_,
    )  # fmt: skip
    onnx.save(onnx.helper.make_model(graph, producer_name="us"), tmp_path / "a.onnx")
    found = read_checkpoint(tmp_path / "a.onnx")
    assert (found.format, found.details["producer"], found.details["nodes"]) == ("ONNX", "us", 1)
    np.testing.assert_array_equal(array(found.root["w"]), weight)
    np.testing.assert_array_equal(array(found.root["s"]), scale)
    onnx.save(
        onnx.helper.make_model(graph),
        tmp_path / "b.onnx",
        save_as_external_data=True,
        location="b.data",
        size_threshold=0,
    )
    np.testing.assert_array_equal(array(read_checkpoint(tmp_path / "b.onnx").root["w"]), weight)
    clean(tmp_path)


def test_hdf5_and_numpy(tmp_path):
    h5py = pytest.importorskip("h5py")
    weight = np.random.default_rng(0).normal(size=(4, 3)).astype("f4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["layer/kernel"] = weight
        file["layer/big"] = weight.astype(">f8")
        file["packed"] = h5py.SoftLink("/layer")
        file.create_dataset("chunked", data=weight, compression="gzip")
    found = read_checkpoint(tmp_path / "a.h5")
    np.testing.assert_array_equal(array(found.root["layer"]["kernel"]), weight)
    np.testing.assert_array_equal(array(found.root["layer"]["big"]), weight.astype("f8"))
    assert found.root["chunked"].shape == (4, 3)
    assert isinstance(found.root["packed"], Opaque)
    np.save(tmp_path / "a.npy", np.asfortranarray(weight))
    np.testing.assert_array_equal(array(read_checkpoint(tmp_path / "a.npy").root["array"]), weight)
    np.savez(tmp_path / "a.npz", x=weight)
    np.testing.assert_array_equal(array(read_checkpoint(tmp_path / "a.npz").root["x"]), weight)
    clean(tmp_path)


def legacy_tar(path: Path, weight: np.ndarray) -> None:
    """What torch 0.1 wrote: three members, tensors by persistent id."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            return value[1] if isinstance(value, tuple) and value[:1] == ("tensor",) else None

    raw = (
        pickle.dumps(1, 2)
        + b"\x80\x02(K\x07X\x03\x00\x00\x00cpuctorch\nFloatStorage\nt."
        + struct.pack("<q", weight.size)
        + weight.tobytes()
    )
    raw += pickle.dumps([], 2)
    table = pickle.dumps(1, 2) + b"\x80\x02(K\x09K\x07ctorch\nFloatTensor\nt." + struct.pack("<ii", weight.ndim, 0)
    table += struct.pack(f"<{2 * weight.ndim}q", *weight.shape, *(step // 4 for step in weight.strides)) + struct.pack(
        "<q", 0
    )
    out = io.BytesIO()
    Pickler(out, 2).dump(collections.OrderedDict(w=("tensor", 9)))
    with tarfile.open(path, "w:", format=tarfile.PAX_FORMAT) as archive:
        for name, data in (("storages", raw), ("tensors", table), ("pickle", out.getvalue())):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def test_legacy_tar(tmp_path):
    weight = np.random.default_rng(0).normal(size=(4, 3)).astype("f4")
    legacy_tar(tmp_path / "a.tar", weight)
    found = read_checkpoint(tmp_path / "a.tar")
    assert found.format == "torch legacy tar"
    same(weights(found), torch.load(tmp_path / "a.tar", weights_only=False))
    np.testing.assert_array_equal(array(found.root["w"]), weight)
    clean(tmp_path)


def test_plain_pickles_of_arrays_and_tensors(net, tmp_path):
    value = {
        "a": np.arange(6.0).reshape(2, 3),
        "f": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "n": np.int64(3),
        "w": net.state_dict(),
        "big": np.arange(50_000.0),
    }
    for protocol in range(2, 6):
        (tmp_path / "a.pkl").write_bytes(pickle.dumps(value, protocol))
        root = read_checkpoint(tmp_path / "a.pkl").root
        np.testing.assert_array_equal(array(root["a"]), value["a"])
        np.testing.assert_array_equal(array(root["f"]), value["f"])
        assert root["n"] == 3
        np.testing.assert_array_equal(array(root["big"]), value["big"])
        same(root["w"], net.state_dict())
        clean(tmp_path / "a.pkl")


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int8", "uint8", "int16", "bool", "complex64", "uint16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])  # fmt: skip
def test_dtypes(dtype, tmp_path):
    kind = getattr(torch, dtype)
    value = (
        torch.arange(256, dtype=torch.uint8).view(kind)
        if "float8" in dtype
        else (torch.randn(7, 5) * 3).to(torch.float32).abs().to(kind)
    )
    torch.save({"x": value, "y": value}, tmp_path / "a.pt")
    found = read_checkpoint(tmp_path / "a.pt").root["x"]
    assert found.dtype == dtype
    wanted = value.float().numpy() if dtype == "bfloat16" or "float8" in dtype else value.numpy()
    np.testing.assert_array_equal(array(found), wanted)


def test_views_strides_and_odd_tensors(tmp_path):
    base = torch.arange(24.0).reshape(4, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantized tensors are on their way out
        quantized = torch.quantize_per_tensor(base, 0.1, 0, torch.qint8)
    state = {
        "t": base.t(), "row": base[2], "step": base[::2, ::3], "scalar": torch.tensor(3.0), "empty": torch.zeros(0, 4),
        "expanded": torch.ones(1).expand(5), "parameter": nn.Parameter(base.clone()), "meta": torch.zeros(2, device="meta"),
        "sparse": torch.eye(3).to_sparse(), "quantized": quantized,
    }  # fmt: skip
    torch.save(state, tmp_path / "a.pt")
    root = read_checkpoint(tmp_path / "a.pt").root
    for key in ("t", "row", "step", "scalar", "empty", "expanded", "parameter"):
        np.testing.assert_array_equal(array(root[key]), state[key].detach().numpy())
        assert sum(len(block) for block in blocks(root[key], 32)) == state[key].numel()
    assert (root["meta"].kind, root["quantized"].kind) == ("meta", "quantized")
    assert root["parameter"].requires_grad
    assert isinstance(root["sparse"], Opaque)
    clean(tmp_path)


def slugs(path: Path, **options) -> dict[str, str]:
    return {finding.slug: finding.message for finding in inspect(read_checkpoint(path), **options)}


def test_ailments_are_named(net, tmp_path):
    file = tmp_path / "a.pt"
    torch.save(net.state_dict(), file)
    assert slugs(file) == {}
    big = torch.randn(1000, 100)
    state = {
        "nan.weight": torch.tensor([[1.0, float("nan")]]), "inf": torch.tensor([1.0, float("inf")]), "zero.weight": torch.zeros(10, 10),
        "denormal.weight": torch.full((100, 100), 1e-40), "bn.running_var": torch.tensor([1.0, -0.5]), "view": big[:10], "a": big[20:], "fine": torch.randn(3),
    }  # fmt: skip
    state["tied"] = state["fine"]
    torch.save(state, file)
    found = slugs(file)
    assert set(found) == {
        "nan-in-checkpoint",
        "all-zero-tensor",
        "denormal-tensor",
        "negative-variance",
        "shared-storage",
    }
    assert "bn.running_var" in found["negative-variance"]
    assert "fine, tied" in found["shared-storage"]
    torch.save({"w": big[:10].t(), "b": torch.zeros(3)}, file)
    assert "400,000 bytes are stored and 4,000 used" in slugs(file)["oversized-storage"]
    torch.save(
        {
            "epoch": 1,
            "model": nn.DataParallel(net).state_dict(),
            "optimizer": torch.optim.Adam(net.parameters()).state_dict(),
        },
        file,
    )
    found = slugs(file)
    assert "no scheduler, no scaler, no rng" in found["cannot-resume"]
    assert "'module.'" in found["data-parallel-prefix"]


def test_a_cuda_tag_is_seen(tmp_path):
    file = tmp_path / "a.pt"
    torch.save({"w": torch.ones(3)}, file, _use_new_zipfile_serialization=False)
    file.write_bytes(file.read_bytes().replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0"))
    found = read_checkpoint(file)
    assert found.root["w"].device == "cuda:0"
    assert "cuda:0" in slugs(file)["load-without-map-location"]
    np.testing.assert_array_equal(array(found.root["w"]), np.ones(3))


def test_a_sample_finds_what_fills_a_tensor_and_confirms_zeros(tmp_path):
    large = torch.zeros(4 << 20)
    torch.save({"nan": torch.full((4 << 20,), float("nan")), "zero": large, "late": large.clone()}, tmp_path / "a.pt")
    root = read_checkpoint(tmp_path / "a.pt").root
    assert stats(root["nan"], 1 << 16).nan > 0
    assert stats(root["zero"], 1 << 16).complete
    assert stats(root["zero"], 1 << 16).zero
    large[-5] = 1
    torch.save({"late": large}, tmp_path / "a.pt")
    assert not stats(read_checkpoint(tmp_path / "a.pt").root["late"], 1 << 16).zero


def test_ema_and_several_models(net, tmp_path):
    ema = {key: value + 1 if value.is_floating_point() else value for key, value in net.state_dict().items()}
    torch.save({"state_dict": net.state_dict(), "state_dict_ema": ema, "args": None}, tmp_path / "a.pt")
    found = read_checkpoint(tmp_path / "a.pt")
    assert set(groups(found.root)) == {"state_dict", "state_dict_ema"}
    same(weights(found), net.state_dict())
    same(weights(found, "ema"), ema)
    with pytest.raises(BadFile, match=r"no weights called 'x'; it has 'state_dict', 'state_dict_ema'"):
        weights(found, "x")
    told = overview(found, [])
    assert told["groups"]["state_dict_ema"]["ema"]
    assert told["parameters"] == sum(p.numel() for p in net.parameters()) + 3


def test_broken_files_say_so_in_one_sentence(tmp_path):
    cases = {
        "empty.pt": b"", "text.pt": b"hello world", "short.safetensors": struct.pack("<Q", 500) + b"{}",
        "bad.safetensors": struct.pack("<Q", 10) + b"{not json}", "zip.pt": b"PK\x03\x04 and then nothing",
        "index.json": b'{"weight_map": {"a": "../x"}}', "index2.json": b'{"a": 1}', "seven.7z": b"7z\xbc\xaf\x27\x1c" + bytes(60),
    }  # fmt: skip
    for name, data in cases.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadFile) as caught:
            read_checkpoint(tmp_path / name)
        text = str(caught.value)
        assert text.startswith(str(tmp_path)), text
        assert "\n" not in text
    with pytest.raises(BadFile, match="no such file"):
        read_checkpoint(tmp_path / "none.pt")
    with pytest.raises(BadFile, match="a folder without"):
        read_checkpoint(tmp_path)


def test_a_tree_that_shares_itself_is_not_unrolled(tmp_path):
    """Forty levels of [x, x] are 2**40 leaves for a reader that is not careful."""
    value: list = [1]
    for _ in range(40):
        value = [value, value]
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(value))
    found = read_checkpoint(tmp_path / "a.pkl")
    assert tensors(found.root) == {}
    assert overview(found, [])["tensors"] == 0


def test_an_expanded_tensor_does_not_eat_the_memory(tmp_path):
    torch.save({"w": torch.ones(1).expand(1 << 40), "v": torch.zeros(2)}, tmp_path / "a.pt")
    found = read_checkpoint(tmp_path / "a.pt")
    assert inspect(found, full=True)[0].slug == "broken-checkpoint"
    with pytest.raises(BadFile, match="a few stored bytes claim"):
        array(found.root["w"])


def test_sizes_read_well():
    assert [size(n) for n in (12, 1234, 25_600_000, 4_000_000_000)] == ["12 B", "1.2 kB", "25.6 MB", "4.0 GB"]


def test_every_finding_has_a_page():
    source = (Path(torchlore.__file__).parent / "ckpt" / "health.py").read_text(encoding="utf-8")
    said = set(re.findall(r'_say\(\s*"([a-z-]+)"', source))
    assert len(said) > 8
    assert said <= {note.slug for note in notes()}

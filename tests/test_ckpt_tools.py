"""Convert, average, compare, repair, match: what comes out is what torch would have written."""

import math
import pickle
import warnings
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch import nn

from torchlore.ckpt.convert import average, convert, diff, repair
from torchlore.ckpt.match import match, rename_map
from torchlore.ckpt.models import model_specs
from torchlore.ckpt.reader import read_checkpoint
from torchlore.ckpt.values import BadFile
from torchlore.ckpt.weights import weights
from torchlore.ckpt.write import encode, write_torch


def small(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(8, 4))


def equal(a: dict, b: dict) -> None:
    assert list(a) == list(b)
    for key, value in a.items():
        assert value.dtype == b[key].dtype
        assert torch.equal(value, b[key]), key


@pytest.fixture
def checkpoint(tmp_path):
    model = small()
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.randn(2, 3, 3, 3)).sum().backward()
    optimizer.step()
    file = tmp_path / "in.pt"
    torch.save(
        {"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "acc": 0.5, "name": "r"}, file
    )
    return file


def test_to_a_plain_state_dict(checkpoint, tmp_path):
    done = convert(checkpoint, tmp_path / "out.pt")
    want = torch.load(checkpoint)["model"]
    assert (done.tensors, done.notes) == (9, [])
    for mmap in (False, True):
        equal(torch.load(tmp_path / "out.pt", weights_only=True, mmap=mmap), dict(want))
    with zipfile.ZipFile(tmp_path / "out.pt") as archive:
        assert archive.testzip() is None
        data = next(item for item in archive.infolist() if item.filename.endswith("data/0"))
    assert (data.header_offset + 30 + len(data.filename) + len(data.extra)) % 64 == 0


def test_to_safetensors_and_back(checkpoint, tmp_path):
    convert(checkpoint, tmp_path / "out.safetensors")
    want = torch.load(checkpoint)["model"]
    got = load_file(tmp_path / "out.safetensors")
    equal({key: got[key] for key in want}, dict(want))
    assert read_checkpoint(tmp_path / "out.safetensors").details["metadata"]["epoch"] == "3"
    convert(tmp_path / "out.safetensors", tmp_path / "again.pt")
    assert diff(tmp_path / "again.pt", checkpoint).equal


@pytest.mark.parametrize(
    ("name", "dtype"), [("half", torch.float16), ("bf16", torch.bfloat16), ("float64", torch.float64)]
)
def test_precision(checkpoint, tmp_path, name, dtype):
    convert(checkpoint, tmp_path / "out.pt", dtype=name)
    want = {k: v.to(dtype) if v.is_floating_point() else v for k, v in torch.load(checkpoint)["model"].items()}
    equal(torch.load(tmp_path / "out.pt"), want)


def test_half_says_what_overflows(tmp_path):
    torch.save({"w": torch.tensor([1e6]), "b": torch.ones(1)}, tmp_path / "a.pt")
    assert "w has numbers above 65504" in convert(tmp_path / "a.pt", tmp_path / "b.pt", dtype="half").notes[0]


@given(st.lists(st.floats(width=32, allow_nan=True), min_size=1, max_size=50))
@settings(deadline=None)
def test_bfloat16_rounds_as_torch_does(values):
    numbers = np.array(values, np.float32)
    ours = torch.from_numpy(encode(numbers, "bfloat16").view(np.int16)).view(torch.bfloat16)
    torch.testing.assert_close(ours, torch.from_numpy(numbers).bfloat16(), rtol=0, atol=0, equal_nan=True)


def test_keep_all_and_without_optimizer(checkpoint, tmp_path):
    convert(checkpoint, tmp_path / "all.pt", keep="all")
    got, want = torch.load(tmp_path / "all.pt", weights_only=True), torch.load(checkpoint)
    assert got["optimizer"]["param_groups"] == want["optimizer"]["param_groups"]
    equal(got["model"], dict(want["model"]))
    model = small()
    model.load_state_dict(got["model"])
    torch.optim.AdamW(model.parameters()).load_state_dict(got["optimizer"])
    convert(checkpoint, tmp_path / "less.pt", keep="no-optimizer")
    assert set(torch.load(tmp_path / "less.pt")) == {"epoch", "model", "acc", "name"}
    with pytest.raises(BadFile, match="only the weights fit"):
        convert(checkpoint, tmp_path / "a.safetensors", keep="all")


def test_ema_prefix_and_oversized_storages(tmp_path):
    model, base = small(), torch.randn(1000, 100)
    ema = {f"module.{key}": value + 1 for key, value in model.state_dict().items()}
    torch.save(
        {"model": model.state_dict(), "model_ema": ema, "extra": {"a": base[0], "b": base[1]}}, tmp_path / "a.pt"
    )
    convert(tmp_path / "a.pt", tmp_path / "b.pt", which="ema", prefix="auto")
    equal(torch.load(tmp_path / "b.pt"), {key: value + 1 for key, value in model.state_dict().items()})
    torch.save({"w": base[:3], "v": base[3]}, tmp_path / "view.pt")
    assert (tmp_path / "view.pt").stat().st_size > 400_000
    convert(tmp_path / "view.pt", tmp_path / "small.pt")
    assert (tmp_path / "small.pt").stat().st_size < 5000
    equal(torch.load(tmp_path / "small.pt"), {"w": base[:3], "v": base[3]})


def test_a_whole_model_is_converted_without_running_it(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.save(small(), tmp_path / "whole.pt")
    data = (tmp_path / "whole.pt").read_bytes()
    # a class that no longer exists: torch.load cannot open this file at all
    gone = data.replace(b"torch.nn.modules.container\nSequential", b"torch.nn.modules.containex\nSequential")
    assert gone != data
    (tmp_path / "gone.pt").write_bytes(gone)
    with pytest.raises(Exception, match="containex"):
        torch.load(tmp_path / "gone.pt", weights_only=False)
    convert(tmp_path / "gone.pt", tmp_path / "out.pt")
    equal(torch.load(tmp_path / "out.pt", weights_only=True), dict(small().state_dict()))


def test_tied_weights_stay_tied(tmp_path):
    tied = torch.randn(100, 100)
    torch.save({"a": tied, "b": tied, "c": tied.clone()}, tmp_path / "a.pt")
    convert(tmp_path / "a.pt", tmp_path / "b.pt")
    got = torch.load(tmp_path / "b.pt")
    assert got["a"].data_ptr() == got["b"].data_ptr() != got["c"].data_ptr()
    convert(tmp_path / "a.pt", tmp_path / "b.safetensors")
    assert torch.equal(load_file(tmp_path / "b.safetensors")["b"], tied)


nested = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text() | st.integers(0, 9), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(nested)
@settings(deadline=None, max_examples=60)
def test_our_writer_is_read_by_torch(tmp_path_factory, value):
    file = tmp_path_factory.mktemp("w") / "a.pt"
    write_torch({"value": value}, file)
    assert torch.load(file, weights_only=False)["value"] == value
    assert read_checkpoint(file).root["value"] == value


def test_average(tmp_path):
    files = []
    for seed in range(3):
        files.append(tmp_path / f"{seed}.pt")
        model = nn.DataParallel(small(seed)) if seed == 1 else small(seed)
        torch.save({"model": model.state_dict()}, files[-1])
    done = average(files, tmp_path / "mean.pt")
    states = [small(seed).state_dict() for seed in range(3)]
    got = torch.load(tmp_path / "mean.pt")
    for key, value in got.items():
        want = torch.stack([state[key].double() for state in states]).mean(0).to(value.dtype)
        torch.testing.assert_close(value, want, rtol=0, atol=0)
    assert "BatchNorm" in done.notes[0]
    torch.save({"model": nn.Linear(2, 2).state_dict()}, tmp_path / "other.pt")
    with pytest.raises(BadFile, match="do not have the same keys"):
        average([files[0], tmp_path / "other.pt"], tmp_path / "x.pt")
    with pytest.raises(BadFile, match="two checkpoints"):
        average(files[:1], tmp_path / "x.pt")


def test_an_average_of_a_broken_checkpoint_says_so(tmp_path):
    for seed, value in enumerate((1.0, math.nan)):
        torch.save({"whole": torch.ones(2), "part": torch.tensor([2.0, value])}, tmp_path / f"{seed}.pt")
    done = average([tmp_path / "0.pt", tmp_path / "1.pt"], tmp_path / "mean.pt")
    assert [note.split(" NaN")[0] for note in done.notes] == ["part holds"]
    assert not average([tmp_path / "0.pt", tmp_path / "0.pt"], tmp_path / "mean.pt").notes


def test_diff(tmp_path):
    a, b = small().state_dict(), small().state_dict()
    b = {**b, "3.weight": b["3.weight"] * 2, "0.bias": b["0.bias"] + 1e-3, "new": torch.ones(1)}
    del b["3.bias"]
    b["1.weight"] = torch.ones(9)
    b["1.bias"] = b["1.bias"].double()
    torch.save(a, tmp_path / "a.pt")
    torch.save({f"module.{key}": value for key, value in b.items()}, tmp_path / "b.pt")
    found = diff(tmp_path / "a.pt", tmp_path / "b.pt")
    assert (found.only_first, found.only_second) == (["3.bias"], ["new"])
    assert found.shapes == {"1.weight": ((8,), (9,))}
    assert found.dtypes == {"1.bias": ("float32", "float64")}
    assert [change.key for change in found.changes] == ["3.weight", "0.bias"]
    assert found.changes[0].relative == pytest.approx(1, rel=1e-6)
    assert found.changes[1].largest == pytest.approx(1e-3, rel=1e-3)
    assert diff(tmp_path / "a.pt", tmp_path / "a.pt").equal


def test_diff_of_nan(tmp_path):
    torch.save({"w": torch.tensor([float("nan"), 1.0])}, tmp_path / "a.pt")
    torch.save({"w": torch.tensor([2.0, 1.0])}, tmp_path / "b.pt")
    assert diff(tmp_path / "a.pt", tmp_path / "a.pt").equal
    assert not diff(tmp_path / "a.pt", tmp_path / "b.pt").equal
    assert not diff(tmp_path / "b.pt", tmp_path / "a.pt").equal


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_repair_saves_what_is_whole_wherever_the_file_ends(tmp_path, zipped):
    state = {f"layer{number}": torch.randn(50, number + 1) for number in range(12)}
    torch.save({"epoch": 1, "model": state}, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    data, kept = (tmp_path / "a.pt").read_bytes(), []
    for share in (0.999, 0.9, 0.7, 0.5, 0.3):
        (tmp_path / "cut.pt").write_bytes(data[: int(len(data) * share)])
        done = repair(tmp_path / "cut.pt", tmp_path / "out.pt")
        got = torch.load(tmp_path / "out.pt", weights_only=True)
        assert got["epoch"] == 1
        for key, value in got["model"].items():
            assert torch.equal(value, state[key])
        assert len(got["model"]) + len(done.notes) == len(state)
        kept.append(len(got["model"]))
    assert kept == sorted(kept, reverse=True)
    assert kept[0] >= 11
    assert kept[-1] < 8


def test_repair_of_safetensors_checksums_and_nothing(tmp_path):
    from safetensors.torch import save_file

    state = {f"w{number}": torch.randn(100) for number in range(5)}
    save_file(state, tmp_path / "a.safetensors")
    data = (tmp_path / "a.safetensors").read_bytes()
    (tmp_path / "cut.safetensors").write_bytes(data[:-100])
    done = repair(tmp_path / "cut.safetensors", tmp_path / "out.safetensors")
    assert (done.tensors, len(done.notes)) == (4, 1)
    torch.save(state, tmp_path / "b.pt")
    data = bytearray((tmp_path / "b.pt").read_bytes())
    at = bytes(data).index(state["w2"].numpy().tobytes())
    data[at + 7] ^= 64
    (tmp_path / "flipped.pt").write_bytes(data)
    done = repair(tmp_path / "flipped.pt", tmp_path / "out.pt")
    assert done.notes == ["w2 is not whole, left out."]
    equal(torch.load(tmp_path / "out.pt"), {key: value for key, value in state.items() if key != "w2"})
    (tmp_path / "head.pt").write_bytes(bytes(data[:60]))
    with pytest.raises(BadFile):
        repair(tmp_path / "head.pt", tmp_path / "x.pt")


def test_nothing_is_left_behind_when_writing_fails(tmp_path):
    torch.save({"w": torch.randn(1000), "v": torch.randn(1000)}, tmp_path / "a.pt")
    (tmp_path / "cut.pt").write_bytes((tmp_path / "a.pt").read_bytes()[:6000])
    with pytest.raises(BadFile, match="try `lore ckpt repair`"):
        convert(tmp_path / "cut.pt", tmp_path / "out.pt")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.pt", "cut.pt"]


# match -------------------------------------------------------------------------------------------------------------------


def specs(*, classes: int = 10, width: int = 8, patches: int = 16) -> dict:
    found = {"pos_embed": ((1, patches + 1, width), "float32"), "stem.weight": ((width, 3, 4, 4), "float32")}
    for layer in range(4):
        for name in ("norm1", "attn.proj", "norm2", "mlp.fc1"):
            shape = (width, width) if "." in name else (width,)
            found[f"blocks.{layer}.{name}.weight"] = (shape, "float32")
            found[f"blocks.{layer}.{name}.bias"] = ((width,), "float32")
    return {**found, "head.weight": ((classes, width), "float32"), "head.bias": ((classes,), "float32")}


def renamed(change) -> dict:
    return {change(key): value for key, value in specs().items()}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda key: key, None),
        (lambda key: f"module.{key}", "take the prefix 'module.' off"),
        (lambda key: f"_orig_mod.module.{key}", "take the prefix '_orig_mod.module.' off"),
        (lambda key: f"model.backbone.{key}", "take the prefix 'model.backbone.' off"),
        (lambda key: key.replace("blocks", "encoder.layer"), "rename 'encoder.layer' to 'blocks'"),
        (lambda key: key.replace("norm", "ln_"), "rename 'ln_#' to 'norm#'"),
        (lambda key: "module." + key.replace("attn.proj", "attention.out"), "rename 'attention.out' to 'attn.proj'"),
        (lambda key: "p" + str(list(specs()).index(key)), "take them in order: names differ, shapes agree one by one"),
    ],
)
def test_every_renaming_is_found(change, rule):
    found = match(renamed(change), specs())
    assert found.complete
    assert found.mapping == {change(key): key for key in specs()}
    assert rule is None or rule in found.rules


def test_the_model_may_be_the_one_with_the_prefix():
    found = match(specs(), {f"net.{key}": value for key, value in specs().items()})
    assert found.complete
    assert found.rules == ["put 'net.' in front"]


def test_misfits_say_why():
    found = match(specs(), specs(classes=3, patches=49))
    reasons = {misfit.target: misfit.reason for misfit in found.misfits}
    assert set(reasons) == {"pos_embed", "head.weight", "head.bias"}
    assert "interpolate" in reasons["pos_embed"]
    assert "a head for 10 classes, the model has 3" in reasons["head.weight"]
    assert len(found.mapping) == len(specs()) - 3
    grey = {**specs(), "stem.weight": ((8, 1, 4, 4), "float32"), "blocks.0.mlp.fc1.weight": ((16, 8), "float32")}
    other = {**specs(), "blocks.0.mlp.fc1.weight": ((8, 16), "float32")}
    reasons = {misfit.target: misfit.reason for misfit in match(grey, other).misfits}
    assert reasons["stem.weight"] == "1 input channels, the model has 3"
    assert "transposed" in reasons["blocks.0.mlp.fc1.weight"]


def test_missing_unused_and_dtypes():
    source = {key: (shape, "float16") for key, (shape, _) in specs().items() if not key.startswith("head")}
    source["extra.weight"] = ((9, 9), "float16")
    found = match(source, specs())
    assert found.missing == ["head.weight", "head.bias"]
    assert found.unused == ["extra.weight"]
    assert found.dtypes["stem.weight"] == ("float16", "float32")
    assert not found.complete
    assert rename_map(found) == {}


def test_strangers_do_not_match():
    found = match({"a.weight": ((3, 3), "float32"), "b.weight": ((5,), "float32")}, specs())
    assert found.mapping == {}
    assert len(found.missing) == len(specs())


def test_models_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mynet.py").write_text(
        "from torch import nn\ndef make(width=2):\n    return nn.Linear(3, width)\nthree = 3\n"
    )
    assert model_specs("mynet:make", ["width=5"]) == {"weight": ((5, 3), "float32"), "bias": ((5,), "float32")}
    assert model_specs(f"{tmp_path}/mynet.py:make", []) == {"weight": ((2, 3), "float32"), "bias": ((2,), "float32")}
    assert model_specs("resnet18", ["num_classes=7"])["fc.weight"] == ((7, 512), "float32")
    assert model_specs("torchvision:resnet18", [])["fc.bias"] == ((1000,), "float32")
    torch.save(small().state_dict(), "a.pt")
    assert model_specs("a.pt", [])["3.bias"] == ((4,), "float32")
    for bad, text in (
        ("mynet:none", "has no none"),
        ("nomodule:x", "cannot be imported"),
        ("nofile.py:x", "there is no file nofile.py"),
        ("resnet1800", "no file, and no model"),
        ("mynet:three", "expected an nn.Module"),
        ("torchvision:x", "no such model"),
    ):
        with pytest.raises(BadFile, match=text):
            model_specs(bad, [])
    with pytest.raises(BadFile, match="NAME=VALUE"):
        model_specs("resnet18", ["x"])


def test_pickles_of_python_2_are_read(tmp_path):
    data = b"(dp0\nS'w'\np1\nF1.5\nsS'n'\nI3\nsS'l'\nL5L\ns."
    (tmp_path / "old.pkl").write_bytes(data)
    assert read_checkpoint(tmp_path / "old.pkl").root == pickle.loads(data) == {"w": 1.5, "n": 3, "l": 5}
    with pytest.raises(BadFile, match="no weights in it"):
        weights(read_checkpoint(tmp_path / "old.pkl"))

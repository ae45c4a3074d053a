import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from torchlore.recipes import checkpoint, optim, weights


def net(out=2):
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, out))


def equal(model, other):
    return all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True))


WRAPPINGS = {
    "plain": lambda state: state,
    "module": lambda state: {f"module.{k}": v for k, v in state.items()},
    "compiled": lambda state: {f"_orig_mod.{k}": v for k, v in state.items()},
    "both": lambda state: {f"_orig_mod.module.{k}": v for k, v in state.items()},
    "inside": lambda state: {k.replace("0.", "0._orig_mod.", 1): v for k, v in state.items()},
    "lightning": lambda state: {"state_dict": {f"model.{k}": v for k, v in state.items()}, "epoch": 3},
    "compiled lightning": lambda state: {"state_dict": {f"model._orig_mod.{k}": v for k, v in state.items()}},
    "notes": lambda state: {"model": state, "best_acc": 3.0, "epoch": 1},
    "timm": lambda state: {"state_dict": state, "arch": "x", "state_dict_ema": {k: v * 0 for k, v in state.items()}},
    "other parts too": lambda state: {
        **{f"backbone.{k}": v for k, v in state.items()},
        "projector.weight": torch.ones(2),
    },
}


@pytest.mark.parametrize("name", WRAPPINGS)
@pytest.mark.parametrize("wrapped", [False, True])
def test_weights_load_whatever_wraps_them(name, wrapped):
    source, target = net(), net()
    assert not equal(source, target)
    report = weights.load_into(
        nn.DataParallel(target) if wrapped else target,
        WRAPPINGS[name](copy.deepcopy(source.state_dict())),
        partial=name == "other parts too",
    )
    assert equal(source, target)
    assert not report.missing
    assert not report.misshaped


def test_a_model_with_a_part_called_module_is_not_stripped():
    class Mine(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = nn.Linear(2, 2)

    source, target = Mine(), Mine()
    report = weights.load_into(target, source.state_dict())
    assert report.complete
    assert equal(source, target)


def test_weights_of_a_backbone_go_into_a_model_that_holds_it():
    holder = nn.ModuleDict({"backbone": net(), "head": nn.Linear(2, 2)})
    source = net()
    report = weights.load_into(holder, source.state_dict(), partial=True)
    assert equal(source, holder["backbone"])
    assert report.missing == ("head.weight", "head.bias")
    assert report.renamed == "prefix backbone. added"


def test_the_average_is_taken_when_asked_and_must_exist(tmp_path):
    source, target = net(), net()
    state = WRAPPINGS["timm"](source.state_dict())
    weights.load_into(target, state, ema=True)
    assert target[0].weight.abs().sum() == 0
    own = checkpoint.collect(model=source, ema=optim.EMA(source))
    target = net()
    weights.load_into(target, checkpoint.save(own, tmp_path / "a.pt"), ema=True)
    assert torch.equal(target[0].weight, source[0].weight)
    with pytest.raises(ValueError, match=r"no averaged weights .* holds epoch, model"):
        weights.load_into(target, {"model": source.state_dict(), "epoch": 1}, ema=True)


def test_an_averaged_model_of_torch_loads():
    source, target = net(), net()
    state = torch.optim.swa_utils.AveragedModel(source).state_dict()
    report = weights.load_into(target, state, partial=True)
    assert report.unexpected == ("n_averaged",)
    assert equal(source, target)


def test_every_key_is_accounted_for_and_nothing_is_touched_by_a_failure():
    target = net(out=5)
    before = copy.deepcopy(target)
    state = {**net(out=2).state_dict(), "extra": torch.ones(1)}
    del state["0.bias"]
    with pytest.raises(ValueError, match=r"(?s)missing     0\.bias.*unexpected  extra.*\(2, 4\) in the file, \(5, 4\)"):
        weights.load_into(target, state)
    assert equal(target, before)
    report = weights.load_into(target, state, partial=True)
    assert report.missing == ("0.bias",)
    assert report.unexpected == ("extra",)
    assert [name for name, *_ in report.misshaped] == ["2.weight", "2.bias"]
    assert not report.complete
    assert set(report.matched) | {"0.bias", "2.weight", "2.bias"} == set(target.state_dict())
    assert torch.equal(target[0].weight, state["0.weight"])
    assert torch.equal(target[2].weight, before[2].weight)


def test_a_new_head_is_skipped_by_name():
    target = net(out=5)
    report = weights.load_into(target, net(out=2).state_dict(), skip=("2",))
    assert report.misshaped == ()
    assert set(report.missing) == {"2.weight", "2.bias"}


def test_nothing_fits_is_an_error_even_when_partial():
    with pytest.raises(ValueError, match=r"none of the 2 weights fits .* source has a, b, the model wants 0.weight"):
        weights.load_into(net(), {"a": torch.ones(1), "b": torch.ones(1)}, partial=True)
    with pytest.raises(ValueError, match=r"no weights .* holds epoch"):
        weights.load_into(net(), {"epoch": 1})
    with pytest.raises(ValueError, match="holds nothing"):
        weights.load_into(net(), {})


def test_strict_false_of_torch_loads_nothing_and_says_nothing_where_this_loads_all():
    source, target = net(), net()
    state = WRAPPINGS["module"](source.state_dict())
    target.load_state_dict(state, strict=False)
    assert not equal(source, target)
    weights.load_into(target, state)
    assert equal(source, target)


def test_lazy_layers_take_the_shape_of_the_file():
    target = nn.Sequential(nn.LazyLinear(4))
    source = nn.Sequential(nn.Linear(3, 4))
    weights.load_into(target, source.state_dict())
    assert torch.equal(target[0].weight, source[0].weight)


@given(
    st.dictionaries(
        st.text("abc.", min_size=1, max_size=6),
        st.sampled_from([torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.uint8]),
        min_size=1,
        max_size=5,
    ),
    st.lists(st.integers(0, 4), max_size=3),
)
@settings(deadline=None, max_examples=60)
def test_safetensors_come_back(tmp_path_factory, kinds, shape):
    state = {name: torch.randint(0, 2, shape).to(kind) for name, kind in kinds.items()}
    found = weights.read(weights.write(state, tmp_path_factory.mktemp("w") / "a.safetensors", author="me"))
    assert found.keys() == state.keys()
    assert all(found[name].dtype == state[name].dtype and torch.equal(found[name], state[name]) for name in state)


def test_tied_strided_and_transposed_weights_survive_safetensors(tmp_path):
    base = torch.arange(12.0).reshape(3, 4)
    state = {"a": base, "b": base, "t": base.t(), "part": base[1:, :2]}
    path = weights.write(state, tmp_path / "a.safetensors")
    assert path.stat().st_size < 700
    found = weights.read(path)
    assert all(torch.equal(found[name], state[name]) for name in state)
    assert found["a"] is found["b"]


def test_safetensors_are_checked(tmp_path):
    path = weights.write({"w": torch.arange(9.0)}, tmp_path / "a.safetensors")
    whole = bytearray(path.read_bytes())
    whole[-5] ^= 1
    path.write_bytes(bytes(whole))
    with pytest.raises(checkpoint.BrokenCheckpointError, match="do not fit the hash"):
        weights.read(path)
    path.write_bytes(bytes(whole[:-9]))
    with pytest.raises(checkpoint.BrokenCheckpointError, match="not a whole safetensors file"):
        weights.read(path)
    with pytest.raises(FileNotFoundError):
        weights.read(tmp_path / "none.safetensors")
    with pytest.raises(TypeError, match="'epoch'] is 3"):
        weights.write({"epoch": 3}, tmp_path / "b.safetensors")


def test_safetensors_of_others_load(tmp_path):
    from safetensors.torch import save_file

    save_file({"w": torch.ones(2)}, tmp_path / "a.safetensors")
    assert weights.read(tmp_path / "a.safetensors")["w"].sum() == 2


def test_a_file_of_either_kind_goes_into_a_model(tmp_path):
    source = net()
    for name in ("a.safetensors", "a.pt"):
        target = net()
        weights.load_into(target, weights.write(source.state_dict(), tmp_path / name))
        assert equal(source, target)

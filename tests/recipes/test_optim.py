import copy
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from torchlore.recipes import optim


class Odd(nn.Module):
    """Every kind of parameter that a test by name or by shape gets wrong."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, num_layers=2)
        self.head = nn.Linear(4, 1)  # weight of shape (1, 4)
        self.norm = nn.LayerNorm((2, 3, 3))  # weight with three dimensions
        self.rms = nn.RMSNorm(4)
        self.bn = nn.BatchNorm2d(2)
        self.attention = nn.MultiheadAttention(4, 2, add_bias_kv=True)
        self.scale = nn.Parameter(torch.ones(5, 1, 1))  # layer scale
        self.unbias = nn.Parameter(torch.ones(3, 3))
        self.position_bias_table = nn.Parameter(torch.ones(3, 3))
        self.temperature = nn.Parameter(torch.ones(()))
        self.prelu = nn.PReLU(8)
        self.embedding = nn.Embedding(5, 4)


def names(groups):
    return {group["name"]: set(group["param_names"]) for group in groups}


def test_only_weights_decay():
    flags = optim.decays(Odd())
    assert {name for name, flag in flags.items() if flag} == {
        "lstm.weight_ih_l0",
        "lstm.weight_hh_l0",
        "lstm.weight_ih_l1",
        "lstm.weight_hh_l1",
        "head.weight",
        "attention.in_proj_weight",
        "attention.out_proj.weight",
        "unbias",
        "embedding.weight",
    }


def test_weight_norm_decays_the_direction_and_not_the_length():
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 4))
    flags = optim.decays(layer)
    assert flags["parametrizations.weight.original0"] is False
    assert flags["parametrizations.weight.original1"] is True


def test_the_groups_of_a_resnet_hold_every_parameter_once():
    import torchvision

    model = torchvision.models.resnet18()
    groups = optim.decay_groups(model, 1e-4)
    optim.check_groups(groups, model, torch.optim.SGD)
    undecayed = names(groups)["no decay"]
    expected = {
        f"{path}.{leaf}" if path else leaf
        for path, module in model.named_modules()
        for leaf, _ in module.named_parameters(recurse=False)
        if isinstance(module, nn.BatchNorm2d) or leaf == "bias"
    }
    assert undecayed == expected
    stepped = torch.optim.SGD(groups, lr=0.1)
    assert [g["weight_decay"] for g in stepped.param_groups] == [1e-4, 0.0]


def test_decay_changes_weights_and_leaves_the_rest_alone_at_zero_gradient():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    before = copy.deepcopy(model.state_dict())
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    torch.optim.AdamW(optim.decay_groups(model, 0.1), lr=0.1).step()
    after = model.state_dict()
    assert torch.allclose(after["0.weight"], before["0.weight"] * 0.99)
    for name in ("0.bias", "1.weight", "1.bias"):
        assert torch.equal(after[name], before[name])


def test_skip_takes_names_and_patterns_and_refuses_what_fits_nothing():
    model = Odd()
    groups = optim.decay_groups(model, 0.1, skip=["embedding", "*in_proj*"])
    assert {"embedding.weight", "attention.in_proj_weight"} <= names(groups)["no decay"]
    with pytest.raises(
        ValueError, match=r"skip names 'embeding', which fits no trainable parameter; nearest: embedding"
    ):
        optim.decay_groups(model, 0.1, skip=["embeding"])


def test_frozen_parameters_are_in_no_group():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[0].requires_grad_(False)
    assert set().union(*names(optim.decay_groups(model, 0.1)).values()) == {"1.weight", "1.bias"}
    model.requires_grad_(False)
    with pytest.raises(ValueError, match="without a parameter that requires a gradient"):
        optim.decay_groups(model, 0.1)


def test_a_lazy_layer_is_named():
    with pytest.raises(ValueError, match="weight has no shape yet"):
        optim.decay_groups(nn.LazyLinear(3), 0.1)


def test_tied_weights_are_in_one_group_once():
    model = nn.ModuleDict({"in": nn.Embedding(5, 4), "out": nn.Linear(4, 5, bias=False)})
    model["out"].weight = model["in"].weight
    groups = optim.decay_groups(model, 0.1)
    assert sum(len(group["params"]) for group in groups) == 1
    optim.check_groups(groups, model, torch.optim.SGD)


def test_a_wrapped_model_gives_the_names_of_the_inner_one():
    inner = nn.Linear(2, 2)
    assert names(optim.decay_groups(nn.DataParallel(inner), 0.1)) == names(optim.decay_groups(inner, 0.1))


def test_finetuning_groups_are_those_of_the_notes():
    import torchvision

    model = torchvision.models.resnet18()
    groups = optim.finetune_groups(model, "fc", lr=1e-2, backbone_lr=1e-3)
    assert [(g["lr"], len(g["params"])) for g in groups] == [(1e-2, 2), (1e-3, 60)]
    optim.check_groups(groups, model, torch.optim.SGD)
    split = optim.finetune_groups(model, "fc", lr=1e-2, backbone_lr=1e-3, weight_decay=0.1)
    assert [g["name"] for g in split] == ["fc", "fc, no decay", "rest", "rest, no decay"]
    optim.check_groups(split, model, torch.optim.AdamW)
    model.requires_grad_(False)
    model.fc.requires_grad_()
    assert [g["name"] for g in optim.finetune_groups(model, "fc", lr=1e-2, backbone_lr=1e-3)] == ["fc"]


def test_the_first_rate_that_fits_holds_and_one_that_never_holds_is_an_error():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2))
    groups = optim.rate_groups(model, {"0.bias": 3.0, "0": 2.0, "*.bias": 1.0}, lr=0.5)
    assert names(groups) == {
        "0.bias": {"0.bias"},
        "0": {"0.weight"},
        "*.bias": {"1.bias", "2.bias"},
        "rest": {"1.weight", "2.weight"},
    }
    with pytest.raises(ValueError, match=r"'0.bias', which fits only parameters that an earlier"):
        optim.rate_groups(model, {"0": 2.0, "0.bias": 3.0}, lr=0.5)
    with pytest.raises(ValueError, match="nearest"):
        optim.rate_groups(model, {"layer9": 2.0}, lr=0.5)


@pytest.mark.parametrize(
    ("name", "first", "last", "count"),
    [
        ("resnet18", "conv1", "fc", 11),
        ("vit_b_16", "conv_proj", "heads", 15),
        ("vgg11", "features.0", "classifier.6", 11),
        ("convnext_tiny", "features.0", "classifier", 23),
    ],
)
def test_layers_are_found_from_input_to_output(name, first, last, count):
    import torchvision

    with torch.device("meta"):
        model = torchvision.models.get_model(name)
    layers = optim.layer_order(model)
    assert (layers[0], layers[-1], len(layers)) == (first, last, count)
    groups = optim.layer_decay_groups(model, lr=1.0, decay=0.5, weight_decay=0.1)
    optim.check_groups(groups, model, torch.optim.AdamW)
    rates = [group["lr"] for group in groups]
    assert rates == sorted(rates)
    assert rates[-1] == 1.0
    assert rates[0] == pytest.approx(0.5 ** (count - 1))


def test_parameters_between_layers_go_with_the_first():
    import torchvision

    with torch.device("meta"):
        model = torchvision.models.vit_b_16()
    groups = optim.layer_decay_groups(model, lr=1.0, decay=0.5)
    assert {"class_token", "encoder.pos_embedding", "conv_proj.weight"} <= set(groups[0]["param_names"])


def test_layers_may_be_given_and_must_exist():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2))
    groups = optim.layer_decay_groups(model, 1.0, 0.1, layers=["0", "2"])
    assert names(groups) == {"0": {"0.weight", "0.bias", "1.weight", "1.bias"}, "2": {"2.weight", "2.bias"}}
    with pytest.raises(ValueError, match="'7', which fits no"):
        optim.layer_decay_groups(model, 1.0, 0.1, layers=["0", "7"])
    with pytest.raises(ValueError, match="decay is 0"):
        optim.layer_decay_groups(model, 1.0, 0)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda g: g[0].update(learning_rate=1), "key 'learning_rate', which SGD does not know"),
        (lambda g: g[0].update(betas=(0.9, 0.9)), "key 'betas'"),
        (lambda g: g[0].update(parameters=g[0].pop("params")), "key 'parameters'"),
        (lambda g: g[0].pop("params"), "group 0 has no 'params'"),
        (lambda g: g[0]["params"].pop(), "1 trainable parameters are in no group: 1.weight"),
        (lambda g: g[1]["params"].append(g[0]["params"][0]), "in more than one group: 0.weight"),
    ],
)
def test_groups_with_a_mistake_are_refused(spoil, words):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    groups = optim.decay_groups(model, 0.1)
    spoil(groups)
    with pytest.raises(ValueError, match=words):
        optim.check_groups(groups, model, torch.optim.SGD)


def trained(order=(0, 1)):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    groups = optim.decay_groups(model, 0.1)
    for group in groups:
        pairs = sorted(zip(group["param_names"], group["params"], strict=True), reverse=order != (0, 1))
        group["param_names"], group["params"] = [n for n, _ in pairs], [p for _, p in pairs]
    if order != (0, 1):
        groups.reverse()
    return model, torch.optim.SGD(groups, lr=0.1, momentum=0.9)


def one_step(model, opt):
    model(torch.ones(4, 3)).square().sum().backward()
    opt.step()
    opt.zero_grad()


def test_an_optimizer_loads_by_name_whatever_the_order():
    model, opt = trained()
    one_step(model, opt)
    twin, other = trained(order=(1, 0))
    twin.load_state_dict(model.state_dict())
    optim.load_optimizer(other, opt.state_dict())
    for _ in range(3):
        one_step(model, opt)
        one_step(twin, other)
    for a, b in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.equal(a, b)


def test_an_optimizer_of_another_model_is_refused():
    model, opt = trained()
    one_step(model, opt)
    with pytest.raises(ValueError, match=r"2 groups .* the optimizer 1"):
        optim.load_optimizer(torch.optim.SGD(model.parameters(), 0.1), opt.state_dict())
    plain = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    one_step(model, plain)
    turned = torch.optim.SGD(list(model.parameters())[::-1], 0.1, momentum=0.9)
    with pytest.raises(ValueError, match="momentum_buffer of shape"):
        optim.load_optimizer(turned, plain.state_dict())
    shorter = torch.optim.SGD(list(model.parameters())[:-1], 0.1)
    with pytest.raises(ValueError, match="4 parameters saved, 3 here"):
        optim.load_optimizer(shorter, plain.state_dict())
    other = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    other.extra = nn.Linear(1, 1)
    with pytest.raises(ValueError, match=r"extra.weight was not in it"):
        optim.load_optimizer(torch.optim.SGD(optim.decay_groups(other, 0.1), 0.1), opt.state_dict())


def test_adafactor_loads():
    model = nn.Linear(4, 3)
    opt = torch.optim.Adafactor(optim.decay_groups(model, 0.1))
    model(torch.ones(1, 4)).sum().backward()
    opt.step()
    optim.load_optimizer(torch.optim.Adafactor(optim.decay_groups(model, 0.1)), opt.state_dict())


def parameters(*gradients):
    found = []
    for gradient in gradients:
        p = nn.Parameter(torch.zeros(len(gradient)))
        p.grad = torch.tensor(gradient)
        found.append(p)
    return found


@given(
    st.lists(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=5), min_size=1, max_size=4),
    st.floats(1e-2, 1e3),
)
@settings(deadline=None, max_examples=100)
def test_the_norm_is_that_of_all_gradients_together(gradients, limit):
    mine, theirs = parameters(*gradients), parameters(*gradients)
    norm = optim.clip_norm(mine, limit)
    assert norm.item() == pytest.approx(math.sqrt(sum(x * x for g in gradients for x in g)), rel=1e-4, abs=1e-6)
    nn.utils.clip_grad_norm_(theirs, limit)
    for a, b in zip(mine, theirs, strict=True):
        assert torch.equal(a.grad, b.grad)


def test_no_gradients_and_no_parameters_are_errors():
    with pytest.raises(RuntimeError, match="clip after backward"):
        optim.clip_norm(nn.Linear(1, 1), 1.0)
    spent = iter(nn.Linear(1, 1).parameters())
    list(spent)
    with pytest.raises(ValueError, match="spent after its first use"):
        optim.clip_norm(spent, 1.0)
    with pytest.raises(ValueError, match="max_norm is 0"):
        optim.clip_norm(parameters([1.0]), 0)
    with pytest.raises(ValueError, match="nonfinite is"):
        optim.clip_norm(parameters([1.0]), 1, nonfinite="skip")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_gradients_that_are_not_finite(bad):
    model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    model(torch.ones(1, 1)).sum().backward()
    model[1].bias.grad.fill_(bad)
    before = [p.grad.clone() for p in model.parameters()]
    with pytest.raises(FloatingPointError, match=r"gradient of 1\.bias is not finite"):
        optim.clip_norm(model, 1.0)
    norm = optim.clip_norm(model, 1e-3, nonfinite="keep")
    assert not norm.isfinite()
    for p, kept in zip(model.parameters(), before, strict=True):
        assert torch.equal(p.grad, kept) or p.grad.isnan().any()
    assert not optim.clip_norm(model, 1.0, nonfinite="drop").isfinite()
    assert all(p.grad is None for p in model.parameters())


def test_a_scaler_unscales_first_and_skips_what_is_not_finite():
    model = nn.Linear(2, 1, bias=False)
    opt = torch.optim.SGD(model.parameters(), 1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    scaler.scale(model(torch.tensor([[3.0, 4.0]])).sum()).backward()
    norm = optim.clip_norm(model, 1.0, scaler=scaler, optimizer=opt)
    assert norm.item() == pytest.approx(5.0)
    assert model.weight.grad.norm().item() == pytest.approx(1.0, rel=1e-4)
    scaler.step(opt)
    scaler.update()
    opt.zero_grad()
    before = model.weight.detach().clone()
    scaler.scale(model(torch.tensor([[math.inf, 4.0]])).sum()).backward()
    assert not optim.clip_norm(model, 1.0, scaler=scaler, optimizer=opt).isfinite()
    scaler.step(opt)
    assert torch.equal(model.weight, before)
    with pytest.raises(TypeError, match="optimizer is None"):
        optim.clip_norm(model, 1.0, scaler=scaler)


def test_values_are_cut():
    (p,) = parameters([-3.0, 0.5, 9.0])
    optim.clip_value([p], 1.0)
    assert p.grad.tolist() == [-1.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="limit"):
        optim.clip_value([p], -1.0)


def test_adaptive_clipping_is_that_of_timm():
    from timm.utils.agc import adaptive_clip_grad

    torch.manual_seed(0)
    mine = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(8 * 4, 2))
    theirs = copy.deepcopy(mine)
    for model in (mine, theirs):
        (1000 * model(torch.ones(2, 3, 4, 4)).square().sum()).backward()
    optim.clip_adaptive(mine)
    adaptive_clip_grad(theirs.parameters(), 0.01)
    for (name, a), b in zip(mine.named_parameters(), theirs.parameters(), strict=True):
        if name.endswith("weight"):
            assert torch.allclose(a.grad, b.grad)


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))


def drift(model, steps):
    for _ in range(steps):
        model.train()(torch.randn(5, 3))
        with torch.no_grad():
            for p in model.parameters():
                p.add_(torch.randn_like(p))


@pytest.mark.parametrize("warmup", [False, True])
def test_the_average_is_the_slow_formula(warmup):
    model = network()
    ema = optim.EMA(model, 0.9, warmup=warmup)
    slow = {name: p.detach().double().clone() for name, p in model.named_parameters()}
    for step in range(12):
        drift(model, 1)
        ema.update(model)
        decay = min(0.9, (1 + step) / (10 + step)) if warmup else 0.9
        for name, p in model.named_parameters():
            slow[name] = decay * slow[name] + (1 - decay) * p.detach().double()
    for name, value in slow.items():
        assert torch.allclose(ema.average[name].double(), value, atol=1e-5)
    assert torch.equal(ema.average["1.running_mean"], model[1].running_mean)
    assert ema.average["1.num_batches_tracked"].item() == 12


def test_buffers_are_averaged_when_asked():
    model = network()
    ema = optim.EMA(model, 0.5, average_buffers=True)
    before = model[1].running_mean.clone()
    drift(model, 1)
    ema.update(model)
    assert torch.allclose(ema.average["1.running_mean"], (before + model[1].running_mean) / 2)
    assert ema.average["1.num_batches_tracked"].item() == 1


def test_the_average_resumes_to_the_bit(tmp_path):
    model = network()
    ema = optim.EMA(model, 0.9, warmup=True)
    drift(model, 3)
    ema.update(model)
    torch.save(ema.state_dict(), tmp_path / "ema.pt")
    again = optim.EMA(network(), 0.9, warmup=True)
    again.load_state_dict(torch.load(tmp_path / "ema.pt", weights_only=True))
    for _ in range(3):
        drift(model, 1)
        ema.update(model)
        again.update(model)
    assert again.updates == ema.updates
    for name, value in ema.average.items():
        assert torch.equal(value, again.average[name])


def test_the_average_is_applied_and_taken_back_also_after_an_error():
    model = network()
    ema = optim.EMA(model, 0.9)
    drift(model, 2)
    ema.update(model)
    own = copy.deepcopy(model.state_dict())
    pointers = [p.data_ptr() for p in model.parameters()]
    with pytest.raises(KeyError), ema.applied(model):
        assert torch.equal(model[0].weight, ema.average["0.weight"])
        raise KeyError
    for name, value in model.state_dict().items():
        assert torch.equal(value, own[name])
    assert [p.data_ptr() for p in model.parameters()] == pointers


def test_the_average_owns_its_memory_and_knows_wrapped_models():
    model = network()
    ema = optim.EMA(nn.DataParallel(model), 0.9)
    before = ema.average["0.weight"].clone()
    drift(model, 1)
    assert torch.equal(ema.average["0.weight"], before)
    ema.update(model)
    with pytest.raises(ValueError, match="no longer fits"):
        ema.update(nn.Linear(3, 3))
    with pytest.raises(ValueError, match="decay is 1"):
        optim.EMA(model, 1.0)


def test_tied_weights_are_averaged_once():
    model = nn.ModuleDict({"a": nn.Linear(3, 3, bias=False), "b": nn.Linear(3, 3, bias=False)})
    model["b"].weight = model["a"].weight
    ema = optim.EMA(model, 0.5)
    assert list(ema.average) == ["a.weight"]
    with torch.no_grad():
        model["a"].weight.zero_()
    before = ema.average["a.weight"].clone()
    ema.update(model)
    assert torch.allclose(ema.average["a.weight"], before / 2)


def test_a_module_that_is_called_rest_keeps_its_own_rate():
    net = nn.ModuleDict({"rest": nn.Linear(1, 1), "head": nn.Linear(1, 1)})
    groups = optim.rate_groups(net, {"rest": 0.5}, lr=0.1)
    assert [(group["lr"], group["param_names"]) for group in groups] == [
        (0.5, ["rest.weight", "rest.bias"]),
        (0.1, ["head.weight", "head.bias"]),
    ]


def test_layers_given_by_hand_are_modules():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    with pytest.raises(ValueError, match=r"'\[01\]\*', which is no module"):
        optim.layer_decay_groups(net, 1.0, 0.5, layers=["[01]*"])
    with pytest.raises(ValueError, match="'5', which fits no trainable parameter"):
        optim.layer_decay_groups(net, 1.0, 0.5, layers=["0", "5"])
    nested = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)), nn.Linear(2, 1))
    groups = optim.layer_decay_groups(nested, 1.0, 0.5, layers=["0", "0.1", "1"])
    assert [(group["lr"], group["param_names"][0]) for group in groups] == [
        (0.25, "0.0.weight"),
        (0.5, "0.1.weight"),
        (1.0, "1.weight"),
    ]


def test_a_shared_parameter_is_grouped_once():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    for groups in (optim.decay_groups(net, 0.1), optim.layer_decay_groups(net, 1.0, 0.5, 0.1)):
        assert sorted(name for group in groups for name in group["param_names"]) == ["0.bias", "0.weight", "1.bias"]


@given(size=st.floats(1e-3, 1e3), part=st.sampled_from([0.5, 0.999999, 1 - 1e-7, 1.0, 1 + 1e-7, 1.000001, 2.0]))
@settings(deadline=None, max_examples=100)
def test_clipping_gives_torchs_bits_whether_or_not_there_is_something_to_cut(size, part):
    ours, theirs = ([nn.Parameter(torch.zeros(n)) for n in (1, 7, 300)] for _ in range(2))
    for a, b in zip(ours, theirs, strict=True):
        a.grad = torch.randn(a.shape, generator=torch.Generator().manual_seed(a.numel())) * size
        b.grad = a.grad.clone()
    limit = nn.utils.get_total_norm([p.grad for p in ours]).item() * part
    for nonfinite in ("keep", "raise"):
        norm = optim.clip_norm(ours, limit, nonfinite=nonfinite)
        assert torch.equal(norm, nn.utils.clip_grad_norm_(theirs, limit))
        assert all(torch.equal(a.grad, b.grad) for a, b in zip(ours, theirs, strict=True))

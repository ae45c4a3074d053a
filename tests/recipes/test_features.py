import copy
import pickle

import pytest
import torch
import torchvision
from torch import nn
from torchvision.models.feature_extraction import create_feature_extractor

from torchlore.recipes import features, optim


class Counting(nn.Module):
    """A net whose later layers complain when they run, with an in-place ReLU and a layer that runs twice."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.bn = nn.BatchNorm1d(4)
        self.relu = nn.ReLU(inplace=True)
        self.block = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4)))
        self.lstm = nn.LSTM(4, 2)
        self.ran_late = 0

    def forward(self, x, scale=1.0):
        x = self.relu(self.bn(self.first(x) * scale))
        x = self.relu(self.block(x) - 0.5)
        self.ran_late += 1
        return self.lstm(x)[0]


@pytest.fixture
def net():
    torch.manual_seed(0)
    model = Counting()
    model.bn.running_mean.normal_()
    return model.eval()


def hooks(model):
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def test_the_activation_is_the_true_one_although_it_is_overwritten_later(net):
    x = torch.randn(5, 3)
    wanted = net.bn(net.first(x))
    found = features.extract(net, ["relu", "bn", "first"], x)
    assert list(found) == ["relu", "bn", "first"]
    assert torch.equal(found["bn"], wanted)
    assert (found["bn"] < 0).any()
    assert torch.equal(found["relu"], wanted.relu())


def test_torchvision_gives_the_overwritten_one():
    model = torchvision.models.resnet18().eval()
    x = torch.randn(1, 3, 32, 32)
    wanted = model.bn1(model.conv1(x))
    theirs = create_feature_extractor(model, ["bn1", "relu"])(x)["bn1"]
    ours = features.extract(model, ["bn1", "relu"], x)["bn1"]
    assert torch.equal(ours, wanted)
    assert not torch.equal(theirs, wanted)


def test_nested_names_calls_by_number_options_and_structures(net):
    x = torch.randn(5, 3)
    found = features.extract(net, ["block.1.0", "relu", "relu:1", "lstm"], x, scale=2.0)
    a = net.bn(net.first(x) * 2.0).relu()
    assert torch.equal(found["relu"], a)
    assert torch.equal(found["block.1.0"], net.block(a))
    assert torch.equal(found["relu:1"], (net.block(a) - 0.5).relu())
    out, (h, _) = found["lstm"]
    assert out.shape == (5, 2)
    assert h.shape == (1, 2)


def test_later_layers_are_not_computed(net):
    features.extract(net, "block", torch.randn(5, 3))
    assert net.ran_late == 0
    features.extract(net, "block", torch.randn(5, 3), whole=True)
    assert net.ran_late == 1


def test_hooks_and_modes_are_put_back_also_after_an_error(net):
    net.train()
    net.bn.eval()
    before = [m.training for m in net.modules()]
    tracked = net.bn.num_batches_tracked.item()
    features.extract(net, "relu", torch.randn(5, 3))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        features.extract(net, "relu", torch.randn(5, 99))
    assert hooks(net) == 0
    assert [m.training for m in net.modules()] == before
    assert net.bn.num_batches_tracked.item() == tracked


@pytest.mark.parametrize("name", ["block.2", "blok", "relu:x", "", "nope"])
def test_an_unknown_name_is_an_error_with_the_nearest(net, name):
    with pytest.raises(ValueError, match=r"layers names .*; nearest: \w"):
        features.extract(net, name, torch.randn(5, 3))
    with pytest.raises(ValueError, match="the model has not"):
        features.Extractor(net, [name])


def test_a_layer_that_does_not_run_is_an_error(net):
    net.unused = nn.Linear(1, 1)
    with pytest.raises(RuntimeError, match="'unused' gave nothing: its module ran 0 times"):
        features.extract(net, ["relu", "unused"], torch.randn(5, 3))
    with pytest.raises(RuntimeError, match="'relu:7' gave nothing: its module ran 2 times"):
        features.extract(net, "relu:7", torch.randn(5, 3))
    with pytest.raises(ValueError, match="layers is empty"):
        features.extract(net, [], torch.randn(5, 3))


def test_gradients_flow_when_asked(net):
    x = torch.randn(5, 3, requires_grad=True)
    found = features.extract(net, ["bn", "relu"], x, grad=True)
    found["bn"].sum().backward()
    assert x.grad.abs().sum() > 0
    assert not features.extract(net, "bn", x)["bn"].requires_grad


def test_a_model_that_catches_exceptions_does_not_stop_the_early_exit():
    class Cautious(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x):
            try:
                return self.inner(x)
            except Exception:  # noqa: BLE001 - what the test is about
                return None

    assert features.extract(Cautious(), "inner", torch.ones(1, 2))["inner"].shape == (1, 2)


def test_the_extractor_stays_in_evaluation_mode(net):
    extractor = features.Extractor(net, ["bn"])
    extractor.train()
    before = net.bn.running_mean.clone()
    extractor(torch.randn(5, 3))
    assert extractor.training
    assert not net.bn.training
    assert torch.equal(net.bn.running_mean, before)
    assert nn.Sequential(extractor).train()[0].model.training is False


def test_a_compiled_model_gives_the_same(net):
    x = torch.randn(5, 3)
    assert torch.equal(features.extract(torch.compile(net), "bn", x)["bn"], features.extract(net, "bn", x)["bn"])


@pytest.mark.parametrize(
    ("model", "name", "path"),
    [
        ("vgg16", "relu5_3", "features.29"),
        ("vgg16", "pool5", "features.30"),
        ("vgg16", "conv1_1", "features.0"),
        ("vgg16", "fc7", "classifier.4"),
        ("vgg19", "relu5_4", "features.35"),
        ("vgg16_bn", "relu5_3", "features.42"),
    ],
)
def test_the_classic_names_of_vgg(model, name, path):
    with torch.device("meta"):
        net = torchvision.models.get_model(model)
    assert features.vgg_layer(net, name) == path


def test_the_classic_features_are_right():
    torch.manual_seed(0)
    with torch.no_grad():
        vgg = torchvision.models.vgg11().eval()
        x = torch.randn(1, 3, 32, 32)
        paths = [features.vgg_layer(vgg, name) for name in ("relu5_2", "pool5", "fc7")]
        found = features.extract(vgg, paths, x)
        assert torch.equal(found[paths[0]], vgg.features[:-1](x))
        assert torch.equal(found[paths[1]], vgg.features(x))
        fc7 = vgg.classifier[:-2](vgg.avgpool(vgg.features(x)).flatten(1))
        assert torch.equal(found[paths[2]], fc7)
        assert (found[paths[2]] >= 0).all()
    with pytest.raises(ValueError, match=r"name is 'relu5_9', .*; nearest: relu5_"):
        features.vgg_layer(vgg, "relu5_9")


@pytest.mark.parametrize("name", ["resnet18", "densenet121", "squeezenet1_0", "mobilenet_v3_small", "vit_b_32"])
def test_the_embedding_times_the_head_is_the_output(name):
    torch.manual_seed(0)
    model = torchvision.models.get_model(name).eval()
    x = torch.randn(2, 3, 224 if name == "vit_b_32" else 64, 224 if name == "vit_b_32" else 64)
    feature = features.embed(model, x)
    head = model.get_submodule(features.find_heads(model)[0])
    with torch.no_grad():
        wanted = model(x)
        if isinstance(head, nn.Conv2d):
            assert feature.shape == (2, head.in_channels)
        else:
            assert torch.allclose(head(feature), wanted, atol=1e-5)
    assert hooks(model) == 0


EVERY = torchvision.models.list_models(module=torchvision.models)
FAMILIES = [
    "alexnet",
    "convnext_tiny",
    "densenet121",
    "efficientnet_b0",
    "efficientnet_v2_s",
    "googlenet",
    "inception_v3",
]
FAMILIES += ["maxvit_t", "mnasnet0_5", "mobilenet_v2", "mobilenet_v3_small", "regnet_y_400mf", "resnet18"]
FAMILIES += ["shufflenet_v2_x0_5", "squeezenet1_0", "swin_t", "swin_v2_t", "vgg11", "vit_b_32"]
CLASSIFIERS = [pytest.param(name, marks=[] if name in FAMILIES else [pytest.mark.long]) for name in EVERY]


def build(name):
    options = {"init_weights": False} if name in {"googlenet", "inception_v3"} else {}
    if name.startswith("regnet"):  # it computes its widths with tensors
        return torchvision.models.get_model(name).to("meta")
    with torch.device("meta"):
        return torchvision.models.get_model(name, **options)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_of_torchvision_gets_a_head_of_any_size(name):
    model = build(name)
    names = features.replace_head(model, 7)
    size = {"inception_v3": 299}.get(name, 224)
    output = model.train()(torch.empty(2, 3, size, size, device="meta"))
    for one in output if isinstance(output, tuple) else [output]:
        assert one.shape == (2, 7)
    assert len(names) == {"inception_v3": 2, "googlenet": 3}.get(name, 1)
    groups = optim.finetune_groups(model, names, lr=1e-2, backbone_lr=1e-3)
    optim.check_groups(groups, model, torch.optim.SGD)


@pytest.mark.parametrize(
    "name",
    [
        "resnet18",
        "deit_tiny_distilled_patch16_224",
        "efficientnet_lite0",
        "convnext_atto",
        "swin_tiny_patch4_window7_224",
        "mobilenetv3_small_050",
        "vgg11",
        "densenet121",
        "nf_resnet26",
        "levit_128s",
    ],
)
def test_models_of_timm_get_a_head_too(name):
    timm = pytest.importorskip("timm")
    with torch.device("meta"):
        model = timm.create_model(name, pretrained=False).train()
        features.replace_head(model, 7)
        output = model(torch.empty(2, 3, 224, 224))
    for one in output if isinstance(output, tuple) else [output]:
        assert one.shape == (2, 7)


def test_a_new_head_keeps_bias_dtype_and_mode():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 9, bias=False)).double().eval()
    features.replace_head(model, 2)
    assert model[1].bias is None
    assert model[1].weight.dtype == torch.float64
    assert not model[1].training
    with pytest.raises(ValueError, match="classes is 0"):
        features.replace_head(model, 0)
    with pytest.raises(ValueError, match="without a linear or convolution"):
        features.find_heads(nn.ReLU())


def finetuned():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(), nn.Linear(4, 2))
    return model, features.freeze(model, keep=["4"])


def train(model, opt, steps=3):
    model.train()
    for _ in range(steps):
        opt.zero_grad()
        model(torch.randn(8, 3)).square().sum().backward()
        opt.step()


def test_a_frozen_model_does_not_move_at_all_but_for_its_head():
    model, frozen = finetuned()
    assert frozen == ["0.weight", "0.bias", "1.weight", "1.bias"]
    before = copy.deepcopy(model.state_dict())
    train(model, torch.optim.SGD(model.parameters(), 0.1, weight_decay=0.1))
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]) == (not name.startswith("4."))
    assert model[3].training


def test_a_gradient_left_over_is_dropped_so_that_nothing_decays():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    model(torch.randn(2, 3)).sum().backward()
    features.freeze(model, keep=["1"])
    before = model[0].weight.clone()
    torch.optim.SGD(model.parameters(), 0.1, weight_decay=0.5).step()
    assert torch.equal(model[0].weight, before)


def test_freezing_survives_copies_pickles_and_is_taken_back():
    model, _ = finetuned()
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        before = twin[1].running_mean.clone()
        twin.train()(torch.randn(8, 3))
        assert torch.equal(twin[1].running_mean, before)
    features.freeze(model, keep=["4"])
    assert hooks(model) == 1
    model.train()
    features.unfreeze(model)
    assert hooks(model) == 0
    assert all(p.requires_grad for p in model.parameters())
    before = model[1].running_mean.clone()
    model(torch.randn(8, 3))
    assert not torch.equal(model[1].running_mean, before)


def test_a_part_is_unfrozen_by_name_and_unknown_names_are_errors():
    model, _ = finetuned()
    features.unfreeze(model, ["0"])
    assert model[0].weight.requires_grad
    assert not model[1].weight.requires_grad
    with pytest.raises(ValueError, match="keep names 'head'"):
        features.freeze(model, keep=["head"])


def test_a_frozen_model_stays_frozen_when_it_is_compiled():
    model, _ = finetuned()
    before = model[1].running_mean.clone()
    compiled = torch.compile(model, backend="eager")
    compiled.train()
    compiled(torch.randn(8, 3)).sum().backward()
    assert torch.equal(model[1].running_mean, before)
    assert model[4].weight.grad is not None
    assert model[0].weight.grad is None

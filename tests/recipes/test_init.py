from __future__ import annotations

import pytest
import torch
import torchvision
from torch import nn

from torchlore.recipes import init


def test_the_scheme_of_the_notes_on_a_resnet():
    net = torchvision.models.resnet18()
    report = init.init_model_(net, generator=torch.Generator().manual_seed(0))
    assert report.left == []
    assert set(report.done) == set(dict(net.named_parameters()))
    assert report.done["conv1.weight"] == "kaiming normal, fan out"
    assert report.done["bn1.weight"] == "ones"
    assert report.done["fc.weight"] == "xavier normal"
    assert net.conv1.weight.std().item() == pytest.approx((2 / (64 * 49)) ** 0.5, rel=0.05)
    assert net.fc.weight.std().item() == pytest.approx((2 / (512 + 1000)) ** 0.5, rel=0.05)
    assert net.fc.bias.abs().sum() == 0
    again = torchvision.models.resnet18()
    init.init_model_(again, generator=torch.Generator().manual_seed(0))
    assert torch.equal(again.layer4[1].conv2.weight, net.layer4[1].conv2.weight)


@pytest.mark.parametrize(
    "layer",
    [
        nn.BatchNorm2d(4, affine=False),
        nn.BatchNorm1d(4),
        nn.BatchNorm3d(4),
        nn.GroupNorm(2, 4),
        nn.LayerNorm(4),
        nn.LayerNorm(4, bias=False),
        nn.RMSNorm(4),
        nn.InstanceNorm2d(4, affine=True),
        nn.Conv1d(4, 4, 3),
        nn.Conv3d(4, 4, 3, bias=False),
        nn.ConvTranspose2d(4, 4, 2),
        nn.SyncBatchNorm(4),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_what_the_notes_loop_missed_or_fell_over(layer):
    for parameter in layer.parameters():
        nn.init.constant_(parameter, 9.0)
    report = init.init_model_(nn.Sequential(layer))
    assert report.left == []
    assert not any((parameter == 9.0).any() for parameter in layer.parameters())


@pytest.mark.parametrize(
    ("layer", "fans"),
    [
        (nn.Linear(3, 5), (3, 5)),
        (nn.Conv2d(64, 64, 3, groups=64), (9, 9)),
        (nn.Conv2d(8, 16, 3, groups=2), (36, 72)),
        (nn.Conv2d(3, 64, 7), (147, 3136)),
        (nn.ConvTranspose2d(8, 4, 2), (32, 16)),
        (nn.ConvTranspose2d(8, 4, 2, groups=2), (16, 8)),
    ],
)
def test_fans(layer, fans):
    assert init.fans(layer) == fans
    if getattr(layer, "groups", 1) == 1 and not isinstance(layer, nn.ConvTranspose2d):
        assert fans == nn.init._calculate_fan_in_and_fan_out(layer.weight)


def test_depthwise_keeps_the_signal():
    net = nn.Sequential(
        *[nn.Sequential(nn.Conv2d(32, 32, 3, padding=1, groups=32, bias=False), nn.ReLU()) for _ in range(8)]
    )
    init.init_model_(net, generator=torch.Generator().manual_seed(0))
    assert net(torch.randn(2, 32, 16, 16)).std() > 0.02


@pytest.mark.parametrize(("linear", "low", "high"), [("xavier", 0, 0.02), ("kaiming", 0.1, 5), ("trunc", 0, 1)])
def test_deep_relu_nets_need_kaiming(linear, low, high):
    net = nn.Sequential(*[layer for _ in range(20) for layer in (nn.Linear(256, 256), nn.ReLU())])
    report = init.init_model_(net, linear=linear, generator=torch.Generator().manual_seed(0))
    assert low <= net(torch.randn(64, 256)).std().item() <= high
    assert len(set(report.done.values())) == 2


def test_ties_are_set_once_and_embeddings_keep_their_padding():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(10, 4, padding_idx=0)
            self.head = nn.Linear(4, 10)
            self.head.weight = self.words.weight

    net = Tied()
    report = init.init_model_(net, linear="trunc")
    assert report.done == {"words.weight": "truncated normal, std 0.02", "head.bias": "zeros"}
    assert "left" not in str(report)


def test_the_optimizer_made_before_still_trains_and_lazy_layers_are_refused():
    net = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    init.init_model_(net)
    init.init_from_(net, weight=torch.ones(2, 3))
    net(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    assert net.weight.abs().sum() == 0
    with pytest.raises(TypeError, match=r"'0.weight' is lazy"):
        init.init_model_(nn.Sequential(nn.LazyLinear(3)))
    with pytest.raises(ValueError, match="linear is 'he'"):
        init.init_model_(net, linear="he")


def test_given_tensors():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    given = torch.full((2, 2), 3.0)
    init.init_from_(net, **{"0.weight": given, "1.running_mean": torch.ones(2)})
    assert net[0].weight.data_ptr() != given.data_ptr()
    assert net[1].running_mean.tolist() == [1, 1]
    assert net[0].weight.requires_grad
    with pytest.raises(ValueError, match="names 'weights', but Linear has weight, bias"):
        init.init_from_(net[0], weights=given)
    before = net[0].bias.clone()
    with pytest.raises(ValueError, match=r"'weight' has shape \(2, 2\), the given tensor \(3, 2\)"):
        init.init_from_(net[0], bias=torch.ones(2), weight=torch.ones(3, 2))
    assert torch.equal(net[0].bias, before)  # nothing is copied if anything is wrong


def test_zero_residual_makes_blocks_the_identity():
    net = torchvision.models.resnet50()
    names = init.zero_residual_(net)
    assert len(names) == 16
    assert all(name.endswith("bn3.weight") for name in names)
    block, x = net.layer1[1].eval(), torch.rand(1, 256, 4, 4)
    torch.testing.assert_close(block(x), x)
    assert net.bn1.weight.sum() == 64
    with pytest.raises(ValueError, match="VGG without a block"):
        init.zero_residual_(torchvision.models.vgg11(init_weights=False))
    timm = pytest.importorskip("timm")
    model = timm.create_model("resnet18")
    assert len(init.zero_residual_(model)) == 8

from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
import torchvision
from torch import nn

from torchlore.recipes import layers

X = torch.randn(3, 5, 4, 6, generator=torch.Generator().manual_seed(0))


def literal_bilinear(x):
    """The notes' snippet with the missing tensor put in; the square root without its jump at 0."""
    n, d, h, w = x.shape
    x = torch.reshape(x, (n, d, h * w))
    x = torch.bmm(x, torch.transpose(x, 1, 2)) / (h * w)
    x = torch.reshape(x, (n, d * d))
    return F.normalize(torch.sign(x) * torch.sqrt(torch.abs(x)))


def test_bilinear_is_the_notes_and_the_einsum_form():
    torch.testing.assert_close(layers.bilinear_pool(X), literal_bilinear(X), atol=2e-3, rtol=0)
    plain = torch.einsum("nds,nes->nde", X.flatten(2), X.flatten(2)) / 24
    torch.testing.assert_close(layers.bilinear_pool(X, normalize=False), plain.flatten(1))
    torch.testing.assert_close(layers.bilinear_pool(X), F.normalize(layers.signed_sqrt(plain.flatten(1))))
    torch.testing.assert_close(layers.bilinear_pool(X).norm(dim=1), torch.ones(3))
    assert torch.autograd.gradcheck(layers.bilinear_pool, X.double().requires_grad_(), atol=1e-4)


def test_signed_sqrt_does_not_jump():
    near = torch.tensor([-1e-9, 0.0, 1e-9], requires_grad=True)
    value = layers.signed_sqrt(near)
    assert value.abs().max() < 1e-5
    assert torch.autograd.grad(value.sum(), near)[0].isfinite().all()


def test_features_of_zeros_have_finite_gradients():
    x = torch.zeros(2, 3, 2, 2, requires_grad=True)
    assert torch.autograd.grad(layers.bilinear_pool(x).sum(), x)[0].isfinite().all()


def test_compact_bilinear_is_the_slow_sketch():
    rows = torch.randint(0, 8, (2, 5), generator=torch.Generator().manual_seed(1))
    signs = torch.randint(0, 2, (2, 5), generator=torch.Generator().manual_seed(2)) * 2.0 - 1
    slow = torch.zeros(3, 8)
    flat = X.flatten(2)
    for i in range(5):
        for j in range(5):
            slow[:, (rows[0, i] + rows[1, j]) % 8] += signs[0, i] * signs[1, j] * (flat[:, i] * flat[:, j]).mean(1)
    torch.testing.assert_close(layers.compact_bilinear_pool(X, rows, signs, 8), slow, atol=1e-5, rtol=1e-5)


def test_compact_bilinear_keeps_inner_products_and_its_hashes():
    pool = layers.CompactBilinear(5, 4096, normalize=False, generator=torch.Generator().manual_seed(0))
    full = layers.bilinear_pool(X, normalize=False)
    sketch = pool(X)
    torch.testing.assert_close(sketch @ sketch.T, full @ full.T, atol=0.1, rtol=0.1)
    other = layers.CompactBilinear(5, 4096, normalize=False)
    other.load_state_dict(pool.state_dict())
    assert torch.equal(other(X), sketch)
    assert torch.autograd.gradcheck(layers.CompactBilinear(5, 16), X.double().requires_grad_(), atol=1e-4)


def test_global_pool():
    torch.testing.assert_close(layers.global_pool(X), nn.AdaptiveAvgPool2d(1)(X).flatten(1))
    torch.testing.assert_close(layers.global_pool(X, "max"), nn.AdaptiveMaxPool2d(1)(X).flatten(1))
    positive = X.abs() + 0.1
    torch.testing.assert_close(layers.global_pool(positive, "gem", power=1.0), positive.mean((2, 3)))
    power = torch.tensor(3.0, requires_grad=True)
    assert torch.autograd.grad(layers.global_pool(X, "gem", power=power).sum(), power)[0].isfinite()
    torch.testing.assert_close(
        layers.global_pool(positive, "gem", power=60.0), positive.amax((2, 3)), atol=0.2, rtol=0.1
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: layers.bilinear_pool(X[0, 0]), r"must be \(N, D, H, W\)"),
        (lambda: layers.global_pool(X, "avg"), "kind is 'avg'"),
        (lambda: layers.compact_bilinear_pool(X, torch.zeros(2, 4), torch.ones(2, 4), 8), r"both must be \(2, 5\)"),
        (lambda: layers.CompactBilinear(0), "channels is 0"),
        (lambda: layers.RunningMean(3, momentum=0.0), "momentum is 0.0"),
        (lambda: layers.freeze_batch_norm(nn.BatchNorm1d(2, track_running_stats=False)), "no statistics to freeze"),
    ],
)
def test_wrong_arguments_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# --- synchronised batch norm -----------------------------------------------------------------------------------------


class Shared(nn.Module):
    """One norm under two names, and one norm inside a list."""

    def __init__(self):
        super().__init__()
        self.first = nn.BatchNorm2d(5)
        self.second = self.first
        self.more = nn.ModuleList(
            [nn.Sequential(nn.BatchNorm2d(5, affine=False), nn.BatchNorm2d(5, track_running_stats=False))]
        )

    def forward(self, x):
        return self.more[0](self.second(self.first(x)))


def test_sync_keeps_everything():
    net = Shared()
    net(X)
    net.first.weight.requires_grad_(requires_grad=False)
    net.double()
    old = dict(net.state_dict(keep_vars=True))
    counted = net.first.num_batches_tracked.clone()
    new = layers.to_sync_batch_norm(net)
    assert new is net
    assert net.first is net.second
    assert isinstance(net.first, nn.SyncBatchNorm)
    now = net.state_dict(keep_vars=True)
    assert now.keys() == old.keys()
    assert all(now[name] is old[name] for name in old)  # the very objects: an optimizer made before stays valid
    assert net.first.num_batches_tracked == counted == 2
    assert not net.first.weight.requires_grad
    assert net.first.weight.dtype == torch.float64
    assert (net.more[0][0].affine, net.more[0][1].track_running_stats) == (False, False)
    assert not [m for m in net.modules() if type(m) is nn.BatchNorm2d]


def test_sync_gives_the_numbers_of_plain_batch_norm_without_a_group():
    net = Shared()
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum, module.eps = 0.3, 1e-3
    other = layers.to_sync_batch_norm(copy.deepcopy(net))
    assert other.first.momentum == 0.3
    other.eval()
    net.eval()
    torch.testing.assert_close(other(X), net(X))


def test_sync_agrees_with_torchs_own_conversion():
    net = torchvision.models.resnet18()
    net.layer1.eval()
    ours = layers.to_sync_batch_norm(copy.deepcopy(net.eval()))
    theirs = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(net))
    assert [type(m) for m in ours.modules()] == [type(m) for m in theirs.modules()]
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    assert not any(m.training for m in ours.modules())
    assert isinstance(layers.to_sync_batch_norm(nn.BatchNorm2d(3)), nn.SyncBatchNorm)


def test_sync_leaves_frozen_norms_alone():
    net = nn.Sequential(layers.FrozenBatchNorm(5), nn.BatchNorm2d(5), nn.BatchNorm2d(5)).train()
    net[1].eval()
    layers.to_sync_batch_norm(net)
    assert [type(m).__name__ for m in net] == ["FrozenBatchNorm", "BatchNorm2d", "SyncBatchNorm"]
    assert not net[1].training


# --- frozen batch norm -----------------------------------------------------------------------------------------------


def test_frozen_is_batch_norm_in_eval_mode_for_ever():
    net = Shared()
    net.more[0][1] = nn.BatchNorm2d(5)
    net(X)
    nn.init.uniform_(net.first.weight)
    state = copy.deepcopy(net.state_dict())
    expected = net.eval()(X)
    frozen = layers.freeze_batch_norm(copy.deepcopy(net)).train()
    torch.testing.assert_close(frozen(X), expected)
    torch.testing.assert_close(frozen(X), expected)
    assert frozen.first is frozen.second
    assert not list(frozen.parameters())
    del state["more.0.0.num_batches_tracked"]
    frozen.load_state_dict(state, strict=False)  # a batch norm's checkpoint fits
    torch.testing.assert_close(frozen(X), expected)
    theirs = torchvision.ops.FrozenBatchNorm2d(5)
    theirs.load_state_dict(frozen.first.state_dict())
    torch.testing.assert_close(frozen.first(X), theirs(X))


def test_frozen_loads_a_whole_batch_norm_strictly():
    norm = nn.BatchNorm2d(5)
    norm(X)
    frozen = layers.FrozenBatchNorm(5)
    frozen.load_state_dict(norm.state_dict())
    torch.testing.assert_close(frozen(X), norm.eval()(X))


# --- running mean ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("momentum", [0.1, None])
def test_running_mean_is_batch_norms(momentum):
    norm, mean = nn.BatchNorm2d(5, momentum=momentum), layers.RunningMean(5, momentum)
    for step in range(4):
        x = (X + step).requires_grad_()
        norm(x)
        mean(x)
    torch.testing.assert_close(mean.mean, norm.running_mean)
    assert not mean.mean.requires_grad
    copy.deepcopy(mean)
    before = mean.mean.clone()
    mean.eval()(X + 100)
    assert torch.equal(mean.mean, before)


# --- compile, autocast, layout ---------------------------------------------------------------------------------------

TENSOR_FUNCTIONS = {
    "bilinear": layers.bilinear_pool,
    "compact": layers.CompactBilinear(5, 16, generator=torch.Generator().manual_seed(0)),
    "mean": layers.global_pool,
    "gem": lambda x: layers.global_pool(x, "gem"),
    "frozen": layers.FrozenBatchNorm(5),
    "signed_sqrt": layers.signed_sqrt,
}


@pytest.mark.parametrize("name", TENSOR_FUNCTIONS)
def test_compiles_whole_under_autocast_and_on_strides(name):
    function = TENSOR_FUNCTIONS[name]
    expected = function(X)
    torch.testing.assert_close(torch.compile(function, fullgraph=True, backend="aot_eager")(X), expected)
    torch.testing.assert_close(function(X.to(memory_format=torch.channels_last)), expected)
    torch.testing.assert_close(function(torch.stack([X, X], -1)[..., 0]), expected)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(function(X), expected)

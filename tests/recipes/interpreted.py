"""Run by test_kernels.py with TRITON_INTERPRET=1: each kernel on the CPU against the plain path of its recipe."""

from __future__ import annotations

import pytest
import torch

from torchlore.recipes import _counting, _cross_entropy, _ops, augment, layers, losses, metrics

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy under the interpreter, on masked lanes


def both(monkeypatch, function):
    """What the plain path gives and what the kernels give."""
    plain = function()
    monkeypatch.setattr(_ops, "fits", lambda value: True)
    fused = function()
    monkeypatch.undo()
    return plain, fused


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    "shape", [(8, 8), (3, 8, 12), (2, 3, 8, 8), (2, 3, 9, 11), (2, 2, 3, 8, 10), (2, 3, 8, 512), (0, 3, 8, 8)]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.bool, torch.float16, torch.float64])
def test_blocks_move(monkeypatch, shape, dtype):
    pictures = (random(*shape) * 50).to(dtype)
    plan = augment.region_plan(shape[0] if len(shape) >= 4 else 1, 4, generator=torch.Generator().manual_seed(1))
    plain, fused = both(monkeypatch, lambda: augment.apply_region_plan(pictures, plan))
    assert torch.equal(plain, fused)
    if len(shape) == 4 and pictures.numel():
        last = pictures.to(memory_format=torch.channels_last)
        plain, fused = both(monkeypatch, lambda: augment.apply_region_plan(last, plan))
        assert torch.equal(plain, fused)
        assert fused.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("blocks", [1, 2, 3, 7, 8, 11])
@pytest.mark.parametrize("neighbour", [0, 0.5, 2, 100])
def test_blocks_are_ordered(monkeypatch, blocks, neighbour):
    plain, fused = both(
        monkeypatch,
        lambda: augment.region_plan(5, blocks, neighbour, generator=torch.Generator().manual_seed(blocks)),
    )
    assert torch.equal(plain, fused)


def test_a_slice_that_starts_anywhere_moves(monkeypatch):
    pictures = random(2 * 8 * 8 + 1)[1:].view(1, 2, 8, 8)
    plan = augment.region_plan(1, 4, generator=torch.Generator().manual_seed(1))
    plain, fused = both(monkeypatch, lambda: augment.apply_region_plan(pictures, plan))
    assert torch.equal(plain, fused)


def test_blocks_move_back(monkeypatch):
    x, weight = random(2, 3, 9, 8).requires_grad_(), random(2, 3, 9, 8, seed=1)
    plan = augment.region_plan(2, 4, generator=torch.Generator().manual_seed(1))

    def run():
        (grad,) = torch.autograd.grad((augment.apply_region_plan(x, plan) * weight).sum(), x)
        return grad

    plain, fused = both(monkeypatch, run)
    assert torch.equal(plain, fused)


@pytest.mark.parametrize("classes", [1, 2, 7, 31, 32, 70])
@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8])
@pytest.mark.parametrize("ignore", [None, 0, 255])
def test_pairs_are_counted(monkeypatch, classes, dtype, ignore):
    pairs = torch.randint(0, classes, (2, 5000), generator=torch.Generator().manual_seed(0)).to(dtype)
    pairs[1, ::7] = 255
    pairs[0, ::11] = 200
    plain, fused = both(monkeypatch, lambda: _counting.count_pairs(pairs[0], pairs[1], classes, ignore))
    assert torch.equal(plain, fused)
    assert fused.dtype == torch.int64


def test_labels_far_outside_are_counted_apart(monkeypatch):
    wild = torch.tensor([2**40, -(2**50), -1, 0, 1])
    plain, fused = both(monkeypatch, lambda: _counting.count_pairs(wild, wild.flip(0), 2, None))
    assert torch.equal(plain, fused)


@pytest.mark.parametrize("shape", [(3, 2500), (2, 30, 40), (2, 2, 30, 40), (1, 5), (5, 1), (0, 3, 4, 4)])
@pytest.mark.parametrize("kind", ["float", "bool", "uint8"])
@pytest.mark.parametrize("function", [losses.iou_loss, losses.dice_loss, losses.tversky_loss])
def test_overlap(monkeypatch, shape, kind, function):
    truth = (random(*shape, seed=1) > 0).float() if kind == "float" else (random(*shape, seed=1) > 0)
    targets = truth * 0.7 if kind == "float" else truth if kind == "bool" else truth.to(torch.uint8) * 3
    ignore = 3 if kind == "uint8" else None
    for logits in (True, False):
        scores = random(*shape) if logits else random(*shape).sigmoid()
        scores.requires_grad_()

        def run(scores=scores, logits=logits):
            loss = function(scores, targets, from_logits=logits, ignore_index=ignore)
            return loss, *torch.autograd.grad(loss * 3, scores)

        plain, fused = both(monkeypatch, run)
        torch.testing.assert_close(plain, fused)


@pytest.mark.parametrize("form", ["squared", "linear"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_overlap_options(monkeypatch, form, reduction):
    scores, targets = random(4, 1500).bfloat16().requires_grad_(), random(4, 1500, seed=1) > 0
    targets[2] = False

    def run():
        loss = losses.iou_loss(scores, targets, form=form, reduction=reduction, empty="skip")
        return loss, *torch.autograd.grad(loss.sum(), scores)

    plain, fused = both(monkeypatch, run)
    torch.testing.assert_close(plain, fused, rtol=1e-4, atol=1e-5)
    assert fused[1].dtype == torch.bfloat16


@pytest.mark.parametrize("shape", [(7, 2), (40, 10), (5, 1000), (3, 3000), (0, 4)])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_smoothing(monkeypatch, shape, epsilon, reduction):
    logits = (random(*shape) * 5).requires_grad_()
    target = torch.randint(0, shape[1], shape[:1], generator=torch.Generator().manual_seed(2))
    target[::3] = -100

    def run():
        loss = losses.label_smoothing_loss(logits, target, epsilon, spread="others", reduction=reduction)
        return loss, *torch.autograd.grad((loss * torch.arange(1, loss.numel() + 1).view(loss.shape)).sum(), logits)

    plain, fused = both(monkeypatch, run)
    torch.testing.assert_close(plain, fused)


def test_smoothing_of_pixels_half_precision_and_extremes(monkeypatch):
    logits = random(2, 5, 3, 4).to(memory_format=torch.channels_last).half().requires_grad_()
    target = torch.randint(0, 5, (2, 3, 4), generator=torch.Generator().manual_seed(2))

    def run():
        loss = losses.label_smoothing_loss(logits, target)
        return loss, *torch.autograd.grad(loss, logits)

    plain, fused = both(monkeypatch, run)
    torch.testing.assert_close(plain, fused, rtol=1e-3, atol=1e-4)
    hidden = torch.tensor([[1000.0, -1000.0, -torch.inf]], requires_grad=True)
    plain, fused = both(monkeypatch, lambda: losses.label_smoothing_loss(hidden, torch.tensor([1]), 0.0))
    torch.testing.assert_close(plain, fused)


def test_a_wrong_label_gives_nan_not_a_wild_read(monkeypatch):
    logits = random(3, 4).requires_grad_()
    monkeypatch.setattr(_ops, "fits", lambda value: True)
    rows = _cross_entropy.cross_entropy(logits, torch.tensor([0, 99, -5]), None, -100, share=0.04, reduction="none")
    assert rows.isnan().tolist() == [False, True, True]
    assert torch.autograd.grad(rows.sum(), logits)[0].isnan().any(1).tolist() == [False, True, True]


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_absolute_values_of_many_tensors(monkeypatch, layout):
    sizes = [(3, 4), (1,), (5, 2, 3, 3), (0, 2), (70_000,)]
    parameters = [random(*size, seed=i).requires_grad_() for i, size in enumerate(sizes)]
    parameters[2] = parameters[2].detach().to(memory_format=layout).requires_grad_()

    def run():
        loss = losses.l1_penalty(parameters, only_weights=False)
        return loss, *torch.autograd.grad(3 * loss, parameters)

    for _ in range(2):
        plain, fused = both(monkeypatch, run)
        torch.testing.assert_close(plain, fused)
        with torch.no_grad():
            parameters[0] *= 2.0


def test_absolute_values_of_what_the_kernel_cannot_read(monkeypatch):
    parameters = [random(6, 4)[:, ::2], random(3).double()]
    plain, fused = both(monkeypatch, lambda: losses.l1_penalty(parameters, only_weights=False))
    torch.testing.assert_close(plain, fused)


@pytest.mark.parametrize("shape", [(2, 5, 3, 3), (1, 40, 50), (2, 130, 40), (1, 257, 33)])
@pytest.mark.parametrize("precision", ["ieee", "tf32"])
def test_bilinear(monkeypatch, shape, precision):
    x = random(*shape).requires_grad_()
    weight = random(shape[0], shape[1] ** 2, seed=3)

    def run():
        pooled = layers.bilinear_pool(x, precision=precision)
        return pooled, *torch.autograd.grad((pooled * weight).sum(), x)

    plain, fused = both(monkeypatch, run)
    torch.testing.assert_close(plain, fused, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(fused[0].norm(dim=1), torch.ones(shape[0]))


def test_bilinear_of_half_features_and_zeros(monkeypatch):
    half = random(2, 40, 50).half().requires_grad_()
    plain, fused = both(monkeypatch, lambda: layers.bilinear_pool(half))
    torch.testing.assert_close(plain, fused, rtol=1e-3, atol=1e-3)
    monkeypatch.setattr(_ops, "fits", lambda value: True)
    zeros = torch.zeros(1, 3, 4, requires_grad=True)
    pooled = layers.bilinear_pool(zeros)
    assert pooled.abs().sum() == 0
    assert torch.autograd.grad(pooled.sum(), zeros)[0].isfinite().all()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: losses.label_smoothing_loss(x, torch.arange(6) % 5),
        lambda x: losses.iou_loss(x, x.detach() > 0),
        lambda x: augment.apply_region_plan(x.view(1, 1, 6, 5), torch.arange(4).flip(0).view(1, 2, 2)).square().sum(),
        lambda x: layers.bilinear_pool(x.view(1, 5, 6)).sum(),
        lambda x: metrics.confusion_matrix(x, torch.arange(6) % 5, 5).sum() * x.sum(),
    ],
    ids=["smoothing", "overlap", "blocks", "bilinear", "count"],
)
def test_kernels_compile_whole(monkeypatch, function):
    monkeypatch.setattr(_ops, "fits", lambda value: True)
    x, y = random(6, 5).requires_grad_(), random(6, 5).requires_grad_()
    expected = function(x)
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")(y)
    torch.testing.assert_close(compiled, expected)
    torch.testing.assert_close(torch.autograd.grad(compiled, y), torch.autograd.grad(expected, x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: losses.label_smoothing_loss(x, torch.arange(4) % 3),
        lambda x: losses.iou_loss(x, torch.arange(12).view(4, 3) % 2, ignore_index=5),
        lambda x: layers.bilinear_pool(x.view(1, 3, 4)).square().sum(1)[0] + x.square().sum(),
    ],
    ids=["smoothing", "overlap", "bilinear"],
)
def test_the_gradient_of_a_gradient(monkeypatch, function):
    def run():
        x = random(4, 3).requires_grad_()
        (grad,) = torch.autograd.grad(function(x), x, create_graph=True)
        return grad, *torch.autograd.grad(grad.square().sum(), x)

    plain, fused = both(monkeypatch, run)
    torch.testing.assert_close(plain, fused, rtol=1e-4, atol=1e-5)


def test_many_tensors_at_once(monkeypatch):
    """Their absolute sum, their signs, and signs added to others; one tensor has zeros, one lies channels-last, one is long."""
    some = [random(3, 5), random(2, 3, 4, 4).to(memory_format=torch.channels_last), random(70_001), torch.zeros(4)]
    into = [torch.empty_like(one).normal_() for one in some]
    wanted = [old + 0.5 * one.sign() for old, one in zip(into, some, strict=True)]
    monkeypatch.setattr(_ops, "fits", lambda value: True)
    torch.testing.assert_close(_ops.abs_sum(some), sum(one.abs().sum() for one in some))
    assert all(map(torch.equal, _ops.signs(some, torch.tensor(3.0)), [3 * one.sign() for one in some]))
    assert _ops.add_signs(some, into, 0.5)
    assert all(map(torch.equal, into, wanted))


def test_tensors_of_other_layouts_are_left_alone(monkeypatch):
    monkeypatch.setattr(_ops, "fits", lambda value: True)
    picture, flat = random(2, 3, 4, 4), torch.zeros(2, 3, 4, 4)
    assert not _ops.add_signs([picture.to(memory_format=torch.channels_last)], [flat], 1.0)
    assert not _ops.add_signs([picture.double()], [flat.double()], 1.0)
    assert _ops.abs_sum([picture[..., ::2]]) is None
    assert not flat.any()

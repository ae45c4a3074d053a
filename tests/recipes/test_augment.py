from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torchvision import tv_tensors

from torchlore.recipes import augment


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def slow_move(picture, plan):
    """Block by block, as one would write it first."""
    blocks = plan.shape[0]
    high, wide = picture.shape[-2] // blocks, picture.shape[-1] // blocks
    out = picture.clone()
    for i in range(blocks):
        for j in range(blocks):
            a, b = divmod(int(plan[i, j]), blocks)
            out[..., i * high : (i + 1) * high, j * wide : (j + 1) * wide] = picture[
                ..., a * high : (a + 1) * high, b * wide : (b + 1) * wide
            ]
    return out


@given(blocks=st.integers(1, 9), neighbour=st.floats(0, 4), seed=st.integers(0, 9999))
@settings(deadline=None, max_examples=60)
def test_a_plan_is_a_permutation_that_stays_near(blocks, neighbour, seed):
    plan = augment.region_plan(3, blocks, neighbour, generator=generator(seed))
    assert plan.shape == (3, blocks, blocks)
    assert torch.equal(plan.flatten(1).sort(1).values, torch.arange(blocks**2).expand(3, -1))
    place = torch.arange(blocks)
    assert ((plan // blocks - place[:, None]).abs() <= 2 * neighbour).all()
    assert ((plan % blocks - place).abs() <= 2 * neighbour).all()


def test_neighbour_one_moves_rows_and_columns_both_ways():
    plan = augment.region_plan(400, 6, 1, generator=generator())
    rows = plan // 6 - torch.arange(6)[:, None]
    columns = plan % 6 - torch.arange(6)
    for shift in (rows, columns):
        assert {-1, 0, 1} <= set(shift.flatten().tolist())
        assert abs(shift.double().mean().item()) < 1e-9
        back, forth = (shift < 0).double().mean(), (shift > 0).double().mean()
        assert abs(back - forth) < 0.05
    assert len({tuple(p.flatten().tolist()) for p in plan}) > 300  # each sample has its own


def literal_rows_then_columns(picture, noise, neighbour):
    """The notes' two steps with lists, right for one D x H x W picture, with real-valued noise."""
    blocks = noise.shape[-1]
    down = (torch.arange(blocks)[:, None] + neighbour * noise[0].T).argsort(0)
    grid = [torch.chunk(row, blocks, 2) for row in torch.chunk(picture, blocks, 1)]
    grid = [[grid[down[i, j]][j] for j in range(blocks)] for i in range(blocks)]
    across = (torch.arange(blocks)[None] + neighbour * noise[1]).argsort(1)
    grid = [[grid[i][across[i, j]] for j in range(blocks)] for i in range(blocks)]
    return torch.cat([torch.cat(row, 2) for row in grid], 1)


def test_one_picture_is_shuffled_as_the_notes_mean_it():
    picture = torch.rand(3, 12, 18)
    noise = 2 * torch.rand(2, 1, 6, 6, generator=generator(3)) - 1
    expected = literal_rows_then_columns(picture, noise[:, 0], 2)
    assert torch.equal(augment.region_confusion(picture, 6, 2, generator=generator(3)), expected)


@pytest.mark.parametrize(
    "shape",
    [(8, 8), (3, 8, 12), (2, 3, 8, 8), (2, 4, 9, 11), (2, 3, 4, 8, 10), (2, 8, 10, 10), (0, 3, 8, 8), (2, 0, 8, 8)],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.bool, torch.float16])
def test_moving_is_the_slow_loop(shape, dtype):
    pictures = torch.randint(0, 200, shape, generator=generator()).to(dtype)
    batch = shape[0] if len(shape) >= 4 else 1
    plan = augment.region_plan(batch, 4, 2, generator=generator(1))
    ours = augment.apply_region_plan(pictures, plan)
    expected = (
        torch.stack(
            [
                slow_move(p, q)
                for p, q in zip(pictures.view(batch, *shape[-3:] if len(shape) < 4 else shape[1:]), plan, strict=True)
            ]
        ).view(shape)
        if batch
        else pictures
    )
    assert torch.equal(ours, expected)
    if len(shape) == 4 and pictures.numel():
        last = augment.apply_region_plan(pictures.to(memory_format=torch.channels_last), plan)
        assert torch.equal(last, expected)
        assert last.is_contiguous(memory_format=torch.channels_last)
    wide = torch.stack([pictures, pictures], -1)[..., 0]
    assert torch.equal(augment.apply_region_plan(wide, plan), expected)


@given(height=st.integers(4, 20), width=st.integers(4, 20), blocks=st.integers(1, 4), seed=st.integers(0, 999))
@settings(deadline=None, max_examples=60)
def test_every_pixel_is_kept_for_any_size(height, width, blocks, seed):
    pictures = torch.arange(2 * height * width).view(2, 1, height, width)
    out = augment.region_confusion(pictures, blocks, generator=generator(seed))
    assert torch.equal(out.flatten(1).sort(1).values, pictures.flatten(1))
    h, w = height // blocks * blocks, width // blocks * blocks
    assert torch.equal(out[..., h:, :], pictures[..., h:, :])
    assert torch.equal(out[..., w:], pictures[..., w:])


def test_the_gradient_moves_back():
    x = torch.rand(2, 3, 9, 8, dtype=torch.float64, requires_grad=True)
    plan = augment.region_plan(2, 4, generator=generator())
    assert torch.autograd.gradcheck(lambda value: augment.apply_region_plan(value, plan), x)


def test_torchvision_types_are_kept():
    image, mask = tv_tensors.Image(torch.rand(3, 8, 8)), tv_tensors.Mask(torch.zeros(1, 8, 8, dtype=torch.uint8))
    assert type(augment.region_confusion(image, 4)) is tv_tensors.Image
    assert type(augment.region_confusion(mask, 4)) is tv_tensors.Mask
    clip = tv_tensors.Video(torch.rand(2, 3, 8, 8))
    assert type(augment.mixup(clip, torch.arange(2)).images) is tv_tensors.Video
    assert type(augment.cutmix(clip, torch.arange(2)).images) is tv_tensors.Video
    boxes = tv_tensors.BoundingBoxes(torch.zeros(8, 4), format="XYXY", canvas_size=(8, 8))
    with pytest.raises(TypeError, match="bounding boxes"):
        augment.region_confusion(boxes, 4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: augment.region_confusion(x, 0), "blocks is 0"),
        (lambda x: augment.region_confusion(x, 9), "no 9 x 9 blocks"),
        (lambda x: augment.region_confusion(x, 2, -1), "neighbour is -1"),
        (lambda x: augment.apply_region_plan(x, torch.zeros(3, 2, 2)), r"must be \(4, blocks, blocks\)"),
        (lambda x: augment.apply_region_plan(x[0, 0, 0], torch.zeros(1, 2, 2)), r"must be \(..., H, W\)"),
        (lambda x: augment.mixup(x, torch.arange(3)), "first dimensions must be equal"),
        (lambda x: augment.mixup(x, torch.arange(4), 0.0), "alpha is 0.0"),
        (lambda x: augment.mixup(x, torch.arange(4), float("nan")), "alpha is nan"),
        (lambda x: augment.cutmix(x[0, 0], torch.arange(8)), r"must be \(N, ..., H, W\)"),
    ],
)
def test_wrong_arguments_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call(torch.rand(4, 3, 8, 8))


def test_mixup_refuses_integers():
    with pytest.raises(TypeError, match=r"dtype torch.uint8"):
        augment.mixup(torch.zeros(2, 3, dtype=torch.uint8), torch.arange(2))


@pytest.mark.parametrize("each", [False, True])
def test_mixup_blends_images_as_labels(each):
    labels = torch.arange(6)
    images = torch.nn.functional.one_hot(labels, 6).float().view(6, 6, 1, 1).expand(6, 6, 2, 2)
    mixed = augment.mixup(images, labels, 0.5, each=each, generator=generator())
    soft = mixed.share[:, None] * torch.nn.functional.one_hot(mixed.first, 6) + (
        1 - mixed.share[:, None]
    ) * torch.nn.functional.one_hot(mixed.second, 6)
    torch.testing.assert_close(mixed.images[:, :, 0, 0], soft)
    assert len(mixed.share.unique()) == (6 if each else 1)
    again = augment.mixup(images, labels, 0.5, each=each, generator=generator())
    assert all(torch.equal(a, b) for a, b in zip(mixed, again, strict=True))


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
def test_cutmix_share_is_the_area_kept(each, dtype):
    labels = torch.arange(8)
    images = labels.to(dtype).view(8, 1, 1, 1).expand(8, 3, 16, 12)
    mixed = augment.cutmix(images, labels, each=each, generator=generator(4))
    other = mixed.second != mixed.first
    kept = (mixed.images == mixed.first.view(8, 1, 1, 1)).float().mean((1, 2, 3))
    torch.testing.assert_close(kept[other], mixed.share[other])
    assert mixed.images.dtype == dtype


@pytest.mark.parametrize("alpha", [0.05, 0.2, 1.0, 4.0])
def test_shares_follow_the_beta_distribution(alpha):
    shares = augment.mixup(torch.zeros(20_000, 1), torch.zeros(20_000), alpha, each=True, generator=generator()).share
    assert ((shares >= 0) & (shares <= 1)).all()
    assert shares.mean().item() == pytest.approx(0.5, abs=0.015)
    assert shares.var().item() == pytest.approx(0.25 / (2 * alpha + 1), rel=0.06)


def test_compiles_whole():
    pictures, plan = torch.rand(2, 3, 9, 8), augment.region_plan(2, 4, generator=generator())
    fast = torch.compile(augment.apply_region_plan, fullgraph=True, backend="aot_eager")
    assert torch.equal(fast(pictures, plan), augment.apply_region_plan(pictures, plan))
    shuffled = torch.compile(augment.region_confusion, fullgraph=True, backend="aot_eager")(pictures, 4)
    assert torch.equal(shuffled.flatten().sort().values, pictures.flatten().sort().values)
    for function in (augment.mixup, augment.cutmix):
        mixed = torch.compile(function, fullgraph=True, backend="aot_eager")(pictures, torch.arange(2))
        assert mixed.images.shape == pictures.shape
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert augment.mixup(pictures, torch.arange(2)).images.dtype == torch.float32

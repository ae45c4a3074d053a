from __future__ import annotations

import io

import numpy as np
import pytest
import torch
import torchvision.transforms.v2.functional as tv
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from torchlore.recipes import tensors


def rgb(height=5, width=6, channels=3):
    return np.random.default_rng(0).integers(0, 256, (height, width, channels), dtype=np.uint8)


# --- NumPy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3)[::-1],
        np.arange(6.0).reshape(2, 3)[:, ::-2],
        np.arange(6, dtype=">i4"),
        np.flip(np.arange(6).reshape(2, 3).T),
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.arange(3, dtype=np.uint16),
        np.array(3, dtype=np.float32),
        np.empty((0, 3)),
    ],
    ids=["rows back", "columns back", "big endian", "transposed back", "read only", "uint16", "0-dim", "empty"],
)
def test_from_numpy_takes_what_torch_refuses(array):
    tensor = tensors.from_numpy(array)
    np.testing.assert_array_equal(tensors.to_numpy(tensor), array)
    if tensor.numel():
        before = array.copy()
        tensor.fill_(7)
        np.testing.assert_array_equal(array, before)  # a copy


def test_from_numpy_views_only_when_it_can():
    array = np.zeros(3, dtype=np.float32)
    tensors.from_numpy(array, copy=False)[0] = 5
    assert array[0] == 5
    with pytest.raises(ValueError, match="write copy=True"):
        tensors.from_numpy(array[::-1], copy=False)
    with pytest.raises(ValueError, match="a view cannot change it"):
        tensors.from_numpy(array, dtype=torch.float64, copy=False)
    with pytest.raises(TypeError, match="array is a list"):
        tensors.from_numpy([1, 2])
    assert tensors.from_numpy(array, dtype=torch.float16).dtype == torch.float16


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.int8, torch.bool, torch.complex64]
)
def test_to_numpy_takes_anything(dtype):
    tensor = torch.ones(2, 3).to(dtype)
    np.testing.assert_array_equal(tensors.to_numpy(tensor), np.ones((2, 3)))
    grown = torch.ones(2, requires_grad=True) * 2
    assert tensors.to_numpy(grown).tolist() == [2, 2]
    assert tensors.to_numpy(torch.ones(2, dtype=torch.complex64).conj()).dtype == np.complex64
    shared = torch.zeros(2)
    tensors.to_numpy(shared)[0] = 3
    assert shared[0] == 3


# --- PIL -------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 255))
@settings(deadline=None, max_examples=30)
def test_eight_bit_pictures_survive_the_round_trip(value):
    array = (rgb().astype(int) + value).astype(np.uint8)
    image = Image.fromarray(array)
    tensor = tensors.from_pil(image)
    assert tensor.is_contiguous()
    torch.testing.assert_close(tensor, tv.to_dtype(tv.pil_to_tensor(image), torch.float32, scale=True))
    np.testing.assert_array_equal(np.asarray(tensors.to_pil(tensor)), array)
    assert torch.equal(tensors.from_pil(image, dtype=torch.uint8), tv.pil_to_tensor(image))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "LAB", "PA"])
def test_every_mode_becomes_three_channels(mode):
    source = Image.fromarray(rgb())
    image = (
        source.convert("P").convert("PA")
        if mode == "PA"
        else Image.new("LAB", (6, 5))
        if mode == "LAB"
        else source.convert(mode)
    )
    tensor = tensors.from_pil(image)
    assert tensor.shape == (3, 5, 6)
    assert tensor.dtype == torch.float32
    assert 0 <= tensor.min() <= tensor.max() <= 1
    if mode in {"1", "L", "P", "RGBA"}:
        np.testing.assert_array_equal(tensors.from_pil(image, dtype=torch.uint8).permute(1, 2, 0), image.convert("RGB"))


def test_palettes_give_colours_not_indices():
    image = Image.fromarray(rgb()).convert("P", palette=Image.Palette.ADAPTIVE, colors=4)
    np.testing.assert_array_equal(tensors.pil_to_array(image, mode=None), np.asarray(image.convert("RGB")))
    image.info["transparency"] = 0
    assert tensors.pil_to_array(image, mode=None).shape == (5, 6, 4)


@pytest.mark.parametrize("mode", ["I;16", "I;16B", "I"])
def test_sixteen_bits_stay_sixteen(mode):
    values = np.array([[0, 300, 32768], [65535, 1, 40000]], dtype=np.uint16)
    image = Image.fromarray(values)
    if mode == "I":
        image = Image.fromarray(values.astype(np.int32))
    elif mode == "I;16B":
        image = Image.frombytes("I;16B", (3, 2), values.astype(">u2").tobytes())
    tensor = tensors.from_pil(image)
    torch.testing.assert_close(tensor[1], torch.from_numpy(values.astype(np.float32) / 65535))
    np.testing.assert_array_equal(tensors.pil_to_array(image, mode="L"), values)
    assert torch.equal(
        tensors.from_pil(image, mode="L", dtype=torch.int32)[0], torch.from_numpy(values.astype(np.int32))
    )
    with pytest.raises(ValueError, match="uint8 cannot hold"):
        tensors.from_pil(image, dtype=torch.uint8)
    back = tensors.to_pil(torch.from_numpy(values))
    assert back.mode == "I;16"
    np.testing.assert_array_equal(np.asarray(back), values)
    png = io.BytesIO()
    back.save(png, "png")
    np.testing.assert_array_equal(tensors.pil_to_array(Image.open(png), mode="L"), values)


def test_exif_turns_the_picture():
    image = Image.fromarray(rgb(4, 8))
    exif = image.getexif()
    exif[0x0112] = 6
    file = io.BytesIO()
    image.save(file, "png", exif=exif)
    assert tensors.from_pil(Image.open(file)).shape == (3, 8, 4)
    assert tensors.from_pil(Image.open(file), exif=False).shape == (3, 4, 8)


def test_to_pil_clamps_and_rounds():
    values = torch.tensor([[[1.2, -0.1, 0.999, 0.0, float("nan")]]])
    assert list(tensors.to_pil(values).tobytes()) == [255, 0, 255, 0, 0]
    assert np.asarray(tensors.array_to_pil(values[0].numpy())).tolist() == [[255, 0, 255, 0, 0]]


@pytest.mark.parametrize(
    ("shape", "mode"), [((4, 5), "L"), ((1, 4, 5), "L"), ((2, 4, 5), "LA"), ((3, 4, 5), "RGB"), ((4, 4, 5), "RGBA")]
)
def test_to_pil_knows_the_channels(shape, mode):
    picture = torch.rand(shape, requires_grad=True)
    image = tensors.to_pil(picture)
    assert (image.mode, image.size) == (mode, (5, 4))
    wide = torch.stack([picture, picture], -1)[..., 0].half()
    assert tensors.to_pil(wide).mode == mode
    assert tensors.to_pil(picture > 0.5).mode == mode


def test_array_to_pil_takes_strides_and_refuses_wraps():
    array = rgb()
    np.testing.assert_array_equal(np.asarray(tensors.array_to_pil(array[::-1, ::-1])), array[::-1, ::-1])
    np.testing.assert_array_equal(np.asarray(tensors.array_to_pil(array[:, :, :1])), array[:, :, 0])
    np.testing.assert_array_equal(np.asarray(tensors.array_to_pil(array.astype(np.int64))), array)
    for wrong in (np.array([[-1, 3]]), np.full((2, 2, 3), 300), np.array([[70_000]])):
        with pytest.raises(ValueError, match="pictures hold 0 to 255"):
            tensors.array_to_pil(wrong)


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (5,), (7, 4, 5)])
def test_to_pil_names_wrong_shapes(shape):
    with pytest.raises(ValueError, match=r"to_pil: the tensor has shape"):
        tensors.to_pil(torch.zeros(shape))


def test_to_pil_sees_channels_that_come_last():
    with pytest.raises(ValueError, match=r"write picture.permute\(2, 0, 1\)"):
        tensors.to_pil(torch.zeros(32, 32, 3))


# --- shuffle, flip, one-hot ------------------------------------------------------------------------------------------


def test_flip_is_the_index_trick():
    x = torch.rand(2, 3, 4, 5)
    assert torch.equal(tensors.flip(x), x[:, :, :, torch.arange(4, -1, -1)])
    assert torch.equal(tensors.flip(x, 0, 2), x.flip(0, 2))


@given(n=st.integers(0, 20), seed=st.integers(0, 999))
@settings(deadline=None, max_examples=40)
def test_shuffle_keeps_pairs_and_repeats_from_a_generator(n, seed):
    x = torch.arange(n)
    a, b = tensors.shuffle_together(x, x[:, None] * 2, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(a[:, None] * 2, b)
    assert torch.equal(a.sort().values, x)
    (again,) = tensors.shuffle_together(x, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(again, a)


def test_shuffle_names_unequal_lengths():
    with pytest.raises(ValueError, match="first dimensions must be equal"):
        tensors.shuffle_together(torch.zeros(2), torch.zeros(3))
    with pytest.raises(ValueError, match="no tensor"):
        tensors.shuffle_together()


@pytest.mark.parametrize("shape", [(6,), (2, 3), (2, 3, 4)])
def test_one_hot_is_torchs_with_the_class_second(shape):
    labels = torch.randint(0, 5, shape)
    expected = torch.nn.functional.one_hot(labels, 5).movedim(-1, 1)
    assert torch.equal(tensors.one_hot(labels, 5), expected)
    assert torch.equal(tensors.one_hot(labels.to(torch.uint8), 5, dtype=torch.float32), expected.float())
    labels.view(-1)[0] = 255
    hot = tensors.one_hot(labels, 5, ignore_index=255)
    assert hot.sum() == labels.numel() - 1
    with pytest.raises(ValueError, match="write ignore_index=255"):
        tensors.one_hot(labels, 5)
    with pytest.raises(TypeError, match="labels have dtype"):
        tensors.one_hot(labels.float(), 5)


# --- distances -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_euclidean_is_the_broadcast_form_also_far_from_the_origin(exact, offset):
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(n, 16, generator=generator, dtype=torch.float64) + offset for n in (40, 30))
    literal = (a[:, None] - b).square().sum(2).sqrt()
    ours = tensors.pairwise_euclidean(a.float(), b.float(), exact=exact)
    torch.testing.assert_close(ours.double(), literal, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (2, 3, 0), (70, 17_000, 2), (1, 1, 3)])
@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_fast_distances_of_every_shape_are_the_exact_ones(shape, offset):
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(rows, shape[2], generator=generator) + offset for rows in shape[:2])
    exact = tensors.pairwise_euclidean(a.double(), b.double())
    fast = tensors.pairwise_euclidean(a, b, exact=False)
    torch.testing.assert_close(fast.double(), exact, atol=1e-3, rtol=1e-4)
    plain = tensors.pairwise_euclidean(a.requires_grad_(), b, exact=False)  # torch's form, which has a gradient
    torch.testing.assert_close(plain.detach(), fast, atol=2e-3, rtol=1e-4)


def test_fast_distances_lose_nothing_far_from_the_origin():
    a, b = torch.randn(2, 200, 64, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for offset in (0.0, 0.02, 0.1, 0.2, 0.3, 1.0):
        x, y = (a + offset).float(), (b + offset).float()
        wrong = (
            (tensors.pairwise_euclidean(x, y, exact=False).double() - torch.cdist(x.double(), y.double())).abs().max()
        )
        assert wrong < 1e-5


@pytest.mark.parametrize("exact", [True, False])
def test_distances_have_finite_gradients_at_zero(exact):
    a = torch.randn(5, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    same = torch.cat([a, a])
    for value in (tensors.pairwise_euclidean(same, same, exact=exact), tensors.pairwise_cosine(same, same)):
        (grad,) = torch.autograd.grad(value.sum(), a, retain_graph=True)
        assert grad.isfinite().all()
    zero = torch.zeros(2, 3, requires_grad=True)
    cosine = tensors.pairwise_cosine(zero, torch.ones(1, 3))
    assert cosine.tolist() == [[0.0], [0.0]]
    assert torch.autograd.grad(cosine.sum(), zero)[0].isfinite().all()
    assert torch.autograd.gradcheck(
        lambda x: tensors.pairwise_euclidean(x, x[:2] + 1, exact=exact), a.detach().double().requires_grad_()
    )


def test_cosine_is_torchs_and_within_bounds():
    a, b = torch.randn(2, 20, 8, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(tensors.pairwise_cosine(a, b), torch.cosine_similarity(a[:, None], b[None], dim=2))
    assert tensors.pairwise_cosine(a, a).max() <= 1


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
@pytest.mark.parametrize("rows", [1, 7, 100])
def test_blocks_and_nearest_are_the_whole(distance, rows):
    a, b = (
        torch.randn(20, 4, generator=torch.Generator().manual_seed(0)),
        torch.randn(9, 4, generator=torch.Generator().manual_seed(1)),
    )
    whole = tensors.pairwise_euclidean(a, b) if distance == "euclidean" else 1 - tensors.pairwise_cosine(a, b)
    blocks = list(tensors.pairwise_blocks(a, b, distance=distance, rows=rows))
    torch.testing.assert_close(torch.cat([block for _, block in blocks]), whole)
    assert max(len(block) for _, block in blocks) <= rows
    found = tensors.nearest(a, b, 3, distance=distance, rows=rows)
    torch.testing.assert_close(found.distances, whole.topk(3, largest=False).values)
    assert tensors.nearest(a[:0], b, 3).indices.shape == (0, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tensors.pairwise_euclidean(torch.zeros(2, 3), torch.zeros(2, 4)),
        lambda: tensors.pairwise_cosine(torch.zeros(3), torch.zeros(2, 3)),
        lambda: list(tensors.pairwise_blocks(torch.zeros(2, 3), torch.zeros(2, 3), rows=0)),
        lambda: tensors.nearest(torch.zeros(2, 3), torch.zeros(2, 3), 3),
    ],
)
def test_distances_name_wrong_arguments(call):
    with pytest.raises(ValueError, match=r"(they|it) must be"):
        call()


@pytest.mark.parametrize(
    "function",
    [
        lambda a: tensors.pairwise_euclidean(a, a),
        lambda a: tensors.pairwise_euclidean(a, a, exact=False),
        lambda a: tensors.pairwise_cosine(a, a),
        lambda a: tensors.one_hot((a[:, 0] > 0).long(), 3, ignore_index=1),
        tensors.flip,
    ],
)
def test_compiles_whole_under_autocast_and_on_strides(function):
    a = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
    expected = function(a)
    torch.testing.assert_close(torch.compile(function, fullgraph=True, backend="aot_eager")(a), expected)
    torch.testing.assert_close(function(torch.stack([a, a], -1)[..., 0]), expected)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(function(a), expected)


# --- memory ----------------------------------------------------------------------------------------------------------


def test_who_shares_memory():
    x = torch.arange(12.0).view(3, 4)
    for other in (x, x.detach(), x.view(-1), x[1:], x.T, x.expand(2, 3, 4), x.reshape(12)):
        assert tensors.shares_memory(x, other)
    for other in (x.clone(), x + 0, x.T.reshape(12), x.double(), x[:0]):
        assert not tensors.shares_memory(x, other)
    assert not tensors.shares_memory(x[0], x[1])


def test_copies_and_expansions():
    x = torch.ones(2, 3, requires_grad=True)
    for copy in (tensors.copy_of(x), tensors.copy_of(x, keep_graph=True)):
        assert not tensors.shares_memory(x, copy)
    big = tensors.expand_map(x, 7, 5)
    assert big.shape == (2, 3, 7, 5)
    assert tensors.shares_memory(x, big)
    with pytest.raises(ValueError, match=r"must be \(N, C\)"):
        tensors.expand_map(big, 1, 1)


@pytest.mark.parametrize(
    ("tensor", "word"),
    [
        (torch.zeros(2, 3), "contiguous"),
        (torch.zeros(1, 5).T, "contiguous"),
        (torch.zeros(2, 3).T, "not contiguous"),
        (torch.zeros(2, 3, 4, 4).to(memory_format=torch.channels_last), "channels_last"),
        (torch.zeros(2, 1).expand(2, 3), "expanded"),
        (torch.zeros(2, requires_grad=True), "leaf with gradient"),
        (torch.zeros(2, requires_grad=True) * 2, "in the graph (MulBackward0)"),
        (torch.zeros(0), "(0,) float32 cpu"),
        (torch.eye(3).to_sparse(), "(3, 3) float32 cpu, sparse_coo"),
    ],
)
def test_describe(tensor, word):
    assert word in tensors.describe(tensor)


@pytest.mark.parametrize(
    ("shape", "pattern", "fits"),
    [
        ((8, 3, 4, 4), "N 3 H H", True),
        ((8, 3, 4, 5), "N 3 H H", False),
        ((8, 3, 4), "N 3 H W", False),
        ((8, 4), "N ...", True),
        ((8, 1, 2, 4), "N ... 4", True),
        ((8,), "N ... 4", False),
        ((), "...", True),
        ((2, 9), "2 _", True),
    ],
)
def test_check_shape(shape, pattern, fits):
    if fits:
        tensors.check_shape(torch.zeros(shape), pattern)
        return
    with pytest.raises(ValueError, match="it must be"):
        tensors.check_shape(torch.zeros(shape), pattern)


def test_check_shape_binds_sizes():
    with pytest.raises(ValueError, match=r"with \{'N': 3\}"):
        tensors.check_shape(torch.zeros(2, 3), "N C", N=3)

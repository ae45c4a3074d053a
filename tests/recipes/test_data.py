import io
import multiprocessing
import os
import pickle
from collections import Counter

import h5py
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from torchlore.recipes import data
from torchlore.recipes.seed import rng_state

QUICK = settings(deadline=None, max_examples=60)


def picture(size=(32, 24), mode="RGB"):
    y, x = np.mgrid[: size[1], : size[0]]
    array = np.stack([x * 7 % 256, y * 9 % 256, (x + y) * 3 % 256], -1).astype(np.uint8)
    return Image.fromarray(array).convert(mode)


def encode(image, kind, **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def rgb(image):
    return torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1)


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P", "LA", "RGBA"])
def test_png_of_any_mode_is_decoded_right(mode):
    image = picture(mode=mode)
    found = data.decode_image(encode(image, "PNG"))
    assert found.dtype == torch.uint8
    assert torch.equal(found, rgb(image))


def test_a_jpeg_is_what_pil_gives_up_to_rounding():
    for options in ({}, {"progressive": True}, {"subsampling": 0}):
        raw = encode(picture((200, 120)), "JPEG", **options)
        found = data.decode_image(raw).int()
        assert (found - rgb(Image.open(io.BytesIO(raw))).int()).abs().max() <= 2
    grey = encode(picture(mode="L"), "JPEG")
    assert (data.decode_image(grey).int() - rgb(Image.open(io.BytesIO(grey))).int()).abs().max() <= 1


def test_cmyk_is_converted():
    raw = encode(picture(mode="CMYK"), "JPEG", quality=100)
    found = data.decode_image(raw)
    assert (found.float() - rgb(picture()).float()).abs().mean() < 6


def test_16_bits_keep_their_contrast():
    deep = np.arange(0, 65536, 64, dtype=np.uint16).reshape(32, 32)
    for kind in ("PNG", "TIFF"):
        found = data.decode_image(encode(Image.fromarray(deep), kind))
        assert torch.equal(found[0], torch.from_numpy((deep >> 8).astype(np.uint8)))
        assert found[0].unique().numel() == 256
    wide = Image.fromarray(np.array([[0, 70000]], dtype=np.int32))
    with pytest.raises(data.BrokenImageError, match="no 16-bit picture"):
        data.decode_image(encode(wide, "TIFF"))
    with pytest.raises(data.BrokenImageError, match="floating-point pixels"):
        data.decode_image(encode(Image.fromarray(np.ones((2, 2), np.float32)), "TIFF"))


def test_transparency_shows_the_background_and_not_what_is_below():
    image = Image.new("RGBA", (4, 4), (200, 10, 10, 0))
    image.putpixel((0, 0), (9, 8, 7, 255))
    found = data.decode_image(encode(image, "PNG"))
    assert found[:, 0, 0].tolist() == [9, 8, 7]
    assert found[:, 1, 1].tolist() == [255, 255, 255]
    assert data.decode_image(encode(image, "PNG"), background=0)[:, 1, 1].tolist() == [0, 0, 0]
    palette = Image.new("P", (2, 1), 1)
    palette.putpalette([255, 0, 0, 0, 255, 0])
    raw = encode(palette, "PNG", transparency=1)
    assert data.decode_image(raw)[:, 0, 0].tolist() == [255, 255, 255]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_turns_the_picture(orientation):
    image = picture((40, 24))
    exif = Image.Exif()
    exif[0x0112] = orientation
    found = data.decode_image(encode(image, "PNG", exif=exif))
    turns = {
        1: None,
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    wanted = image if turns[orientation] is None else image.transpose(turns[orientation])
    assert torch.equal(found, rgb(wanted))
    jpeg = data.decode_image(encode(image, "JPEG", exif=exif))
    assert jpeg.shape == found.shape


def test_of_an_animation_the_first_frame_is_taken():
    frames = [Image.new("P", (8, 8), color) for color in (0, 1, 2)]
    for frame in frames:
        frame.putpalette([250, 0, 0, 0, 250, 0, 0, 0, 250])
    raw = encode(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert data.decode_image(raw)[:, 0, 0].tolist() == [250, 0, 0]


def bomb():
    """A PNG header that promises 50,000 by 50,000 pixels."""
    import struct
    import zlib

    body = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + body
    data_chunk = b"IDAT" + zlib.compress(b"\0" * 100)
    png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", len(body)) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png + struct.pack(">I", len(data_chunk) - 4) + data_chunk + struct.pack(">I", zlib.crc32(data_chunk))


BROKEN = {
    "empty": b"",
    "text": b"hello, this is no picture",
    "bomb": bomb(),
    "cut jpeg": encode(picture((200, 120)), "JPEG")[:900],
    "cut png": encode(picture((200, 120)), "PNG")[:-200],
    "cut gif": encode(picture((200, 120), "P"), "GIF")[:60],
    "jpeg header only": encode(picture(), "JPEG")[:20],
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_picture_is_named(tmp_path, name):
    path = tmp_path / "broken.jpg"
    path.write_bytes(BROKEN[name])
    with pytest.raises(data.BrokenImageError, match=r"broken\.jpg"):
        data.decode_image(path)
    with pytest.raises(data.BrokenImageError, match="cannot be read"):
        data.decode_image(tmp_path / "absent.jpg")


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_a_damaged_file_gives_a_picture_or_the_error_and_nothing_else(draw):
    raw = bytearray(encode(picture(), draw.draw(st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM"]))))
    for _ in range(draw.draw(st.integers(1, 6))):
        raw[draw.draw(st.integers(0, len(raw) - 1))] = draw.draw(st.integers(0, 255))
    try:
        found = data.decode_image(bytes(raw), most_pixels=1_000_000)
    except data.BrokenImageError:
        return
    assert found.dtype == torch.uint8
    assert found.ndim == 3


def test_a_large_picture_is_refused_before_it_is_decoded():
    for kind in ("PNG", "JPEG"):
        with pytest.raises(data.BrokenImageError, match="32 x 24 pixels, more than 700"):
            data.decode_image(encode(picture(), kind), most_pixels=700)


def folder(root, **classes):
    for name, files in classes.items():
        (root / name).mkdir()
        for file, content in files.items():
            (root / name / file).write_bytes(content)
    return root


GOOD = encode(picture(), "PNG")


def test_a_folder_gives_pictures_and_names(tmp_path):
    root = folder(
        tmp_path, cat={"b.png": GOOD, "a.PNG": GOOD, "notes.txt": b"", ".hidden.png": b""}, dog={"c.png": GOOD}
    )
    (root / ".git").mkdir()
    (root / "cat" / "deep").mkdir()
    (root / "cat" / "deep" / "ünï.png").write_bytes(GOOD)
    found = data.ImageFolder(root, transform=lambda x: x.shape)
    assert [str(found.path(i).relative_to(root)) for i in range(len(found))] == [
        "cat/a.PNG",
        "cat/b.png",
        "cat/deep/ünï.png",
        "dog/c.png",
    ]
    assert found[3] == ((3, 24, 32), 1)
    assert len(list(DataLoader(data.ImageFolder(root), num_workers=2))) == 4


def test_broken_pictures_are_skipped_and_listed_or_raised(tmp_path):
    root = folder(tmp_path, cat={"a.png": GOOD, "bad.jpg": b"", "cut.jpg": BROKEN["cut jpeg"]}, dog={"c.png": GOOD})
    skipping = data.ImageFolder(root, broken="skip")
    assert len(skipping) == 2
    assert [(one.path.name, "empty" in one.reason) for one in skipping.broken] == [
        ("bad.jpg", True),
        ("cut.jpg", False),
    ]
    raising = data.ImageFolder(root)
    assert len(raising) == 4
    with pytest.raises(data.BrokenImageError, match=r"bad\.jpg is empty"):
        raising[1]
    (root / "dog" / "c.png").write_bytes(b"")
    with pytest.raises(ValueError, match="no picture of the class 'dog' can be read"):
        data.ImageFolder(root, broken="skip")
    with pytest.raises(ValueError, match="broken is"):
        data.ImageFolder(root, broken="ignore")


def test_a_split_without_a_class_keeps_the_labels(tmp_path):
    folder(tmp_path, dog={"c.png": GOOD})
    found = data.ImageFolder(tmp_path, classes=["cat", "dog"])
    assert found[0][1] == 1
    with pytest.raises(ValueError, match="the class 'dog', which is not among"):
        data.ImageFolder(tmp_path, classes=["cat", "cow"])


def test_folders_that_cannot_be_meant_are_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        data.ImageFolder(tmp_path / "absent")
    with pytest.raises(ValueError, match="no class folders"):
        data.ImageFolder(tmp_path)
    folder(tmp_path, cat={"a.png": GOOD})
    with pytest.raises(ValueError, match="one class 'cat'"):
        data.ImageFolder(tmp_path)
    folder(tmp_path, dog={})
    with pytest.raises(ValueError, match=r"class 'dog' of .* has no pictures"):
        data.ImageFolder(tmp_path)
    folder(tmp_path, Cat={"a.png": GOOD})
    with pytest.raises(ValueError, match="differ only in case: Cat and cat"):
        data.ImageFolder(tmp_path)


def test_links_out_of_the_folder_are_refused_and_loops_end(tmp_path):
    outside = folder(tmp_path / "..", **{tmp_path.name + "-outside": {"x.png": GOOD}}) / (tmp_path.name + "-outside")
    root = tmp_path / "root"
    root.mkdir()
    folder(root, cat={"a.png": GOOD}, dog={"b.png": GOOD})
    (root / "cat" / "loop").symlink_to(root / "cat")
    assert len(data.ImageFolder(root)) == 2
    (root / "cat" / "link.png").symlink_to(outside / "x.png")
    with pytest.raises(ValueError, match="leads out of"):
        data.ImageFolder(root)
    assert len(data.ImageFolder(root, follow_links=True)) == 3


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8), max_size=10))
@QUICK
def test_packed_texts_come_back(texts):
    packed = data.PackedStrings(texts)
    assert [packed[i] for i in range(len(packed))] == texts
    assert [packed[-i - 1] for i in range(len(packed))] == texts[::-1]
    with pytest.raises(IndexError):
        packed[len(texts)]


def h5(path, layout):
    with h5py.File(path, "w") as file:
        if layout == "arrays":
            file["data"] = np.arange(24.0, dtype=np.float32).reshape(12, 2)
            file["target"] = np.arange(12)
        else:
            for i in range(12):
                file[f"{i}/data"] = np.array([2.0 * i, 2 * i + 1], dtype=np.float32)
                file[f"{i}/target"] = i
    return path


@pytest.mark.parametrize("layout", ["arrays", "groups"])
@pytest.mark.parametrize(
    ("workers", "method"), [(0, None), (2, "fork"), pytest.param(2, "spawn", marks=pytest.mark.long)]
)
def test_hdf5_with_any_number_of_workers(tmp_path, layout, workers, method):
    found = data.H5Dataset(h5(tmp_path / "a.h5", layout), ["data", "target"])
    found[3]  # the parent has the file open when it forks
    loader = DataLoader(found, 2, shuffle=True, num_workers=workers, multiprocessing_context=method)
    rows = [(x, int(y)) for _ in range(2) for xs, ys in loader for x, y in zip(xs, ys, strict=True)]
    assert Counter(y for _, y in rows) == dict.fromkeys(range(12), 2)
    assert all(x.tolist() == [2.0 * y, 2.0 * y + 1] for x, y in rows)


def test_hdf5_travels_without_its_handle_and_opens_once(tmp_path):
    found = data.H5Dataset(h5(tmp_path / "a.h5", "arrays"), ["data"], transform=lambda x: x)
    found[0]
    handle = found._file
    found[1]
    assert found._file is handle
    found.transform = None
    twin = pickle.loads(pickle.dumps(found))
    assert twin._file is None
    assert torch.equal(twin[5], torch.tensor([10.0, 11.0]))
    assert torch.equal(twin[-1], torch.tensor([22.0, 23.0]))


def test_a_forked_child_opens_its_own_handle(tmp_path):
    found = data.H5Dataset(h5(tmp_path / "a.h5", "arrays"), ["data"])
    found[0]
    owner = found._owner
    loader = DataLoader(found, num_workers=1, worker_init_fn=None, collate_fn=lambda rows: (os.getpid(), len(rows)))
    assert {pid for pid, _ in loader} != {owner}
    assert found._owner == owner == os.getpid()


def test_hdf5_defaults_scalars_and_strange_types(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["big"] = np.arange(3, dtype=">i4")
        file["name"] = ["a", "b", "c"]
    big, name = data.H5Dataset(tmp_path / "a.h5")[1]
    assert (int(big), name) == (1, b"b")


def test_hdf5_says_what_is_wrong(tmp_path):
    with pytest.raises(FileNotFoundError, match="no HDF5 file"):
        data.H5Dataset(tmp_path / "none.h5")
    (tmp_path / "x.h5").write_bytes(b"hello")
    with pytest.raises(OSError, match=r"x\.h5 is not a whole HDF5 file"):
        data.H5Dataset(tmp_path / "x.h5")
    path = h5(tmp_path / "a.h5", "arrays")
    with pytest.raises(KeyError, match=r"fields names 'label', .* it has data, target"):
        data.H5Dataset(path, ["label"])
    with h5py.File(path, "a") as file:
        file["short"] = [1, 2]
    with pytest.raises(ValueError, match="differ in length"):
        data.H5Dataset(path)
    with h5py.File(tmp_path / "empty.h5", "w"):
        pass
    with pytest.raises(ValueError, match="is empty"):
        data.H5Dataset(tmp_path / "empty.h5")
    with pytest.raises(IndexError, match="sample 12"):
        data.H5Dataset(path, ["data"])[12]


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 4), st.booleans(), st.integers(0, 3))
@settings(deadline=None, max_examples=150)
def test_batches_of_all_ranks_are_one_permutation(count, size, world, drop, epoch):
    try:
        ranks = [data.EpochBatches(count, size, 7, drop_last=drop, rank=r, world=world).at(epoch) for r in range(world)]
    except ValueError:
        assert count < (size * world if drop else world)
        return
    batches = [list(one) for one in ranks]
    assert len({len(one) for one in batches}) == 1
    assert len(batches[0]) == len(ranks[0])
    seen = [index for one in batches for batch in one for _, index in batch]
    assert len(set(seen)) == len(seen)
    assert count - len(seen) < (size * world if drop else world)
    assert all(key[0] == epoch for one in batches for batch in one for key in batch)
    single = [index for batch in data.EpochBatches(count, size * world, 7).at(epoch) for _, index in batch]
    for step in range(len(batches[0])):
        together = {index for one in batches for _, index in one[step]}
        assert together <= set(single[step * size * world : (step + 1) * size * world])


@given(st.integers(1, 50), st.integers(1, 9), st.integers(0, 30))
@QUICK
def test_any_step_is_reached_at_once(count, size, step):
    sampler = data.EpochBatches(count, size, 3)
    endless = [batch for epoch in range(32) for batch in sampler.at(epoch)]
    resumed = data.EpochBatches(count, size, 3)
    resumed.load_state_dict(sampler.at(0, step).state_dict())
    assert list(resumed) == endless[step : step + len(sampler) - step % len(sampler)]
    assert next(iter(resumed)) == endless[(step // len(sampler)) * len(sampler)]


def test_orders_differ_between_epochs_and_seeds_and_can_be_plain():
    orders = {tuple(data.permutation(50, seed, epoch).tolist()) for seed in range(3) for epoch in range(3)}
    assert len(orders) == 9
    plain = data.EpochBatches(5, 2, 0, shuffle=False)
    assert [[index for _, index in batch] for batch in plain] == [[0, 1], [2, 3], [4]]


def test_an_order_of_other_data_is_refused():
    state = data.EpochBatches(10, 2, 0).state_dict()
    with pytest.raises(ValueError, match="count=10, this one count=11"):
        data.EpochBatches(11, 2, 0).load_state_dict(state)
    with pytest.raises(ValueError, match="seed=0, this one seed=1"):
        data.EpochBatches(10, 2, 1).load_state_dict(state)
    for bad in ({"batch_size": 0}, {"rank": 2, "world": 2}, {"count": 0}):
        with pytest.raises(ValueError, match=r"."):
            data.EpochBatches(**{"count": 5, "batch_size": 2, "seed": 0, **bad})
    with pytest.raises(ValueError, match="at least 0"):
        data.EpochBatches(5, 2, 0).at(-1)


class Noise(Dataset):
    def __len__(self):
        return 13

    def __getitem__(self, index):
        return torch.tensor([index, torch.rand(1).item(), np.random.rand()])  # noqa: NPY002 - the global one is meant


def collected(workers, start, epochs=2):
    wrapped, batches = data.Seeded(Noise(), 5), data.EpochBatches(13, 4, 5)
    loader = DataLoader(wrapped, batch_sampler=batches, num_workers=workers, persistent_workers=workers > 0)
    rows = []
    for epoch in range(epochs):
        batches.at(epoch, start if epoch == 0 else 0)
        rows += list(loader)
    return rows


def test_samples_do_not_depend_on_workers_or_on_where_one_starts():
    whole = collected(0, 0)
    for workers, start in [(2, 0), (1, 3), (0, 2)]:
        part = collected(workers, start)
        assert len(part) == len(whole) - start
        assert all(torch.equal(a, b) for a, b in zip(part, whole[start:], strict=True))
    values = torch.cat(whole)[:, 1]
    assert len(values.unique()) == len(values)


def test_making_a_sample_draws_nothing_from_the_training_loop():
    before = rng_state()
    data.Seeded(Noise(), 5)[2, 3]
    after = rng_state()
    assert torch.equal(before["torch"], after["torch"])
    assert torch.equal(before["numpy"]["key"], after["numpy"]["key"])


@given(st.integers(0, 200), st.integers(1, 9))
@QUICK
def test_evaluation_sees_every_sample_exactly_once(count, world):
    seen = sorted(index for rank in range(world) for index in data.shard(count, rank, world))
    assert seen == list(range(count))
    with pytest.raises(ValueError, match="rank is"):
        data.shard(count, world, world)


def test_the_sampler_of_torch_counts_some_twice():
    seen = [i for rank in range(2) for i in DistributedSampler(range(5), 2, rank, shuffle=False)]
    assert len(seen) == 6


LABELS = st.lists(st.integers(0, 6), min_size=1, max_size=60)


@given(LABELS, st.integers(1, 4), st.integers(1, 4), st.integers(0, 5))
@settings(deadline=None, max_examples=120)
def test_pk_batches_hold_p_classes_of_k(labels, p, k, epoch):
    if p > len(set(labels)):
        with pytest.raises(ValueError, match="classes is"):
            data.PKBatches(labels, p, k, 0)
        return
    sampler = data.PKBatches(labels, p, k, 0, batches=7)
    batches = list(sampler.at(epoch))
    assert len(batches) == len(sampler) == 7
    visits = Counter()
    for batch in batches:
        counts = Counter(labels[index] for _, index in batch)
        assert len(counts) == p
        assert set(counts.values()) == {k}
        visits.update(counts.keys())
        for label in counts:
            mine = [index for _, index in batch if labels[index] == label]
            if labels.count(label) % k == 0:
                assert len(set(mine)) == k
    assert max(visits.values()) - min([visits[c] for c in set(labels)]) <= 1
    assert list(sampler.at(epoch)) == batches
    assert list(sampler.at(epoch, 3)) == batches[3:]


@given(LABELS, st.integers(0, 4))
@settings(deadline=None, max_examples=100)
def test_balanced_draws_are_balanced_and_reach_everything(labels, epoch):
    sampler = data.BalancedSampler(labels, 1)
    drawn = list(sampler.at(epoch))
    counts = Counter(labels[index] for _, index in drawn)
    assert len(drawn) == len(labels)
    assert max(counts.values()) - min([counts[c] for c in set(labels)]) <= 1
    assert list(sampler.at(epoch, len(labels) // 2)) == drawn[len(labels) // 2 :]
    if epoch == 0:
        largest = Counter(labels).most_common(1)[0][1]
        share = len(labels) // len(set(labels))
        many = -(-largest // max(share, 1)) + 1
        seen = {index for number in range(many) for _, index in sampler.at(number)}
        assert share == 0 or seen == set(range(len(labels)))


@pytest.mark.parametrize("labels", [[], [0.5, 1.0], [[0, 1]]])
def test_labels_must_be_whole_numbers(labels):
    with pytest.raises(ValueError, match="whole numbers"):
        data.BalancedSampler(labels, 0)


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 0.5),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({}, None),
    ],
)
def test_the_quota_of_a_container_is_read(tmp_path, files, wanted):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert data._quota(tmp_path) == wanted
    allowed = len(os.sched_getaffinity(0))
    assert data.cpus(tmp_path) == max(1, min(allowed, int(wanted) if wanted else allowed))


def test_loader_options_work_and_fit_the_shared_memory(monkeypatch):
    batch = {"x": torch.zeros(1 << 20)}
    options = data.loader_options(batch=batch, ranks=1)
    assert 1 <= options["num_workers"] <= 16
    assert options["pin_memory"] is False
    assert len(list(DataLoader(Noise(), 4, **options))) == 4
    monkeypatch.setattr(data, "shared_memory", lambda: 64 << 20)
    monkeypatch.setattr(data, "cpus", lambda: 8)
    assert data.loader_options(batch=batch)["num_workers"] == 3
    assert data.loader_options(batch=batch, ranks=4)["num_workers"] == 0
    with pytest.raises(ValueError, match="8 workers need 72 MiB of shared memory and 32 MiB"):
        data.loader_options(batch=batch, workers=8)
    with pytest.raises(ValueError, match="ranks is 0"):
        data.loader_options(ranks=0, workers=1)
    assert multiprocessing.active_children() == []

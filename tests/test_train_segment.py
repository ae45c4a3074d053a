"""Segmentation: labels are never interpolated, figures equal independent references, bad masks are refused by name."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch import Tensor, nn

from torchlore.cli import main
from torchlore.recipes import metrics
from torchlore.recipes.checkpoint import load
from torchlore.recipes.losses import multiclass_dice_loss
from torchlore.train import fit as fitting
from torchlore.train import segment
from torchlore.train.batches import Batch, whole
from torchlore.train.run import Refused, Run, checked, defaults
from torchlore.train.samples import Data
from torchlore.train.segment.codes import Codes, read_raw, wheel
from torchlore.train.segment.pairs import IGNORE, Pairs, nearest, window
from torchlore.train.segment.showing import Found, summary
from torchlore.train.segment.slide import slide, starts
from torchlore.train.segment.unet import UNet
from torchlore.train.setup import Ready, ready

QUICK = ("--task", "segment", "--no-watch", "--epochs", "1", "--workers", "0", "--batch-size", "4", "--size", "16")
PALETTE = [0, 0, 0, 200, 30, 30, 30, 30, 200]
TINY = f"{Path(__file__).with_name('plain_model.py')}:pixels"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def labels(number: int, height: int = 20, width: int = 24) -> np.ndarray:
    """Two blocks on a background, and a stripe that counts nowhere."""
    mask = np.zeros((height, width), np.uint8)
    mask[2 : 8 + number % 4, 3:10] = 1
    mask[10:18, 12 : 18 + number % 5] = 2
    mask[0, :] = IGNORE
    return mask


def pictured(mask: np.ndarray, number: int = 0) -> Image.Image:
    noise = np.random.default_rng(number).integers(0, 40, (*mask.shape, 3))
    colours = np.array([(40, 40, 40), (190, 60, 60), (60, 60, 190)])[np.where(mask == IGNORE, 0, mask)]
    return Image.fromarray((colours + noise).astype(np.uint8))


def indexed(mask: np.ndarray) -> Image.Image:
    image = Image.fromarray(mask).convert("L")
    image = Image.frombytes("P", image.size, mask.tobytes())
    image.putpalette(PALETTE + [0, 0, 0] * 253)
    return image


def folders(root: Path, count: int = 8) -> Path:
    for name in ("images", "masks"):
        (root / name).mkdir(parents=True)
    for number in range(count):
        mask = labels(number, 20 + number % 3, 24)
        pictured(mask, number).save(root / "images" / f"{number}.png")
        indexed(mask).save(root / "masks" / f"{number}.png")
    return root


def run_of(data: Path, **changes: object) -> Run:
    return replace(defaults("segment"), data=str(data), size=16, watch=False, **changes)  # type: ignore[arg-type]


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The one line with which a command ends."""
    assert main([str(word) for word in words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    return err


# ---- figures against independent references


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 6), st.integers(1, 400), st.integers(0, 10**6), st.sampled_from(["any", "absent", "ignored"]))
def test_figures_equal_scikit_learn_and_the_definition(classes: int, pixels: int, seed: int, kind: str) -> None:
    """One matrix over several pictures, with classes that never occur, pixels that do not count, empty masks."""
    from sklearn.metrics import accuracy_score, jaccard_score

    generator = torch.Generator().manual_seed(seed)
    top = 1 if kind == "absent" else classes
    truth = torch.randint(0, top, (3, pixels), generator=generator)
    said = torch.randint(0, max(1, top - seed % 2), (3, pixels), generator=generator)
    truth[torch.rand(3, pixels, generator=generator) < 0.3] = IGNORE
    if kind == "ignored":
        truth[0] = IGNORE
    truth[2, 0] = 0
    matrix = sum(metrics.confusion_matrix(s, t, classes, ignore_index=IGNORE) for s, t in zip(said, truth, strict=True))
    figures = summary(Found(matrix, 0.0, 3, ()))
    keep = truth != IGNORE
    true, guess = truth[keep].numpy(), said[keep].numpy()
    present = sorted(set(true) | set(guess))
    wanted = jaccard_score(true, guess, labels=present, average="macro", zero_division=0)
    assert figures["miou"] == pytest.approx(wanted, abs=1e-6)
    assert figures["weighted_iou"] == pytest.approx(
        jaccard_score(true, guess, labels=present, average="weighted", zero_division=0), abs=1e-6
    )
    assert figures["pixel_accuracy"] == pytest.approx(accuracy_score(true, guess))
    assert figures["pixels"] == len(true)
    for label, value in enumerate(metrics.iou(matrix).tolist()):
        there, here = set(np.flatnonzero(true == label)), set(np.flatnonzero(guess == label))
        assert value == pytest.approx(len(there & here) / max(1, len(there | here)))


def test_a_mean_over_pictures_is_not_what_is_given() -> None:
    """A picture with three pixels of a class must not weigh as much as one with three thousand."""
    small = metrics.confusion_matrix(torch.tensor([0, 0, 0]), torch.tensor([0, 0, 1]), 2)
    large = metrics.confusion_matrix(torch.ones(3000, dtype=torch.long), torch.ones(3000, dtype=torch.long), 2)
    assert float(metrics.iou(small + large, "macro")) == pytest.approx((2 / 3 + 3000 / 3001) / 2)


def test_losses_count_every_picture_alike_and_leave_ignored_pixels_out() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(4, 3, 6, 5, generator=generator)
    masks = torch.randint(0, 3, (4, 6, 5), generator=generator)
    masks[0, :4] = IGNORE
    masks[1] = IGNORE  # nothing counts: 0, not nan
    for word in ("ce", "dice", "iou"):
        each = segment.each(word, logits, masks)
        assert each.shape == (4,)
        assert float(each[1]) == 0
        alone = torch.cat([segment.each(word, logits[i : i + 1], masks[i : i + 1]) for i in range(4)])
        assert torch.allclose(each, alone, atol=1e-6)
        hidden = logits.clone()
        hidden[0, :, :4] = 99.0
        if word == "ce":
            hidden[0, 0, :4] = -99.0
        assert torch.allclose(segment.each(word, hidden, masks), each, atol=1e-6)
    keep = masks[0] != IGNORE
    literal = nn.functional.cross_entropy(logits[0][:, keep].T, masks[0][keep])
    assert float(segment.each("ce", logits, masks)[0]) == pytest.approx(float(literal))
    assert float(segment.each("dice", logits[2:3], masks[2:3])) == pytest.approx(
        float(multiclass_dice_loss(logits[2:3], masks[2:3])), abs=1e-6
    )


# ---- windows


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(4, 24),
    st.sampled_from(["none", "shift", "flip", "crop"]),
    st.integers(0, 10**6),
)
def test_windows_move_picture_and_mask_alike_and_invent_no_label(
    height: int, width: int, size: int, augment: str, seed: int
) -> None:
    """The picture's channels say what the mask says, so a window that moved one without the other would show."""
    generator = torch.Generator().manual_seed(seed)
    mask = torch.randint(0, 2, (height, width), generator=generator).to(torch.uint8) * 200  # 100 would be interpolated
    picture = mask.expand(3, -1, -1)
    row = torch.rand(8, generator=generator)
    got, labels = window(picture, mask, row, size, augment)
    assert got.shape == (3, size, size)
    assert labels.shape == (size, size)
    assert set(labels.unique().tolist()) <= {0, 200, IGNORE}
    if augment != "crop":
        seen = labels != IGNORE
        assert torch.equal(got[0][seen], labels[seen])
        assert not got[0][~seen].any()
    again = window(picture, mask, row, size, augment)
    assert torch.equal(again[0], got)
    assert torch.equal(again[1], labels)


def test_a_rescaled_window_shows_the_place_its_mask_shows() -> None:
    """A bright square: after any crop the bright pixels and the labelled ones are the same but for its edge."""
    mask = torch.zeros(60, 60, dtype=torch.uint8)
    mask[20:40, 15:45] = 1
    for seed in range(20):
        row = torch.rand(8, generator=torch.Generator().manual_seed(seed))
        picture, labels = window((mask * 255).expand(3, -1, -1), mask, row, 32, "crop")
        wrong = ((picture[0] > 127) != (labels == 1)) & (labels != IGNORE)
        assert int(wrong.sum()) <= 40


def test_nearest_labels_are_those_of_pillow() -> None:
    mask = torch.randint(0, 9, (37, 53), dtype=torch.uint8)
    for size in ((10, 10), (80, 33), (37, 53), (1, 1)):
        wanted = Image.fromarray(mask.numpy()).resize((size[1], size[0]), Image.Resampling.NEAREST)
        assert torch.equal(nearest(mask, *size), torch.from_numpy(np.array(wanted)))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 70), st.integers(1, 70), st.integers(1, 24))
def test_windows_cover_a_picture_and_their_mean_is_the_model(height: int, width: int, size: int) -> None:
    """For a model that looks at one pixel the sliding window must change nothing."""
    picture = torch.randn(1, 2, height, width)
    pointwise = nn.Conv2d(2, 3, 1)
    with torch.no_grad():
        assert torch.allclose(slide(pointwise, picture, size), pointwise(picture), atol=1e-5)
    for length in (height, width):
        first = starts(length, size)
        covered = {at + i for at in first for i in range(size)}
        assert covered >= set(range(length))
        assert max(first) + size == max(length, size)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (15, 17), (33, 64), (50, 7)])
def test_a_unet_takes_every_size(size: tuple[int, int]) -> None:
    net = UNet(3, 4, width=4).eval()
    with torch.no_grad():
        assert net(torch.rand(2, 3, *size)).shape == (2, 4, *size)


@pytest.mark.parametrize("name", ["lraspp_mobilenet_v3_large", "deeplabv3_mobilenet_v3_large", "fcn_resnet50"])
def test_torchvision_networks_give_every_class_for_every_pixel(name: str) -> None:
    run = replace(defaults("segment"), model=name, batch_size=2, loss="ce")
    data = segment.open_data(defaults("segment"))
    built = segment.build_model(run, data)
    pictures, masks = torch.rand(2, 3, 40, 48), torch.randint(0, 5, (2, 40, 48))
    torch.manual_seed(0)  # for the dropout inside
    said = built.model.train()(pictures)
    assert said["out"].shape == (2, 5, 40, 48)
    assert ("aux" in said) == (not name.startswith("lraspp"))
    batch = Batch(0, 0, pictures, masks, 2, torch.arange(2))
    torch.manual_seed(0)
    value = segment.loss(run, lambda x: x, torch.device("cpu"))(built.model, batch)
    weights = {"out": 1.0, "aux": segment.AUX}
    wanted = sum(weights[name] * nn.functional.cross_entropy(one, masks) for name, one in said.items())
    assert value.item() == pytest.approx(wanted.item(), rel=1e-4)
    value.backward()
    assert all(p.grad is not None for p in built.model.parameters())  # DDP waits for each of them
    assert [built.model.get_submodule(head).out_channels for head in built.heads] == [5] * len(built.heads)
    with torch.no_grad():
        assert built.model.eval()(pictures).shape == (2, 5, 40, 48)


# ---- data


def test_folders_train_and_test_and_the_palette_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = folders(tmp_path / "data", 12)
    found = segment.open_data(run_of(root))
    assert found.classes == ("0", "1", "2")
    assert isinstance(found.train, Pairs)
    assert found.train.colours == ((0, 0, 0), (200, 30, 30), (30, 30, 200))
    for part in (found.train, found.val, found.test):
        for batch in whole(part, 1):
            name = part.names[int(batch.indices)]
            number = int(Path(name.split("|")[0]).stem)
            assert torch.equal(batch.labels[0], torch.from_numpy(labels(number, 20 + number % 3)))
    assert main(["train", str(root), "--out", str(tmp_path / "runs"), "--name", "a", "--model", TINY, *QUICK]) == 0
    out = capsys.readouterr().out
    assert "test mIoU" in out
    run = tmp_path / "runs" / "a"
    told = json.loads((run / "test.json").read_text())
    assert set(told["classes"]) == {"0", "1", "2"}
    assert sum(map(sum, told["confusion"])) == told["pixels"] > 0
    assert (run / "test.csv").read_text().splitlines()[0] == "Class,IoU,Dice,Precision,Recall,Pixels"
    assert "data:image/jpeg;base64," in (run / "report.html").read_text()
    other = folders(tmp_path / "other", 3)
    assert main(["test", str(run), str(other)]) == 0
    again = json.loads((run / "test-other" / "test.json").read_text())
    assert again["samples"] == 3
    assert main(["export", str(run), "--to", "torch"]) == 0


def test_colours_are_read_through_the_table(tmp_path: Path) -> None:
    root = folders(tmp_path / "data", 6)
    table = {0: (10, 20, 30), 1: (200, 0, 0), 2: (0, 0, 200), IGNORE: (255, 255, 255)}
    for number in range(6):
        mask = labels(number, 20 + number % 3)
        coloured = np.zeros((*mask.shape, 3), np.uint8)
        for label, colour in table.items():
            coloured[mask == label] = colour
        Image.fromarray(coloured).save(root / "masks" / f"{number}.png")
    (root / "classes.csv").write_text("name,colour\nfloor,#0a141e\nred,#c80000\nblue,#0000C8\nignore,#ffffff\n")
    found = segment.open_data(run_of(root))
    assert found.classes == ("floor", "red", "blue")
    assert isinstance(found.train, Pairs)
    assert found.train.colours == ((10, 20, 30), (200, 0, 0), (0, 0, 200))
    for index, name in enumerate(found.train.names[i] for i in range(len(found.train.names))):
        number = int(Path(name.split("|")[0]).stem)
        assert torch.equal(found.train.fetch([index], None)[1][0], torch.from_numpy(labels(number, 20 + number % 3)))


def test_masks_of_0_and_255_are_named_and_read_with_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = folders(tmp_path / "data", 6)
    for number in range(6):
        mask = np.where(labels(number, 20 + number % 3) == 1, 255, 0).astype(np.uint8)
        Image.fromarray(mask).save(root / "masks" / f"{number}.png")
    line = refused(capsys, "train", root, *QUICK, "--out", tmp_path / "runs")
    assert "only 0 and 255" in line
    (root / "classes.csv").write_text("name,value\nbackground,0\ncell,255\n")
    found = segment.open_data(run_of(root))
    assert found.classes == ("background", "cell")
    assert set(found.train.fetch([0], None)[1].unique().tolist()) == {0, 1}


def test_split_folders_and_a_manifest(tmp_path: Path) -> None:
    root = tmp_path / "data"
    for name, count in (("train", 5), ("val", 2), ("test", 3)):
        folders(root / name, count)
    found = segment.open_data(run_of(root))
    assert [len(part.labels) for part in (found.train, found.val, found.test)] == [5, 2, 3]
    lines = [f"train/images/{i}.png,train/masks/{i}.png,{'val' if i == 4 else 'train'}" for i in range(5)]
    (root / "list.csv").write_text("\n".join(["path,mask,split", *lines]) + "\n")
    found = segment.open_data(run_of(root / "list.csv", val=0.0))
    assert [len(part.labels) for part in (found.train, found.val, found.test)] == [4, 1, 0]


def test_bad_masks_are_refused_by_name_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = folders(tmp_path / "data", 6)
    words = ("train", root, *QUICK, "--out", tmp_path / "runs")
    good = (root / "masks" / "3.png").read_bytes()

    def with_mask(image: Image.Image) -> str:
        image.save(root / "masks" / "3.png")
        return refused(capsys, *words)

    assert "masks/3.png has 24 x 21 pixels and its picture images/3.png 24 x 20" in with_mask(indexed(labels(3, 21)))
    wide = labels(3)
    wide[5, 5] = 77
    assert "the masks hold the labels 0, 1, 2, 77" in with_mask(indexed(wide))
    (root / "classes.csv").write_text("name\nfloor\nred\nblue\n")
    assert "masks/3.png holds the label 77, which is none of the 3 classes'" in with_mask(indexed(wide))
    assert "3.png is a mask in colours (mode RGB)" in with_mask(pictured(labels(3)))
    (root / "classes.csv").write_text("name,colour\nfloor,#000000\nred,#c81e1e\nblue,#1e1ec8\nignore,#ffffff\n")
    strange = indexed(np.where(labels(3) == IGNORE, 0, labels(3)).astype(np.uint8)).convert("RGB")
    for number in range(6):
        strange.resize((24, 20 + number % 3), 0).save(root / "masks" / f"{number}.png")
    strange.putpixel((4, 4), (1, 2, 3))
    assert "masks/3.png holds the colour #010203, which classes.csv does not name" in with_mask(strange)
    (root / "classes.csv").write_text("name,colour\nfloor,black\n")
    assert "classes.csv line 2: 'black' is not a colour such as #804080" in refused(capsys, *words)
    (root / "classes.csv").unlink()
    (root / "masks" / "3.png").unlink()
    assert "images/3.png has no mask: expected masks/3.png" in refused(capsys, *words)
    (root / "masks" / "3.png").write_bytes(good)
    (root / "masks").rename(root / "elsewhere")
    assert "data has no folder 'masks'" in refused(capsys, *words)
    assert "there is no such folder" in refused(capsys, "train", tmp_path / "none", *QUICK)
    assert "--mixup does nothing for --task segment" in refused(capsys, *words, "--mixup", "0.2")
    assert "--loss of --task segment is made of ce, dice, iou; got 'mse'" in refused(capsys, *words, "--loss", "ce+mse")
    assert "'resnet18' gives no class for each pixel" in refused(capsys, "train", *QUICK, "--model", "resnet18")
    assert "unet has no weights of its own" in refused(capsys, "train", *QUICK, "--weights", "default")
    assert not (tmp_path / "runs").exists()


def test_broken_files_are_left_out_and_named(tmp_path: Path) -> None:
    root = folders(tmp_path / "data", 8)
    (root / "images" / "2.png").write_bytes(b"hello")
    (root / "masks" / "5.png").write_bytes((root / "masks" / "5.png").read_bytes()[:50])
    found = segment.open_data(run_of(root))
    assert {name for name, _ in found.skipped} == {"images/2.png", "masks/5.png"}
    assert sum(len(part.labels) for part in (found.train, found.val, found.test)) == 6


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = folders(tmp_path / "data", 4)
    pictured(labels(0)).save(tmp_path / "secret.png")
    (root / "images" / "9.png").symlink_to(tmp_path / "secret.png")
    assert "9.png leads out of images" in refused(capsys, "train", root, *QUICK)


def test_codes_of_any_numbers_round_trip() -> None:
    codes = Codes(("a", "b", "c"), (7, 0, 3, 9), by_colour=False, colours=wheel(3))
    raw = np.array([[0, 3, 7], [9, 8, 0]])
    assert codes.labels(raw).tolist() == [[1, 2, 0], [IGNORE, 254, 1]]


def test_a_16_bit_mask_keeps_its_numbers(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 300], [65535, 2]], np.uint16)).save(tmp_path / "deep.png")
    assert read_raw(tmp_path / "deep.png", by_colour=False)[0].tolist() == [[0, 300], [65535, 2]]


# ---- the shared loop


@pytest.fixture(scope="module")
def few() -> Data:
    data = segment.open_data(defaults("segment"))
    parts = {name: part.part(torch.arange(n)) for name, part, n in (("train", data.train, 40), ("val", data.val, 4))}
    return replace(data, **parts)


def trained(run: Run, data: Data, folder: Path, stop: int = 0) -> dict[str, Tensor]:
    for last in (stop, 0) if stop else (0,):
        made = ready(run, data)
        fitting.fit(made, folder, _killer(last) if last else None)
    return made.parts.model.state_dict()


def _killer(step: int):
    def show(made: Ready, stepped: object, since: float) -> None:
        if stepped.step + 1 == step:
            os.kill(os.getpid(), signal.SIGTERM)

    return show


@pytest.mark.parametrize("change", [{}, {"augment": "crop", "loss": "iou", "accumulate": 2}, {"workers": 1}])
def test_a_stopped_run_ends_with_the_same_bits(
    few: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object]
) -> None:
    ticks = iter(range(1, 10**9))
    monkeypatch.setattr(fitting.time, "monotonic", lambda: float(next(ticks)))
    run = replace(defaults("segment"), epochs=2, watch=False, model=TINY, **change)  # type: ignore[arg-type]
    wanted = trained(run, few, tmp_path / "whole")
    found = trained(run, few, tmp_path / "stopped", stop=4)
    assert all(torch.equal(wanted[name], found[name]) for name in wanted)


def test_the_test_pictures_are_the_same_for_every_seed_and_no_photograph_is_shared() -> None:
    one, two = (segment.open_data(replace(defaults("segment"), seed=seed)) for seed in (0, 1))
    assert torch.equal(one.test.fetch([5], None)[0], two.test.fetch([5], None)[0])
    assert not torch.equal(one.train.fetch([5], None)[0], two.train.fetch([5], None)[0])
    assert set(one.test.fetch(range(100), None)[1].unique().tolist()) == set(range(5))


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    """Numbers that two does not divide: 7 pictures to train on, batches of 3, a test split of 3."""
    root = tmp_path / "data"
    for name, count in (("train", 7), ("val", 3), ("test", 3)):
        folders(root / name, count)
    words = ["train", str(root), "--model", TINY, *QUICK, "--batch-size", "3", "--loss", "ce+dice", "--name", "run"]
    assert main([*words, "--out", str(tmp_path / "one")]) == 0
    elastic = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "torchlore")
    command = [sys.executable, *elastic, *words, "--out", str(tmp_path / "two")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    one, two = (tmp_path / name / "run" for name in ("one", "two"))
    weights = [load(run / "checkpoints" / "last.pt")["model"] for run in (one, two)]
    assert all(torch.allclose(weights[0][name], weights[1][name], atol=1e-5) for name in weights[0])
    told = [json.loads((run / "test.json").read_text()) for run in (one, two)]
    assert told[0]["samples"] == told[1]["samples"] == 3
    assert told[0]["confusion"] == told[1]["confusion"]


@pytest.mark.long
def test_the_example_learns(tmp_path: Path) -> None:
    """Well below what it reaches, so that another machine's rounding does not matter."""
    assert main(["train", "--task", "segment", "--no-watch", "--out", str(tmp_path), "--name", "run"]) == 0
    assert json.loads((tmp_path / "run" / "test.json").read_text())["miou"] > 0.7


def test_options_of_the_task_are_checked() -> None:
    with pytest.raises(Refused, match="--cutmix"):
        checked(replace(defaults("segment"), cutmix=1.0))

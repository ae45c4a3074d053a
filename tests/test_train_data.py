"""Data from outside: every layout trains, what is odd is decoded right or named, what is wrong is refused in one line."""

import io
import os
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from torchlore.cli import main
from torchlore.recipes.data import cpus, decode_image
from torchlore.train import scan
from torchlore.train.batches import Plan, batches, choose_workers
from torchlore.train.discover import list_data, open_data
from torchlore.train.run import Refused, Run
from torchlore.train.samples import Data, digits
from torchlore.train.scan import twins

QUICK = ("--no-watch", "--size", "8", "--epochs", "1", "--workers", "0", "--batch-size", "8")
COLOURS = {"blue": (20, 40, 230), "green": (20, 220, 40), "red": (230, 30, 20)}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def picture(name: str, number: int = 0) -> Image.Image:
    noise = np.random.default_rng(number).integers(-15, 15, (12, 10, 3))
    return Image.fromarray((np.array(COLOURS[name]) + noise).clip(0, 255).astype(np.uint8))


def folders(root: Path, names: tuple[str, ...] = tuple(COLOURS), count: int = 8) -> Path:
    for name in names:
        (root / name).mkdir(parents=True)
        for number in range(count):
            picture(name, number).save(root / name / f"{number}.png")
    return root


def train(*words: object) -> int:
    return main(["train", *map(str, words), *QUICK])


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The one line with which a command ends."""
    assert main([str(word) for word in words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    return err


def colours_are_right(data: Data) -> None:
    """Each sample's label names the colour that it shows, so that no label was shifted."""
    brightest = {"red": 0, "green": 1, "blue": 2}
    for part in (data.train, data.val, data.test):
        for index in range(len(part.labels)):
            shown = int(part.read([index], None)[0].float().mean((1, 2)).argmax())
            assert brightest[data.classes[int(part.labels[index])]] == shown


def bytes_of(image: Image.Image, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def shards(root: Path) -> Path:
    for number in range(3):
        root.mkdir(exist_ok=True)
        with tarfile.open(root / f"part-{number}.tar", "w") as tar:
            for at in range(9):
                name = list(COLOURS)[at % 3]
                for suffix, body in (("png", bytes_of(picture(name, at))), ("cls", name.encode())):
                    info = tarfile.TarInfo(f"{number}{at}.{suffix}")
                    info.size = len(body)
                    tar.addfile(info, io.BytesIO(body))
    return root


def manifest(root: Path, kind: str) -> Path:
    folders(root / "pictures")
    rows = [
        {"path": f"pictures/{name}/{number}.png", "label": name, "split": ("train", "val", "test")[max(0, number - 5)]}
        for name in COLOURS
        for number in range(8)
    ]
    if kind == "csv":
        lines = [",".join(row.values()) for row in rows]
        (root / "list.csv").write_text("\n".join(["path,label,split", *lines]) + "\n")
        return root / "list.csv"
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(rows), root / "list.parquet")
    return root / "list.parquet"


def hdf5(path: Path, labels: list[int] | None = None) -> Path:
    import h5py

    pictures = [np.asarray(picture(list(COLOURS)[at % 3], at)) for at in range(24)]
    with h5py.File(path, "w") as file:
        file["images"] = np.stack(pictures)
        file["labels"] = labels or [at % 3 for at in range(24)]
        file["classes"] = list(COLOURS)
    return path


def split_folders(root: Path) -> Path:
    folders(root / "train")
    folders(root / "valid", count=3)
    folders(root / "test", ("green", "red"), 3)  # blue is missing here: labels must not shift
    return root


LAYOUTS = {
    "folders": lambda root: folders(root / "data"),
    "splits": lambda root: split_folders(root / "data"),
    "csv": lambda root: manifest(root, "csv"),
    "parquet": lambda root: manifest(root, "parquet"),
    "hdf5": lambda root: hdf5(root / "data.h5"),
    "tar": lambda root: shards(root / "data"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_right_labels_and_trains(layout: str, tmp_path: Path) -> None:
    data = LAYOUTS[layout](tmp_path)
    found = open_data(Run(data=str(data), size=8))
    assert found.classes == ("blue", "green", "red")
    colours_are_right(found)
    assert train(data, "--out", tmp_path / "runs", "--epochs", "1") == 0
    assert (tmp_path / "runs" / "001" / "report.html").is_file()


def test_hdf5_is_read_by_two_workers(tmp_path: Path) -> None:
    words = ["train", str(hdf5(tmp_path / "data.h5")), "--out", str(tmp_path / "runs"), *QUICK, "--workers", "2"]
    assert main(words) == 0


def test_a_test_set_without_one_class_keeps_its_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run learns the colours by heart; under shifted labels it would be wrong everywhere."""
    import json

    assert train(folders(tmp_path / "data"), "--out", tmp_path / "runs", "--epochs", 8, "--lr", 0.01) == 0
    folders(tmp_path / "fresh", ("red", "green"), 5)
    assert main(["test", str(tmp_path / "runs" / "001"), str(tmp_path / "fresh")]) == 0
    told = json.loads((tmp_path / "runs" / "001" / "test-fresh" / "test.json").read_text())
    assert told["accuracy"] == 1.0
    assert told["macro_f1"] == 1.0
    assert told["classes"]["blue"]["support"] == 0
    assert told["confusion"] == [[0, 0, 0], [0, 5, 0], [0, 0, 5]]
    assert {"macro_f1", "weighted_precision", "top1", "calibration_error", "loss"} <= told.keys()
    rows = (tmp_path / "runs" / "001" / "test-fresh" / "test.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows][1:4] == ["blue", "green", "red"]
    capsys.readouterr()
    folders(tmp_path / "other", ("red",), 2)
    (tmp_path / "other" / "red").rename(tmp_path / "other" / "violet")
    line = refused(capsys, "test", tmp_path / "runs" / "001", tmp_path / "other")
    assert "class 'violet', which the run does not know; it knows blue, green, red" in line


def test_a_run_that_cannot_be_tested_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is no run" in refused(capsys, "test", tmp_path)
    assert "is no run" in refused(capsys, "test", tmp_path / "none")
    (tmp_path / "config.yaml").write_text("epochs: 1\n")
    assert "has no checkpoint" in refused(capsys, "test", tmp_path)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "last.pt").write_bytes(b"not a checkpoint")
    assert "last.pt" in refused(capsys, "test", tmp_path)


def odd_pictures(folder: Path) -> None:
    """Every kind of picture that a decoder may get wrong, all of them red."""
    red = Image.new("RGB", (10, 12), (230, 30, 20))
    red.convert("CMYK").save(folder / "cmyk.jpg")
    red.convert("P").save(folder / "palette.png")
    red.convert("RGBA").save(folder / "alpha.png")
    red.save(folder / "animated.gif", save_all=True, append_images=[Image.new("RGB", (10, 12), (0, 0, 255))])
    turned = Image.Exif()
    turned[0x0112] = 6
    red.save(folder / "turned.jpg", exif=turned)


def test_odd_pictures_are_read_right_and_broken_ones_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = folders(tmp_path / "data")
    odd_pictures(root / "red")
    for path in (root / "red").glob("[a-z]*"):
        red, green, blue = decode_image(path).float().mean((1, 2)).tolist()
        assert red > 180 > 100 > max(green, blue), path.name
    assert decode_image(root / "red" / "turned.jpg").shape[1:] == (10, 12)
    Image.fromarray(np.full((12, 10), 40000, np.uint16)).save(root / "blue" / "deep.png")
    Image.new("L", (10, 12), 9).save(root / "blue" / "grey.png")
    broken = {"cut.jpg": bytes_of(picture("red"), "JPEG")[:200], "text.jpg": b"hello", "empty.png": b""}
    broken["bomb.png"] = bytes_of(Image.new("1", (30_000, 30_000)))
    for name, body in broken.items():
        (root / "green" / name).write_bytes(body)
    before = sorted(root.rglob("*"))
    assert train(root, "--out", tmp_path / "runs") == 65
    assert sorted(root.rglob("*")) == before
    plan, _, end = capsys.readouterr().out.partition(" steps in ")
    assert "4 left out, named in the report" in plan
    assert [name for name in broken if f"\n  green/{name}: " not in plan] == []
    assert "exit status 65: 4 files of data were left out, as named above" in end
    report = (tmp_path / "runs" / "001" / "report.html").read_text()
    assert [name for name in broken if f"green/{name}" not in report] == []
    assert main(["test", str(tmp_path / "runs" / "001"), str(root)]) == 65
    assert "\n  green/text.jpg: not a picture" in f"\n{capsys.readouterr().out}"


def test_a_picture_beside_the_class_folders_is_named(tmp_path: Path) -> None:
    root = folders(tmp_path / "data")
    picture("red").save(root / "lost.png")
    (root / "readme.txt").write_text("about")
    found = list_data(root)
    assert found.skipped == (("lost.png", "beside the class folders"),)
    assert "lost.png" not in found.names


def test_a_first_look_at_many_pictures_shows_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scan, "SOME", 5)
    monkeypatch.setenv("TORCHLORE_CACHE", str(tmp_path / "cache"))
    root = folders(tmp_path / "data")
    (root / "red" / "text.jpg").write_bytes(b"hello")
    names = sorted(str(path.relative_to(root)) for path in root.rglob("*.*"))
    assert len(names) > 10
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert list(scan.broken(root, names)) == ["red/text.jpg"]
    told = capsys.readouterr().err
    assert f"looking at {len(names)} pictures for the first time" in told
    assert f"5 of {len(names)}" in told


def test_wrong_folders_are_refused_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ("--out", tmp_path / "runs")
    root = tmp_path / "data"
    assert f"{tmp_path / 'none'}: there is no such folder" in refused(capsys, "train", tmp_path / "none", *out)
    folders(root, ("red",))
    assert "only one class, red" in refused(capsys, "train", root, *out)
    (root / "Red").mkdir()
    assert "differ only in case: Red and red" in refused(capsys, "train", root, *out)
    (root / "Red").rename(root / "void")
    assert "class 'void'" in refused(capsys, "train", root, *out)
    (root / "void" / "a.png").write_bytes(b"")
    assert "class 'void'" in refused(capsys, "train", root, *out)
    splits = split_folders(tmp_path / "splits")
    (splits / "valid" / "blue").rename(splits / "valid" / "violet")
    line = refused(capsys, "train", splits, *out)
    assert "'violet'" in line
    assert "valid" in line
    fewer = split_folders(tmp_path / "fewer")
    shutil.rmtree(fewer / "valid" / "blue")
    line = refused(capsys, "train", fewer, *out)
    assert "the validation part has nothing of the class 'blue' that can be read" in line
    misspelt = split_folders(tmp_path / "misspelt")
    (misspelt / "valid").rename(misspelt / "vall")
    assert "the folder 'vall' beside 'train' is no split" in refused(capsys, "train", misspelt, *out)
    (misspelt / "train").rename(misspelt / "training_set")
    line = refused(capsys, "train", misspelt, *out)
    assert "'test' holds folders and is called like a split" in line
    assert "is a folder of class folders" in refused(capsys, "train", splits / "train" / "red" / "0.png", *out)
    assert not (tmp_path / "runs").exists()


def test_splits_are_known_in_any_case(tmp_path: Path) -> None:
    """`Train` and `Val` were learned as two classes."""
    root = split_folders(tmp_path / "data")
    for folder in list(root.iterdir()):
        folder.rename(root / folder.name.title())
    data = open_data(Run(data=str(root)))
    assert data.classes == tuple(COLOURS)
    colours_are_right(data)


def test_a_picture_in_two_splits_or_two_classes_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = split_folders(tmp_path / "data")
    for at, path in enumerate(sorted([*root.glob("valid/*/*.png"), *root.glob("test/*/*.png")])):
        picture(path.parent.name, 100 + at).save(path)
    assert open_data(Run(data=str(root))).doubts == ()
    shutil.copy(root / "train" / "red" / "1.png", root / "valid" / "red" / "again.png")
    shutil.copy(root / "train" / "red" / "2.png", root / "train" / "blue" / "again.png")
    assert train(root, "--out", tmp_path / "runs") == 0
    out = capsys.readouterr().out
    assert "twice: 1 of val are in train too, such as valid/red/again.png and train/red/1.png" in out
    assert "twice: 1 are under two classes, such as train/blue/again.png and train/red/2.png" in out
    assert "valid/red/again.png" in (tmp_path / "runs" / "001" / "report.html").read_text()
    rows = [f"red/{n}.png,{'red' if n < 6 else 'blue'},{split}" for n in range(4, 8) for split in ("train", "val")]
    table = folders(tmp_path / "listed", ("red",)) / "list.csv"
    table.write_text("\n".join(["path,label,split", *rows]))
    assert any(" of val are in train too" in one for one in open_data(Run(data=str(table))).doubts)


def test_files_that_differ_in_the_middle_are_no_twins(tmp_path: Path) -> None:
    for name, middle in (("a", b"1"), ("b", b"2"), ("c", b"1"), ("d", b"")):
        (tmp_path / name).write_bytes(b"0" * 5000 + middle + b"0" * 5000)
    (tmp_path / "small").write_bytes(b"0" * 99)
    found = twins(tmp_path, ["a", "b", "c", "d", "small"])
    assert found.keys() == {"a", "c"}
    assert found["a"] == found["c"]
    assert twins(tmp_path, ["small", "small"]).keys() == {"small"}


def test_links_are_followed_only_where_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    real, linked, out = folders(tmp_path / "real"), tmp_path / "linked", ("--out", tmp_path / "runs")
    linked.mkdir()
    for name in COLOURS:
        (linked / name).symlink_to(real / name)
    assert "is a link that leads out of" in refused(capsys, "train", linked, *out)
    (real / "red" / "nowhere.png").symlink_to(tmp_path / "nothing.png")
    assert train(linked, "--follow-links", *out) == 65
    assert "red/nowhere.png: cannot be read: No such file" in capsys.readouterr().out
    table = tmp_path / "lists" / "list.csv"
    table.parent.mkdir()
    table.write_text("\n".join(["path,label", *(f"{real / c}/{n}.png,{c}" for c in ("red", "blue") for n in range(4))]))
    assert "--follow-links allows it" in refused(capsys, "train", table, *out)
    assert train(table, "--follow-links", *out) == 0


def test_names_that_are_not_utf8_train_and_are_tested(tmp_path: Path) -> None:
    root = folders(tmp_path / "data", ("red", "blue"))
    os.rename(root / "red", os.path.join(os.fsencode(root), b"\xffred"))  # noqa: PTH104, PTH118 - bytes
    assert train(root, "--out", tmp_path / "runs") == 0
    assert main(["test", str(tmp_path / "runs" / "001")]) == 0
    assert b"\n\xffred," in (tmp_path / "runs" / "001" / "test.csv").read_bytes()


def test_a_run_goes_on_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders(tmp_path / "data")
    (tmp_path / "net.py").write_text("from torchlore.train.models import Small\ndef make(c):\n    return Small(3, c)\n")
    monkeypatch.chdir(tmp_path)
    assert train("data", "--out", "runs", "--model", "net.py:make") == 0
    monkeypatch.chdir("/")
    assert main(["test", str(tmp_path / "runs" / "001")]) == 0
    assert main(["resume", str(tmp_path / "runs" / "001")]) == 0


def test_wrong_tables_are_refused_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ("--out", tmp_path / "runs")
    folders(tmp_path / "pictures")
    cases = {
        "path,label\npictures/red/0.png,a\n../x.png,b\n": "line 3: ../x.png leads out of",
        "path,label\npictures/red/77.png,a\n": "line 2: there is no file pictures/red/77.png",
        "file,label\na,b\n": "no column 'path'",
        "path,label,split\npictures/red/0.png,a,later\n": "line 2: the split 'later'",
        "path,label,split\npictures/red/0.png,a,train\npictures/red/1.png,b,val\n": "class 'b' has nothing to train on",
        "path,label\npictures/red/0.png,\n": "line 2: pictures/red/0.png has no label",
        "path,label\npictures/red/0.png\n": "line 2: pictures/red/0.png has no label",
        "": "the manifest is empty",
    }
    for text, says in cases.items():
        (tmp_path / "list.csv").write_text(text)
        assert says in refused(capsys, "train", tmp_path / "list.csv", *out)
    assert "labels run from -1 to 2" in refused(capsys, "train", hdf5(tmp_path / "a.h5", [-1, 1, 2] * 8), *out)
    assert "labels run from 0 to 7" in refused(capsys, "train", hdf5(tmp_path / "b.h5", [0, 1, 7] * 8), *out)
    (tmp_path / "c.h5").write_bytes(b"no hdf5")
    assert "c.h5" in refused(capsys, "train", tmp_path / "c.h5", *out)
    (tmp_path / "d.tar").write_bytes(b"no tar")
    assert "d.tar" in refused(capsys, "train", tmp_path / "d.tar", *out)
    assert not (tmp_path / "runs").exists()


def test_tables_of_spreadsheets_are_read(tmp_path: Path) -> None:
    folders(tmp_path / "pictures")
    rows = [f"pictures/{name}/{n}.png; {name}" for name in COLOURS for n in range(8)]
    (tmp_path / "list.csv").write_bytes("\r\n".join(["\ufeffPath; Label", *rows]).encode())
    data = open_data(Run(data=str(tmp_path / "list.csv")))
    assert data.classes == tuple(COLOURS)
    colours_are_right(data)


def test_weights_of_another_architecture_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"encoder.embed": torch.zeros(3)}, tmp_path / "other.pt")
    line = refused(capsys, "train", "--weights", tmp_path / "other.pt", "--out", tmp_path / "runs")
    assert "none of the 1 weights fits" in line
    (tmp_path / "text.pt").write_text("hello")
    assert "text.pt" in refused(capsys, "train", "--weights", tmp_path / "text.pt", "--out", tmp_path / "runs")
    assert "no such file" in refused(capsys, "train", "--weights", tmp_path / "none.pt", "--out", tmp_path / "runs")


def test_labels_are_checked_where_the_data_is_split() -> None:
    with pytest.raises(Refused, match="there is no such folder"):
        open_data(Run(data="nowhere"))


def test_a_broken_picture_in_a_shard_is_left_out_and_named(tmp_path: Path) -> None:
    root = shards(tmp_path / "data")
    with tarfile.open(root / "part-9.tar", "w") as tar:
        for suffix, body in (("png", bytes_of(picture("red"))[:60]), ("cls", b"red")):
            info = tarfile.TarInfo(f"cut.{suffix}")
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
    found = open_data(Run(data=str(root), size=8))
    assert [name for name, _ in found.skipped] == ["part-9.tar/cut"]
    assert sum(len(part.labels) for part in (found.train, found.val, found.test)) == 27


def test_the_number_of_workers_fits_the_data_and_the_machine(tmp_path: Path) -> None:
    data = open_data(Run(data=str(folders(tmp_path / "data", count=90)), size=8))
    small, huge = torch.empty(8, 3, 8, 8, dtype=torch.uint8), torch.empty(1 << 44, dtype=torch.uint8, device="meta")
    assert choose_workers(-1, data.val, small, 1) == 0  # fewer pictures than are worth a process
    assert choose_workers(-1, replace(data.train, labels=torch.zeros(999)), small, 1) == min(cpus(), 16)
    assert choose_workers(-1, digits(0.1, 0).train, small, 1) == 0
    assert choose_workers(3, digits(0.1, 0).train, small, 1) == 3
    with pytest.raises(Refused, match="--workers 3: 3 workers need"):
        choose_workers(3, data.train, huge, 1)


def test_shards_that_webdataset_wrote_are_read(tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset")
    (tmp_path / "data").mkdir()
    with webdataset.ShardWriter(str(tmp_path / "data" / "shard-%03d.tar"), maxcount=10, verbose=0) as writer:
        for at in range(24):
            shown = np.asarray(picture(list(COLOURS)[at % 3], at))
            writer.write({"__key__": f"sample{at:04}", "png": shown, "cls": at % 3})
    found = open_data(Run(data=str(tmp_path / "data"), size=8))
    assert found.classes == ("0", "1", "2")
    colours_are_right(replace(found, classes=tuple(COLOURS)))


def test_two_processes_read_every_picture_of_the_shards_once(tmp_path: Path) -> None:
    train = open_data(Run(data=str(shards(tmp_path / "data")), size=8)).train
    alone = next(batches(train, Plan(9, 3, augment=True), 0, 1))
    shares = [next(batches(train, Plan(9, 3, augment=True, rank=rank, world=2), 0, 1, workers=1)) for rank in range(2)]
    assert sorted(torch.cat([share.indices for share in shares]).tolist()) == sorted(alone.indices.tolist())
    assert torch.equal(alone.pictures[1::2], shares[1].pictures)

"""A whole run of the embedded pieces: it learns, its files agree, other identities can be searched, the page is safe."""

import csv
import json
import shutil
from pathlib import Path

import pytest
import torch
from PIL import Image

from torchlore.cli import main
from torchlore.train import embed
from torchlore.train.embed.pieces import CAMERAS, PIECE, SHOTS, pieces, textured
from torchlore.train.embed.ranking import nearest
from torchlore.train.embed.views import Views
from torchlore.train.fit import evaluated
from torchlore.train.run import defaults
from torchlore.train.samples import photographs
from torchlore.train.setup import ready

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two epochs, with the watch on."""
    out = tmp_path_factory.mktemp("embed")
    words = ("--epochs", "2", "--warmup", "0.5", "--out", str(out), "--name", "run")
    assert main(["train", "--task", "embed", *words]) == 0
    return out / "run"


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three other identities by two cameras, one with a name that tries to be markup."""
    root = tmp_path_factory.mktemp("other") / "others"
    for identity, name in enumerate((EVIL, "b", "c")):
        for camera in ("east", "west"):
            for shot in range(2):
                folder = root / name / camera
                folder.mkdir(parents=True, exist_ok=True)
                generator = torch.Generator().manual_seed(identity)
                pixels = torch.randint(0, 256, (30, 20, 3), generator=generator, dtype=torch.uint8)
                Image.fromarray(pixels.numpy()).save(folder / f"{shot}.png")
    return root


def test_pieces_have_no_pixel_in_common_and_other_identities_in_each_split() -> None:
    data = pieces(0.15, 0)
    names = [set(data.classes), set(data.val.identities), set(data.test.identities)]
    assert [len(one) for one in names] == [156, 30, 60]
    assert len(set.union(*names)) == 246
    assert all(
        len(part.labels) == len(ids) * len(CAMERAS) * SHOTS
        for part, ids in zip((data.train, data.val, data.test), names, strict=True)
    )
    photograph = photographs()[0]
    assert len(textured(photograph)) <= (photograph.shape[1] // PIECE) * (photograph.shape[2] // PIECE)
    again, otherwise = pieces(0.15, 0), pieces(0.15, 1)
    assert torch.equal(again.train.pictures, data.train.pictures)
    assert torch.equal(otherwise.test.samples.pictures, data.test.samples.pictures)
    assert otherwise.classes != data.classes
    assert len(pieces(0.0, 0).classes) == 186


def test_training_makes_the_search_far_better(run: Path) -> None:
    made = ready(defaults("embed"), pieces(0.15, 0))
    before = embed.scores(evaluated(made, made.data.test))
    after = json.loads((run / "test.json").read_text())
    assert before["mAP"] < 0.1
    assert after["mAP"] > 0.16  # 0.06 before; the whole run is in the long test
    assert after["identities_trained_on"] == after["left_out"] == 0


@pytest.mark.long
def test_the_default_run_finds_most(tmp_path: Path) -> None:
    assert main(["train", "--task", "embed", "--out", str(tmp_path), "--name", "run"]) == 0
    found = json.loads((tmp_path / "run" / "test.json").read_text())
    assert found["mAP"] > 0.7
    assert found["rank1"] > 0.75
    assert "Nothing: no silent trap was seen." in (tmp_path / "run" / "report.html").read_text()


def test_the_watch_finds_nothing_in_our_own_loop(run: Path) -> None:
    assert "Nothing: no silent trap was seen." in (run / "report.html").read_text()


def test_json_csv_and_report_agree(run: Path) -> None:
    found = json.loads((run / "test.json").read_text())
    with (run / "test.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == found["queries"] == sum(one["queries"] for one in found["cameras"].values()) == 240
    precision = [float(row["average_precision"]) for row in rows]
    assert sum(precision) / len(rows) == pytest.approx(found["mAP"], abs=1e-5)
    firsts = [int(row["first_right"]) for row in rows]
    assert [sum(first <= rank for first in firsts) / 240 for rank in (1, 5, 50)] == pytest.approx(
        [found[f"rank{rank}"] for rank in (1, 5, 50)]
    )
    for row in rows[:40]:
        right = [row[f"result_{rank}"].startswith(f"{row['identity']}/") for rank in range(1, 11)]
        assert (right.index(True) + 1 if any(right) else 11) == min(int(row["first_right"]), 11)
        own = f"{row['identity']}/{row['camera']}/"
        assert not any(row[f"result_{rank}"].startswith(own) for rank in range(1, 11))
    report = (run / "report.html").read_text()
    assert report.count('<div class="sheet">') == 16
    assert f"{found['mAP']:.2%}" in report
    assert len(report) < 900_000


def test_testing_again_gives_the_same_figures(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (run / "test.json").read_text()
    assert main(["test", str(run)]) == 0
    assert (run / "test.json").read_text() == before
    out = capsys.readouterr().out
    assert "240 queries in a gallery of 720: mAP" in out
    assert "evening       60" in out


def test_other_identities_can_be_searched(
    run: Path, other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = shutil.copytree(other, tmp_path / "others")
    assert main(["test", str(run), str(other)]) == 0
    found = json.loads((run / "test-others" / "test.json").read_text())
    assert (found["queries"], found["gallery"], found["mAP"]) == (
        6,
        6,
        1.0,
    )  # each identity has one picture, again and again
    shutil.rmtree(other / "b" / "west")
    shutil.rmtree(other / "c" / "west")
    assert main(["test", str(run), str(other)]) == 0
    assert "2 queries have no right picture by another camera and are left out" in capsys.readouterr().out
    shutil.rmtree(other / EVIL / "west")
    assert main(["test", str(run), str(other)]) == 2
    assert "has a right picture by another camera in the gallery: leave the cameras out" in capsys.readouterr().err


def test_a_gallery_shorter_than_a_sheet() -> None:
    data = pieces(0.15, 0).test
    part = Views(data.samples, data.identities, data.cameras, data.lenses, torch.arange(len(data.labels)) != 7)
    best, apart = nearest(part, torch.nn.functional.normalize(torch.rand(len(data.labels), 4)), 10)
    assert best.shape == apart.shape == (len(data.labels) - 1, 10)
    assert set(best[4].tolist()) == {-1}  # of its own identity and camera
    assert best[0].tolist() == [7] + [-1] * 9


def test_an_exported_embedding_has_length_one(run: Path, tmp_path: Path) -> None:
    assert main(["export", str(run), "--to", "torch", "--out", str(tmp_path / "model.pt2")]) == 0
    program = torch.export.load(tmp_path / "model.pt2").module()
    out = program(torch.randint(0, 256, (3, 3, 24, 24), dtype=torch.uint8))
    assert out.shape == (3, 512)
    torch.testing.assert_close(out.norm(dim=1), torch.ones(3))


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed, and only root on Debian can install it")
@pytest.mark.parametrize("width", [1200, 390])
def test_sheets_in_a_browser(run: Path, other: Path, tmp_path: Path, width: int) -> None:
    from playwright.sync_api import sync_playwright

    shutil.copytree(other / EVIL / "east", tmp_path / "others" / EVIL / "east")
    shutil.copytree(other / EVIL / "east", tmp_path / "others" / EVIL / EVIL)
    assert main(["test", str(run), str(tmp_path / "others")]) == 0
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        tab = browser.new_page(viewport={"width": width, "height": 800})
        said: list[str] = []
        tab.on("dialog", lambda dialog: said.append(dialog.message))
        tab.on(
            "request", lambda request: said.append(request.url) if request.url[:5] not in ("file:", "data:") else None
        )
        tab.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        tab.goto((run / "test-others" / "report.html").as_uri())
        assert said == []
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        first = tab.locator(".sheet").first
        assert first.locator("figure").first.locator("b").inner_text() == EVIL
        assert first.locator("figure.asked").count() == 1
        assert tab.evaluate(
            "[...document.querySelectorAll('.sheet img')].every(one => one.alt && one.src.startsWith('data:'))"
        )
        frames = tab.evaluate(
            "[...document.querySelectorAll('.sheet figure')].map(one => getComputedStyle(one).borderTopStyle)"
        )
        assert set(frames) == {"solid"}
        browser.close()

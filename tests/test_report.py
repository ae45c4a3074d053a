"""The report in a real browser: from the disk, without another host, hostile names as text, usable on a phone."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchlore.finding import Finding, Severity
from torchlore.report import charts, confusion, overlays, page

pytestmark = pytest.mark.browser
CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
EVIL = "<img src=x onerror=alert(1)>"
QUOTE = "\"' onmouseover='alert(2)"
NAMES = ("cat", EVIL, QUOTE)
if CHROMIUM is None:
    pytest.skip("chromium is not installed, and only root on Debian can install it", allow_module_level=True)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every part a run's report has, and names that try to be markup."""
    grey = confusion.png(bytes(range(64)), 8, 8, 1)
    red = confusion.png(bytes([200, 0, 0] * 64), 8, 8, 3)
    wrong = [
        confusion.Mistake(f"{EVIL}/a.png", 0, 1, 0.9, grey),
        confusion.Mistake("b.png", 0, 1, 0.8, red),
        confusion.Mistake(f"{QUOTE}.png", 2, 0, 0.7, red),
    ]
    masked = overlays.Panel(EVIL, 0.5, red, 8, 8, bytes([0, 1] * 32), bytes([2] * 64), bytes([1, 0] * 32))
    rows = [("cat", "0.900", 9), (EVIL, "0.100", 100), (QUOTE, "0.500", 20)]
    losses = [(epoch, 1 / epoch) for epoch in range(1, 2000)]
    html = page.page(
        f"{EVIL} on {QUOTE}",
        page.tiles({"test accuracy": "98.00%", EVIL: EVIL, "samples": 129, "epochs": 30}),
        page.section("Watch", page.findings([Finding("a-slug", EVIL, Severity.WARNING, QUOTE, evidence=EVIL)])),
        page.section(
            "Curves", f'<div class="charts">{charts.lines("loss", {EVIL: losses, "val": losses[:9]}, QUOTE)}</div>'
        ),
        page.section("Confusion", confusion.matrix([[5, 2, 0], [0, 100, 0], [1, 0, 19]], NAMES)),
        page.section("Mistakes", confusion.gallery(wrong, NAMES)),
        page.section("Classes", page.table(("class", "F1", "samples"), rows)),
        page.section("Overlays", overlays.gallery([masked], NAMES, ((0, 0, 0), (200, 0, 0), (0, 0, 200)))),
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def opened(browser, report: Path) -> Iterator[object]:
    """The page; the test fails when it asks another host, logs an error or opens a dialog."""
    shown, asked, errors = browser.new_page(), [], []
    shown.on("request", lambda request: asked.append(request.url))
    shown.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.on("dialog", lambda dialog: (errors.append(dialog.message), dialog.dismiss()))
    shown.goto(f"file://{report}")
    yield shown
    shown.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert errors == []


def test_names_stay_text(opened) -> None:
    assert opened.title() == f"{EVIL} on {QUOTE}"
    assert opened.locator("img:not([src^='data:'])").count() == 0
    assert opened.locator("[onmouseover], [onerror]").count() == 0
    assert opened.locator(".matrix tbody th").all_inner_texts() == list(NAMES)
    assert f"{EVIL}/a.png" in opened.locator(".gallery").inner_text()
    opened.locator(".matrix td").nth(2).hover()


def test_a_click_on_a_cell_filters_the_gallery(opened) -> None:
    shown = opened.locator(".gallery figure:visible")
    assert shown.count() == 3
    opened.click("[data-cell='0-1']")
    assert shown.count() == 2
    assert opened.locator("#gallery-note").inner_text().startswith(f"2 shown for cat called {EVIL}")
    opened.click("[data-cell='2-0']")
    assert shown.count() == 1
    opened.click("[data-cell='2-0']")
    assert shown.count() == 3
    opened.focus("[data-cell='0-1']")
    opened.keyboard.press("Enter")
    assert shown.count() == 2


def test_a_click_on_a_heading_sorts_numbers_as_numbers(opened) -> None:
    counts = opened.locator("table").last.locator("td:nth-child(3)")
    heading = opened.locator("th[data-sort]", has_text="samples")
    heading.click()
    assert counts.all_inner_texts() == ["9", "20", "100"]
    heading.click()
    assert counts.all_inner_texts() == ["100", "20", "9"]


def test_a_phone_shows_it_without_scrolling_sideways(opened) -> None:
    opened.set_viewport_size({"width": 360, "height": 640})
    width = opened.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert width[0] <= width[1]


def test_dark_is_dark_and_readable(opened) -> None:
    def brightness(what: str) -> float:
        colour = opened.evaluate(f"getComputedStyle(document.body).{what}")
        return sum(float(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))

    assert brightness("backgroundColor") > 700 > 150 > brightness("color")
    opened.emulate_media(color_scheme="dark")
    assert brightness("backgroundColor") < 150 < 600 < brightness("color")


def test_a_chart_is_small_and_its_curve_inside(report: Path) -> None:
    html = charts.lines("loss", {"a": [(x, x**2) for x in range(100_000)], "b": [(0, float("nan"))]})
    assert len(html) < 10_000
    assert charts.lines("empty", {"a": []}) == ""
    assert "nan" not in html.split("<figcaption>")[0]


def test_masks_lie_over_their_picture_and_fade(opened) -> None:
    assert opened.locator(".overlays figure img").count() == 6
    assert opened.locator(".overlays").inner_text().count(EVIL) == 1
    picture, mask = (opened.locator(f".layers img{kind}").first.bounding_box() for kind in (":not(.mask)", ".mask"))
    assert picture == mask
    assert opened.locator(".mask").first.evaluate("one => getComputedStyle(one).opacity") == "0.55"
    opened.locator("#strength").evaluate("one => { one.value = 10; one.dispatchEvent(new Event('input')); }")
    assert opened.locator(".mask").first.evaluate("one => getComputedStyle(one).opacity") == "0.1"
    seen = opened.locator(".mask").first.evaluate(
        """async one => { const c = document.createElement("canvas"); c.width = 8; c.height = 8;
        const d = c.getContext("2d"); await one.decode(); d.drawImage(one, 0, 0);
        return [...d.getImageData(0, 0, 2, 1).data]; }"""
    )
    assert seen == [0, 0, 0, 0, 200, 0, 0, 255]  # black is see-through, the class has its own colour

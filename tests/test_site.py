"""The handbook as a web page, in a real browser: built, offline, searchable, and its calculator right."""

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchlore.catalogue import notes
from torchlore.recipes.shapes import Layer, chain, sources
from torchlore.site import build

pytestmark = pytest.mark.browser
CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
if CHROMIUM is None:
    pytest.skip("chromium is not installed, and only root on Debian can install it", allow_module_level=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("site")).parent


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser) -> Iterator[object]:
    """A page that fails the test when it asks another host for anything or logs an error."""
    opened, asked, errors = browser.new_page(), [], []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    opened.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:", "blob:"))] == []
    assert errors == []


def test_every_note_has_its_anchor(site: Path) -> None:
    for room, members in itertools.groupby(notes(), key=lambda note: note.room):
        html = (site / f"{room}.html").read_text()
        assert [note.slug for note in members if f'id="{note.slug}"' not in html] == []


def test_every_erratum_is_shown(site: Path) -> None:
    html = (site / "errata.html").read_text()
    ids = [erratum.id for note in notes() for erratum in note.errata]
    assert ids
    assert [one for one in ids if f'id="{one}"' not in html] == []


def test_search_works_from_the_disk(site: Path, page) -> None:
    page.goto(f"file://{site}/index.html")
    page.click("[data-md-component=search-query]")  # the index is loaded when the search is first used
    ready = "document.querySelector('.md-search-result__meta').textContent.includes('Type to start')"
    page.wait_for_function(ready, timeout=30_000)
    page.keyboard.type("dilation", delay=30)
    page.wait_for_selector(".md-search-result__item", state="attached", timeout=30_000)
    assert "conv-output-size" in page.locator(".md-search-result__list").inner_html()


def test_pages_open_without_asking_another_host(site: Path, page) -> None:
    for name in ("index", "layers", "errata", "shapes"):
        page.goto(f"file://{site}/{name}.html")
        assert page.locator("h1").count() == 1


def test_the_calculator_agrees_with_the_recipe(site: Path, page) -> None:
    page.goto(f"file://{site}/shapes.html")
    kinds = ("conv", "transpose", "pool")
    for kind, k, s, p, d, size in itertools.product(kinds, (1, 2, 3, 5), (1, 2, 3), (0, 1), (1, 2), (7, 12)):
        if kind == "pool" and p > k / 2:
            continue
        layers = [Layer("conv", 3, 1, 1), Layer(kind, k, s, p, d)]
        spoken = [
            {
                "kind": one.kind,
                **{name: getattr(one, name) for name in ("kernel", "stride", "padding", "dilation", "output_padding")},
            }
            for one in layers
        ]
        try:
            stages = chain(size, layers)
        except ValueError:
            assert page.evaluate("([size, layer]) => problem(size, layer)", [size, spoken[1]])
            continue
        told = page.evaluate(
            "([size, layers]) => fields(size, layers).map((f) => [f.field, f.step]).concat([[outputSize(size, layers[1])]])",
            [size, spoken],
        )
        assert told[-1] == [stages[-1].size]
        assert told[-2] == pytest.approx([stages[-1].field, stages[-1].jump])
        middle = stages[-1].size // 2
        assert page.evaluate("([size, layers, at]) => trace(size, layers, at)", [size, spoken, middle]) == sources(
            size, layers, middle
        )


def test_the_calculator_can_be_used(site: Path, page) -> None:
    page.goto(f"file://{site}/shapes.html")
    page.fill("#height", "224")
    page.fill("#width", "100")
    for name, value in {"kernel": "7", "stride": "2", "padding": "3"}.items():
        page.fill(f"#layers [data-field={name}]", value)
    assert page.locator("#layers .size").inner_text() == "112 \u00d7 50"
    page.click("#add")
    assert page.locator("#layers .field").all_inner_texts() == ["7", "11"]
    page.locator("#output").click(position={"x": 5, "y": 5})
    assert "pixels feed output pixel (" in page.locator("#input-caption").inner_text()
    page.fill("#height", "1")
    page.fill("#layers [data-field=padding] >> nth=0", "0")
    assert "too small" in page.locator("#message").inner_text()

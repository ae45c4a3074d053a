"""Write the pages into a folder and let MkDocs Material turn them into a site."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from torchlore.catalogue import notes
from torchlore.site import pages

HERE = Path(__file__).parent
SHIM = "https://unpkg.com/iframe-worker/shim"  # what Material's offline plugin would fetch from another host
WRITTEN = (
    "design",
    "rules",
    "sentinels",
    "checkpoints",
    "precision",
    "figures",
)  # hand-written pages of docs/, where there is a checkout


def build(target: Path) -> Path:
    """Build the site into `target` and return its front page; the folder is replaced as a whole."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "docs"
        source.mkdir()
        write(source)
        config = Path(folder) / "mkdocs.yml"
        config.write_text(json.dumps(settings(source, target.resolve())), encoding="utf-8")  # JSON is YAML
        command = [
            sys.executable,
            "-m",
            "mkdocs",
            "--quiet",
            "build",
            "--strict",
            "--clean",
            "--config-file",
            str(config),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        why = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise OSError(f"mkdocs could not build the site: {why[-1] if why else done.returncode}")
    for page in target.rglob("*.html"):
        page.write_text(page.read_text(encoding="utf-8").replace(SHIM, "worker.js"), encoding="utf-8")
    return target / "index.html"


def write(source: Path) -> None:
    """Every page as a Markdown file."""
    every = notes()
    texts = {"index": pages.index(every), "errata": pages.errata(every)}
    texts |= {room: pages.chapter(room, members) for room, members in pages.chapters(every).items()}
    texts["shapes"] = pages.calculator((HERE / "shapes.html").read_text(encoding="utf-8"))
    for name, text in texts.items():
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    for asset in ("shapes.js", "shapes.css", "worker.js"):
        shutil.copy(HERE / asset, source / asset)
    for page in written():
        shutil.copy(page, source / f"about-{page.name}")  # a room may have the same name


def written() -> list[Path]:
    """The hand-written pages, which only a checkout has."""
    docs = HERE.parents[2] / "docs"
    return [path for name in WRITTEN if (path := docs / f"{name}.md").exists()]


def settings(source: Path, target: Path) -> dict[str, object]:
    """MkDocs' configuration: no font, icon or script from another host; search works from the disk."""
    rooms = sorted(
        path.stem
        for path in source.glob("*.md")
        if path.stem not in {"index", "errata", "shapes"} and not path.stem.startswith("about-")
    )
    palette = [
        {
            "media": "(prefers-color-scheme: light)",
            "scheme": "default",
            "primary": "deep orange",
            "toggle": {"icon": "material/weather-night", "name": "dark"},
        },
        {
            "media": "(prefers-color-scheme: dark)",
            "scheme": "slate",
            "primary": "deep orange",
            "toggle": {"icon": "material/weather-sunny", "name": "light"},
        },
    ]
    more = [{path.stem.capitalize(): f"about-{path.name}"} for path in written()]
    return {
        "site_name": "torchlore",
        "site_description": "The PyTorch notes everyone keeps, as software.",
        "docs_dir": str(source),
        "site_dir": str(target),
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            "font": False,
            "palette": palette,
            "features": ["content.code.copy", "navigation.top", "search.highlight"],
        },
        "plugins": ["search", "offline"],
        "markdown_extensions": [
            "attr_list",
            "tables",
            "admonition",
            "md_in_html",
            "pymdownx.superfences",
            {"pymdownx.tabbed": {"alternate_style": True}},
            "pymdownx.highlight",
            {"toc": {"permalink": True}},
        ],
        "extra_css": ["shapes.css"],
        "nav": [
            {"Home": "index.md"},
            {"Notes": [{room.capitalize(): f"{room}.md"} for room in rooms]},
            {"Errata": "errata.md"},
            {"Shape calculator": "shapes.md"},
            *more,
        ],
        "extra": {"generator": False},
    }

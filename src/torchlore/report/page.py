"""The page and its plain parts. Whatever comes from outside goes through `text`, so that no name can become markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from torchlore.finding import Finding

HERE = Path(__file__).parent


def text(value: object) -> str:
    """Anything as text that is safe inside HTML and inside a quoted attribute."""
    return escape(str(value), quote=True)


def page(title: str, *sections: str) -> str:
    """The whole file: style and script inside it, nothing fetched."""
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
        f"<title>{text(title)}</title><style>{style}</style></head>"
    )
    return f"{head}<body><h1>{text(title)}</h1>{''.join(sections)}<script>{script}</script></body></html>\n"


def section(title: str, *parts: str) -> str:
    """A heading and what stands under it; nothing at all if there is nothing to show."""
    inner = "".join(parts)
    return f"<h2>{text(title)}</h2>{inner}" if inner else ""


def tiles(values: Mapping[str, object]) -> str:
    """The few figures worth large letters."""
    inner = "".join(
        f'<div class="tile"><span class="dim">{text(name)}</span><b>{text(value)}</b></div>'
        for name, value in values.items()
    )
    return f'<div class="tiles">{inner}</div>'


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, sortable: bool = True) -> str:
    """A table; a click on a heading sorts by it."""
    mark = ' data-sort=""' if sortable else ""
    top = "".join(f"<th{mark}>{text(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def findings(found: Iterable[Finding]) -> str:
    """Findings, the gravest first."""
    ordered = sorted(found, key=lambda one: one.severity.rank)
    return "".join(
        f'<div class="finding {one.severity}"><code>{text(one.where)}</code> {text(one.message)}'
        f' <span class="dim">{text(one.severity)} · {text(one.slug)}{f" · {text(one.evidence)}" if one.evidence else ""}</span></div>'
        for one in ordered
    )

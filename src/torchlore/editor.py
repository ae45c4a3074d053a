"""The checker as a language server: diagnostics while typing, the note on hover, edits as quick fixes.

Positions in the protocol are 0-based and counted in UTF-16 units; pygls converts them from ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from torchlore import __version__
from torchlore.catalogue import UnknownNote, note
from torchlore.check import config as configuration
from torchlore.check import runner
from torchlore.check.project import Project
from torchlore.finding import Edit, Finding, Severity
from torchlore.handbook import page

if TYPE_CHECKING:
    from pygls.workspace import TextDocument

    from torchlore.check.engine import Rule

LEVELS = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.HINT: lsp.DiagnosticSeverity.Hint,
}


def server(rules: Mapping[str, Rule]) -> LanguageServer:
    """A server that checks with these rules; `start_io` runs it."""
    made = LanguageServer("torchlore", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
    seen: dict[str, list[Finding]] = {}  # by document

    def publish(uri: str) -> None:
        document = made.workspace.get_text_document(uri)
        seen[uri] = findings(document, rules)
        shown = [diagnostic(document, one) for one in seen[uri]]
        made.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown, version=document.version))

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        publish(params.text_document.uri)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        publish(params.text_document.uri)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        seen.pop(params.text_document.uri, None)
        made.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        return hover(
            made.workspace.get_text_document(params.text_document.uri),
            seen.get(params.text_document.uri, []),
            params.position,
        )

    @made.feature(lsp.TEXT_DOCUMENT_CODE_ACTION)
    def asked(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        document = made.workspace.get_text_document(params.text_document.uri)
        lines = range(params.range.start.line, params.range.end.line + 1)
        return [action(document, one) for one in seen.get(document.uri, []) if one.edits and one.line - 1 in lines]

    return made


def findings(document: TextDocument, rules: Mapping[str, Rule]) -> list[Finding]:
    """What is wrong with a document as it stands in the editor, under its project's settings."""
    path = document.path or urlparse(document.uri).path
    if "torch" not in document.source:
        return []
    try:
        config = configuration.load(Path(path))
    except configuration.BrokenConfig:
        config = configuration.Config()  # a settings file that is being edited; `lore check` says what is wrong with it
    from torchlore.cli.check import names

    config = replace(config, known=names())
    said = runner.check_text(path, document.source, runner.Work(rules, config, Project(torch=config.torch)))
    return [one for one in said if isinstance(one, Finding) and runner.shown(one, config)]


def diagnostic(document: TextDocument, one: Finding) -> lsp.Diagnostic:
    """A finding as the editor wants it."""
    return lsp.Diagnostic(span(document, one), one.message, LEVELS[one.severity], code=one.slug, source="lore")


def span(document: TextDocument, one: Finding) -> lsp.Range:
    """From where to where the line is underlined."""
    last = one.end_line or one.line
    end = one.end_column - 1 if one.end_column else len(document.lines[last - 1].rstrip("\n"))
    return _range(document, (one.line - 1, one.column - 1), (last - 1, end))


def _range(document: TextDocument, start: tuple[int, int], end: tuple[int, int]) -> lsp.Range:
    units = lsp.Range(lsp.Position(*start), lsp.Position(*end))
    return document.position_codec.range_to_client_units(document.lines, units)


def hover(document: TextDocument, found: list[Finding], at: lsp.Position) -> lsp.Hover | None:
    """The note behind the finding under the pointer."""
    for one in found:
        place = span(document, one)
        if (
            (place.start.line, place.start.character)
            <= (at.line, at.character)
            <= (place.end.line, place.end.character)
        ):
            try:
                text = page(note(one.slug))
            except UnknownNote:  # a syntax error or an unused suppression has no note
                text = one.message
            return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), place)
    return None


def action(document: TextDocument, one: Finding) -> lsp.CodeAction:
    """A finding's edits as a quick fix; one that needs a look says so."""
    changes = [lsp.TextEdit(_place(document, edit), edit.text) for edit in one.edits]
    title = f"{one.slug}: fix" if one.safe else f"{one.slug}: fix (look at it)"
    whole = lsp.WorkspaceEdit(changes={document.uri: changes})
    return lsp.CodeAction(
        title, lsp.CodeActionKind.QuickFix, [diagnostic(document, one)], is_preferred=one.safe, edit=whole
    )


def _place(document: TextDocument, edit: Edit) -> lsp.Range:
    return _range(document, _position(document.source, edit.start), _position(document.source, edit.end))


def _position(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n"), offset - (before.rfind("\n") + 1)

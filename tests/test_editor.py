"""The language server, spoken to by a real client over stdio."""

import asyncio
import sys

import pytest

pytest.importorskip("pygls")
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

TEXT = """\
import torch
from torch import nn

größe = "ä"; model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for x, y in []:
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
"""


async def talk(tmp_path) -> dict[str, object]:
    """One session: open, read the findings, hover, ask for fixes, change, close."""
    client, published = LanguageClient("test", "1"), asyncio.Queue()

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def told(params: lsp.PublishDiagnosticsParams) -> None:
        published.put_nowait(params)

    await client.start_io(sys.executable, "-m", "torchlore", "lsp", "--stdio")
    await client.initialize_async(
        lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=tmp_path.as_uri())
    )
    client.initialized(lsp.InitializedParams())
    uri = (tmp_path / "train.py").as_uri()
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "python", 1, TEXT)))
    first = await asyncio.wait_for(published.get(), 60)
    where = first.diagnostics[0].range
    document = lsp.TextDocumentIdentifier(uri)
    hover = await client.text_document_hover_async(lsp.HoverParams(document, where.start))
    actions = await client.text_document_code_action_async(
        lsp.CodeActionParams(document, where, lsp.CodeActionContext(first.diagnostics))
    )
    fixed = lsp.TextDocumentContentChangeWholeDocument(TEXT.replace("total += loss", "total += loss.item()"))
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(2, uri), [fixed])
    )
    second = await asyncio.wait_for(published.get(), 60)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return {"first": first, "hover": hover, "actions": actions, "second": second}


def test_an_editor_gets_findings_notes_and_fixes(tmp_path) -> None:
    said = asyncio.run(talk(tmp_path))
    (found,) = said["first"].diagnostics
    assert found.code == "accumulate-loss-with-graph"
    assert found.severity == lsp.DiagnosticSeverity.Error
    assert (found.range.start.line, found.range.start.character) == (11, 4)
    assert "graph of every batch" in said["hover"].contents.value
    (action,) = said["actions"]
    (edit,) = next(iter(action.edit.changes.values()))
    assert (edit.range.start.line, edit.new_text) == (11, ".item()")
    assert action.is_preferred
    assert not said["second"].diagnostics

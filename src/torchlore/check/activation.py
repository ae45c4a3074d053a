"""Where an activation that should not be there is reported, and how it is taken out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import edits

if TYPE_CHECKING:
    from torchlore.check.losses import LossCall
    from torchlore.check.source import Hit, Source
    from torchlore.check.values import Value
    from torchlore.finding import Edit


def activation_hit(source: Source, loss: LossCall, given: Value, message: str) -> Hit:
    """A hit on the activation where it stands in this file, else on the loss; `{loss}` in the message is the loss's name.

    The fix is unsafe: somebody else may read the probabilities.
    """
    text = message.format(loss=loss.name.rpartition(".")[2])
    if given.source is not source or not isinstance(given.node, ast.Call):
        return source.hit(loss.call, text)
    found = _removed(source, given.node)
    return source.hit(given.node, f"{text} (line {loss.call.lineno})", *found, safe=False)


def _removed(source: Source, node: ast.Call) -> list[Edit]:
    """Without the activation: a call gives way to its argument, a layer of a Sequential goes."""
    full = source.name(node.func)
    if full.startswith("torch.nn.functional.") or full.count(".") == 1:
        return [edits.replace(source, node, source.code(node.args[0]))] if node.args else []
    up = source.parents.get(node)
    if isinstance(up, ast.Call) and source.name(up.func) == "torch.nn.Sequential" and len(up.args) > 1:
        return [edits.remove_argument(source, up, node)]
    if not full and isinstance(node.func, ast.Attribute):  # x.softmax(1)
        return [edits.replace(source, node, source.code(node.func.value))]
    return []

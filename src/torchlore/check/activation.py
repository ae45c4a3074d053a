"""Where an activation that should not be there is reported, and how it is taken out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import classes, edits, follow, scopes, tree, values
from torchlore.check.tensors import no_grad_around

if TYPE_CHECKING:
    from torchlore.check.losses import LossCall
    from torchlore.check.source import Hit, Source
    from torchlore.check.values import Value
    from torchlore.finding import Edit

_PLAIN = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.JoinedStr)


def unactivated(source: Source, node: ast.expr, hops: int = 4) -> bool:
    """Whether one of the things it may be is a sum, a comparison or a number: surely no probability, asked before values."""
    if not isinstance(node, ast.Name):
        return isinstance(node, _PLAIN)
    found = (one for one in scopes.reaching(source, node) if hops and one.how == "assign" and not one.path)
    return any(one.value is not None and unactivated(source, one.value, hops - 1) for one in found)


def activation_hit(source: Source, loss: LossCall, given: Value, message: str) -> Hit:
    """A hit on the activation where it stands in this file, else on the loss; `{loss}` in the message is the loss's name.

    The fix is unsafe: somebody else may read the probabilities.
    """
    text = message.format(loss=loss.name.rpartition(".")[2])
    if given.source is not source or not isinstance(given.node, ast.Call | ast.BinOp):
        return source.hit(loss.call, text)
    found = _removed(source, given.node) if isinstance(given.node, ast.Call) else []  # `e / e.sum(1)` stays
    return source.hit(given.node, f"{text} (line {loss.call.lineno})", *found, safe=False)


def in_eval_only(source: Source, node: ast.expr) -> str:
    """`sigmoid` or `softmax`, where a model is run without gradients whose `forward` applies it `if not self.training`."""
    call = follow.followed(source, node)
    made = source.values(call.func) if isinstance(call, ast.Call) and no_grad_around(source, call) else ()
    cls = classes.class_behind(source, made[0]) if len(made) == 1 else None
    forward = classes.methods(cls).get("forward") if cls is not None else None
    for choice in tree.under(cls.source, forward, ast.If) if cls is not None and forward is not None else ():
        if cls is None or cls.source.code(choice.test) != "not self.training":
            continue
        for one in (part for statement in choice.body for part in ast.walk(statement) if isinstance(part, ast.Call)):
            layer = values.made_by(cls.source, one.func, "torch.nn.Sigmoid", "torch.nn.Softmax")
            word = layer.name.rpartition(".")[2].lower() if layer is not None else follow.word(cls.source, one)
            if word in ("sigmoid", "softmax"):
                return word
    return ""


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

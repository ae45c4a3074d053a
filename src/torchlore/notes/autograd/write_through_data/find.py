"""The rule of write-through-data."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, uses, values
from torchlore.check.source import Hit, Source

_KEEP_THEIR_RESULT = {"probs", "logprobs", "sigmoid", "tanh", "relu", "elu"}  # backward reads what they returned

_VIEWS = {"squeeze", "unsqueeze", "view", "transpose", "permute", "t", "flatten"}
_COPIES = {"gather", "index_select", "masked_select", "take", "take_along_dim", "clone", "repeat"}
WORDS = ("data",)


def find(source: Source) -> Iterator[Hit]:
    yield from _adapted(source)
    for data in uses.attributes(source, "data"):
        if not _writes(source, data):
            continue
        given = values.state(source, data.value)
        kept = given is not None and given.state in _KEEP_THEIR_RESULT and values.attached(source, data.value)
        if kept and not _is_copy(source, data.value):
            name = source.code(data.value)
            message = f"autograd does not see this write and computes a wrong gradient: write a new `{name}` instead"
            yield source.hit(tree.statement(source, data), message)


def _adapted(source: Source) -> Iterator[Hit]:
    """`p.data -= lr * g` with gradients that `create_graph=True` was asked for: the outer loss does not see the inner step."""
    for step in source.all(ast.AugAssign) if "create_graph" in source.text else ():
        target, loop = step.target, next(iter(tree.loops(source, step)), None)
        over = loop.iter if isinstance(loop, ast.For) else None
        zipped = over.args if isinstance(over, ast.Call) and source.name(over.func) == "zip" else []
        grads = zipped[1] if len(zipped) == 2 else None
        made = follow.followed(source, grads) if isinstance(grads, ast.Name) else None
        if not isinstance(target, ast.Attribute) or target.attr != "data" or not isinstance(made, ast.Call):
            continue
        graph = tree.literal(tree.argument(made, None, "create_graph")) is True
        pair = loop.target if isinstance(loop, ast.For) else None
        own = isinstance(pair, ast.Tuple) and [tree.dotted(one) for one in pair.elts][:1] == [tree.dotted(target.value)]
        same = uses.names(source, tree.dotted(grads)) if grads is not None else []
        loads = [one for one in tree.among(source, same, tree.function(source, step)) if isinstance(one.ctx, ast.Load)]
        if source.name(made.func) == "torch.autograd.grad" and graph and own and len(loads) == 1:
            told = "autograd does not see this step, so the graph that `create_graph=True` keeps ends before it and the outer loss teaches nothing"
            yield source.hit(
                step, f"{told}: make new weights, `p - lr * g`, and call `torch.func.functional_call` with them"
            )


def _is_copy(source: Source, node: ast.expr) -> bool:
    """`probs.gather(1, chosen).squeeze(1)`: what is written into is not what the activation kept."""
    node = follow.followed(source, node)
    while isinstance(node, ast.Call) and follow.method(node) in _VIEWS:
        node = follow.followed(source, tree.receiver(node))
    return follow.method(node) in _COPIES


def _writes(source: Source, data: ast.Attribute) -> bool:
    """`x.data = ...`, `x.data[i] = ...`, `x.data += ...` or `x.data.clamp_()`."""
    node: ast.AST = data
    up = source.parents[node]
    while isinstance(up, ast.Subscript) and up.value is node:
        node, up = up, source.parents[up]
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return True
    called = isinstance(up, ast.Attribute) and isinstance(source.parents[up], ast.Call)
    return called and isinstance(up, ast.Attribute) and up.attr.endswith("_") and not up.attr.endswith("__")

"""The rule of activation-applied-twice."""

import ast
from collections.abc import Iterator

from torchlore.check import tree, uses, values
from torchlore.check.activation import unactivated
from torchlore.check.source import Hit, Source

_SIGMOID = ("torch.sigmoid", "torch.nn.functional.sigmoid", "torch.special.expit")
_SOFTMAX = ("torch.softmax", "torch.nn.functional.softmax", "torch.log_softmax", "torch.nn.functional.log_softmax")
_LAYERS = ("torch.nn.Sigmoid", "torch.nn.Softmax", "torch.nn.LogSoftmax")
WORDS = ("sigmoid|expit|softmax|log_softmax|Sigmoid|Softmax|LogSoftmax",)


def find(source: Source) -> Iterator[Hit]:
    if source.text.count("oftmax") + source.text.count("igmoid") < 2:
        return
    for call, given, outer in _applied(source):
        inner = values.state(source, given) if not unactivated(source, given) else None
        again = inner is not None and (inner.state == "probs" or (inner.state == "sigmoid" and outer == "sigmoid"))
        if inner is None or not again or inner.node is call or _switched(source, call, inner.node):
            continue
        code = source.code(given) if len(source.code(given)) < 50 else "what it is given"
        line = f" of line {inner.node.lineno}" if inner.source is source and isinstance(inner.node, ast.expr) else ""
        made = "softmax" if inner.state == "probs" else "sigmoid"
        yield source.hit(
            call, f"{outer} of `{code}`, which holds the probabilities of the {made}{line}: apply one of the two"
        )


def _switched(source: Source, call: ast.Call, first: ast.AST | None) -> bool:
    """`if softmax: x = torch.softmax(x, 1)` in a function whose callers say with `softmax` what they hand in."""
    home = tree.function(source, call)
    names = {one.arg for one in tree.parameters(home)} if home is not None else set()
    inside = home is not None and first is not None and first in source.parents and tree.inside(source, first, home)
    around = (up.test for up in tree.ancestors(source, call) if isinstance(up, ast.If | ast.IfExp))
    return not inside and any(isinstance(one, ast.Name) and one.id in names for one in around)


def _applied(source: Source) -> Iterator[tuple[ast.Call, ast.expr, str]]:
    """Calls of a sigmoid or softmax: function, method or layer; with what they are given and their name."""
    for call in source.calls(*_SIGMOID, *_SOFTMAX):
        given = tree.argument(call, 0, "input")
        if given is not None:
            yield call, given, "sigmoid" if source.name(call.func) in _SIGMOID else "softmax"
    for call in source.methods("sigmoid", "softmax", "log_softmax"):
        if not source.name(call.func):
            yield call, tree.receiver(call), "sigmoid" if "sigmoid" in source.code(call.func) else "softmax"
    layers = [held.targets[0] for one in source.calls(*_LAYERS) if isinstance(held := source.parents[one], ast.Assign)]
    for target in layers:
        name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
        for use in (*uses.attributes(source, name), *uses.names(source, name)):
            up = source.parents[use]
            made = values.made_by(source, use, *_LAYERS) if isinstance(up, ast.Call) and up.func is use else None
            if made is not None and isinstance(up, ast.Call) and up.args:
                yield up, up.args[0], "sigmoid" if made.name.endswith("Sigmoid") else "softmax"

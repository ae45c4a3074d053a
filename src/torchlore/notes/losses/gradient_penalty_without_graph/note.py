"""A penalty on gradients needs `create_graph=True`, or it is a constant in the loss.

`torch.autograd.grad(score.sum(), x)` returns numbers without a history. A penalty made of them has the right value, is added
to the loss, shows in the log, and sends no gradient to any weight: the critic of a WGAN-GP is trained without its penalty.

```python
grads = torch.autograd.grad(score.sum(), x, create_graph=True)[0]
penalty = ((grads.norm(2, dim=1) - 1) ** 2).mean()
```
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/facebookresearch/DomainBed/issues/50",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_NAME = regex(r"penalt|(?:^|_)gp(?:_|$)|(?:^|_)r1(?:_|$)|lipschitz|regulari[sz]", re.IGNORECASE)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["gradient"] == 0
    assert good["gradient"] > 0


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.autograd.grad"):
        given = tree.argument(call, 4, "create_graph")
        off = tree.lacks(call, 4, "create_graph") or (given is not None and tree.literal(given) is False)
        if off and _becomes_penalty(source, call) and not _no_grad(source, call):
            placed = given is not None and given in call.args
            edit = (
                edits.replace(source, given, "True")
                if placed and given is not None
                else edits.set_keyword(source, call, "create_graph", "True")
            )
            message = (
                "these gradients have no history, so a penalty made of them reaches no weight: add `create_graph=True`"
            )
            yield source.hit(call, message, edit)


def _no_grad(source: Source, node: ast.AST) -> bool:
    return any("no_grad" in source.code(one) for one in tree.contexts(source, node))


def _becomes_penalty(source: Source, call: ast.Call) -> bool:
    """Whether the gradients end in something called a penalty, in an assignment or as a function's result."""
    home = tree.function(source, call)
    known, penalty = _targets(tree.statement(source, call)), False
    inside = tree.body_nodes(home) if home is not None else source.all(ast.Assign, ast.AugAssign, ast.Return, ast.For)
    for node in sorted((one for one in inside if isinstance(one, ast.stmt)), key=lambda one: one.lineno):
        if node.lineno < call.lineno or (home is None and tree.function(source, node) is not None):
            continue
        value = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
        if not isinstance(value, ast.expr) or not (
            _names(value) & known or any(one is call for one in ast.walk(value))
        ):
            continue
        if any(isinstance(one, ast.Attribute) and one.attr in ("item", "detach", "sign") for one in ast.walk(value)):
            continue
        found = _targets(node)
        known |= found
        named = any(_NAME.search(one) for one in found) or (isinstance(node, ast.Return) and _from_one(source, value))
        penalty = (
            penalty or named or (isinstance(node, ast.Return) and home is not None and bool(_NAME.search(home.name)))
        )
    return penalty


def _from_one(source: Source, value: ast.expr) -> bool:
    """`((grad.norm(2, dim=1) - 1) ** 2).mean()`: how far the gradients' lengths are from 1."""
    gaps = [one for one in tree.under(source, value, ast.BinOp) if isinstance(one.op, ast.Sub)]
    return any(tree.literal(one.right) in (1, 1.0) and "norm" in source.code(one.left) for one in gaps)


def _targets(node: ast.stmt) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {name for one in targets if one is not None for name in _names(one)}


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}

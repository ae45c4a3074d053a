"""`before = [p.data for p in model.parameters()]` keeps no values: the step changes them too.

`.data` and `.detach()` share the memory of the parameter, and so does the parameter itself. What was meant as the old
weights follows every later step: the difference "before minus after" is always 0, the penalty of EWC, FedProx or L2-SP
pulls towards the current weights, a history of weights holds the last ones many times over. `.cpu()` copies from a GPU
and shares on a CPU, so it works on one machine and not on the other.

Copy: `[p.detach().clone() for p in model.parameters()]`, or `copy.deepcopy(model.state_dict())`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, follow, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/KarhouTam/FL-bench/issues/165", "https://github.com/flwrlabs/flower/pull/1654")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["moved"] == 0
    assert good["moved"] > 0.01
    weight = torch.nn.Parameter(torch.ones(2, device=device))
    for kept, follows in ((weight.data, True), (weight.detach(), True), (weight.detach().clone(), False)):
        assert (kept.data_ptr() == weight.data_ptr()) is follows


_SHARES = {"detach", "cpu", "float", "view", "flatten", "reshape"}


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("step")):
        return
    for assign in source.all(ast.Assign):
        tensor, target = _kept(source, assign.value), assign.targets[0]
        if tensor is not None and isinstance(target, ast.Name | ast.Attribute) and _compared(source, assign, target):
            fixed = f"{source.code(_parameter(tensor))}.detach().clone()"
            if isinstance(tensor, ast.Call) and source.name(tensor.func) == "list":
                fixed = f"[p.detach().clone() for p in {source.code(tensor.args[0])}]"
            message = f"`{source.code(target)}` shares the parameters' memory and follows every step: keep `{fixed}`"
            yield source.hit(assign, message, edits.replace(source, tensor, fixed))


def _kept(source: Source, node: ast.expr) -> ast.expr | None:
    """The expression that stands for a parameter's own memory: in a list or dict made of them, or alone."""
    if isinstance(node, ast.ListComp | ast.DictComp):
        element = node.elt if isinstance(node, ast.ListComp) else node.value
        over = follow.method(node.generators[0].iter) in {"parameters", "named_parameters"}
        return element if over and isinstance(_parameter(element), ast.Name) else None
    listed = isinstance(node, ast.Call) and source.name(node.func) == "list" and len(node.args) == 1
    if isinstance(node, ast.Call) and listed and follow.method(node.args[0]) == "parameters":
        return node
    owner = _parameter(node)
    own = isinstance(owner, ast.Attribute) and owner.attr in {"weight", "bias"}
    return node if own and values.sure(source, node, "tensor") else None


def _parameter(node: ast.expr) -> ast.expr:
    """`layer.weight` of `layer.weight.data`, `p` of `p.detach().cpu()`: through what copies nothing."""
    while True:
        if isinstance(node, ast.Call) and follow.method(node) in _SHARES:
            node = tree.receiver(node)
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        else:
            return node


def _compared(source: Source, assign: ast.Assign, target: ast.Name | ast.Attribute) -> bool:
    """Whether steps follow, and what was kept is then set against the parameters it came from."""
    name = target.id if isinstance(target, ast.Name) else target.attr
    over = next((n for n in ast.walk(assign.value) if follow.method(n) in {"parameters", "named_parameters"}), None)
    model = source.code(tree.receiver(over)) if isinstance(over, ast.Call) else "?"
    later = any(call.lineno > assign.lineno for call in source.methods("step")) or tree.loops(source, assign)
    uses: list[ast.Name | ast.Attribute] = [*source.all(ast.Name), *source.all(ast.Attribute)] if later else []
    same = (use for use in uses if (use.id if isinstance(use, ast.Name) else use.attr) == name)
    return any(
        isinstance(u.ctx, ast.Load) and u.lineno > assign.lineno and _set_against(source, u, model) for u in same
    )


def _set_against(source: Source, use: ast.expr, model: str) -> bool:
    """In a difference, a comparison, or a zip with the live parameters."""
    for up in tree.ancestors(source, use):
        if isinstance(up, ast.BinOp):
            return isinstance(up.op, ast.Sub)
        if isinstance(up, ast.Call):
            ask = follow.method(up) in {"equal", "allclose", "isclose", "mse_loss", "sub", "dist"}
            return ask or (source.name(up.func) == "zip" and f"{model}.parameters()" in source.code(up))
        if isinstance(up, ast.stmt):
            return False
    return False

"""`log(softmax(x))` is minus infinity for an unlikely class; `log_softmax(x)` is right.

Softmax of a score 200 below the best is 0 in float32, and its logarithm is `-inf`: the loss is infinite, the gradient NaN.
`log_softmax` never forms the tiny number and gives -200. The same goes for `log(sigmoid(x))` and for `log(1 - sigmoid(x))`.
Adding an eps inside the logarithm hides the infinity and makes the gradient vanish instead.

```python
log_p = F.log_softmax(x, dim=1)
log_p = F.logsigmoid(x)       # log(sigmoid(x))
log_q = F.logsigmoid(-x)      # log(1 - sigmoid(x))
```

`nn.CrossEntropyLoss` is `log_softmax` followed by `nn.NLLLoss`: it wants the scores themselves.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, tree, values
from torchlore.check.source import Hit, Source

_BETTER = {"torch.softmax": "torch.log_softmax", "torch.nn.functional.softmax": "{}.log_softmax",
           "torch.sigmoid": "torch.nn.functional.logsigmoid", "torch.nn.functional.sigmoid": "{}.logsigmoid"}  # fmt: skip

ROWS = ("loss-ce-decomp",)
SOURCES = ("001:68", "003:665")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    assert bad["loss"] == float("inf")
    assert abs(good["loss"] - 200) < 1e-3
    assert bad["gradient_is_finite"] == 0
    assert good["gradient_is_finite"] == 1

    x, y = torch.randn(8, 5), torch.randint(0, 5, (8,))
    assert torch.allclose(F.nll_loss(F.log_softmax(x, 1), y), F.cross_entropy(x, y))
    far = torch.tensor([-200.0], requires_grad=True)
    assert torch.isinf(far.sigmoid().log())
    assert F.logsigmoid(far) == -200
    (far.sigmoid() + 1e-8).log().backward()
    assert far.grad is not None
    assert far.grad == 0  # eps: no infinity, and no gradient


def find(source: Source) -> Iterator[Hit]:
    for call in (*source.calls("torch.log"), *source.methods("log")):
        plain = source.name(call.func) == "torch.log"
        inner = call.args[0] if plain and call.args else None if plain or call.args else tree.receiver(call)
        given = values.state(source, inner) if inner is not None else None
        if inner is None or given is None or given.state not in ("probs", "sigmoid") or _guarded(source, inner):
            continue
        if tree.is_statement(source, call) or follow.in_test(source, call):
            continue  # a cell of a notebook that shows it, a test that compares
        if isinstance(given.node, ast.Call) and "gumbel" in tree.dotted(given.node.func):
            continue  # drawn, there is no logarithm of it to ask for
        inside = (
            follow.followed(source, given.node.args[0])
            if isinstance(given.node, ast.Call) and given.node.args
            else None
        )
        if isinstance(inside, ast.Call) and source.name(inside.func) in ("torch.arange", "torch.linspace"):
            continue  # a table of known numbers
        clamped = (tree.receiver(one) for one in source.methods("clamp_", "clip_") if one.lineno < call.lineno)
        if any(tree.dotted(one).removesuffix(".data") == (tree.dotted(inner) or "?") for one in clamped):
            continue
        first, better = ("softmax", "log_softmax") if given.state == "probs" else ("sigmoid", "logsigmoid")
        message = f"the logarithm of a {first} is -inf for a score far below the best: write `F.{better}`"
        fixed = _fixed(source, inner)
        lesson = tree.function(source, call) is None and not any(source.methods("backward"))
        fix = [edits.replace(source, call, fixed)] if fixed else []
        yield source.hit(call, message, *fix, severity="hint" if lesson else None)


def _guarded(source: Source, node: ast.expr) -> bool:
    """`p.clamp(min=eps)` and `torch.clamp(p, eps)` never reach zero, nor does a name for one."""
    node = follow.followed(source, node)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("clamp")


def _fixed(source: Source, inner: ast.expr) -> str:
    """`F.log_softmax(x, dim=1)` for `F.softmax(x, dim=1)`; "" where it is another expression."""
    name = source.name(inner.func) if isinstance(inner, ast.Call) else ""
    if name not in _BETTER or not isinstance(inner, ast.Call):
        return ""
    home = source.code(inner.func).rpartition(".")[0]
    arguments = source.code(inner)[len(source.code(inner.func)) :]
    return _BETTER[name].format(home) + arguments if home else ""

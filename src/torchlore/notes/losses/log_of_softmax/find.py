"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, tree, values
from torchlore.check.source import Hit, Source

_BETTER = {"torch.softmax": "torch.log_softmax", "torch.nn.functional.softmax": "{}.log_softmax",
           "torch.sigmoid": "torch.nn.functional.logsigmoid", "torch.nn.functional.sigmoid": "{}.logsigmoid"}  # fmt: skip
_PICKS = ("torch.gather", "torch.squeeze", "torch.reshape", "torch.flatten")


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


def _guarded(source: Source, node: ast.expr, hops: int = 4) -> bool:
    """`p.clamp(min=eps)` and `torch.clamp(p, eps)` never reach zero, nor does a name for one, nor what is picked from one."""
    node = follow.followed(source, node)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        picked = isinstance(node, ast.Subscript) and hops > 0
        return picked and isinstance(node, ast.Subscript) and _guarded(source, node.value, hops - 1)
    if node.func.attr.startswith(("clamp", "clip")):
        return True
    inner = node.args[0] if source.name(node.func) in _PICKS and node.args else tree.receiver(node)
    return (
        node.func.attr in ("gather", "squeeze", "view", "reshape", "flatten")
        and hops > 0
        and _guarded(source, inner, hops - 1)
    )


def _fixed(source: Source, inner: ast.expr) -> str:
    """`F.log_softmax(x, dim=1)` for `F.softmax(x, dim=1)`; "" where it is another expression."""
    name = source.name(inner.func) if isinstance(inner, ast.Call) else ""
    if name not in _BETTER or not isinstance(inner, ast.Call):
        return ""
    home = source.code(inner.func).rpartition(".")[0]
    arguments = source.code(inner)[len(source.code(inner.func)) :]
    return _BETTER[name].format(home) + arguments if home else ""

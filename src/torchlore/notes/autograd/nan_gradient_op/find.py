"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, values
from torchlore.check.source import Hit, Source

_MODULE = "torch.nn.Module"
_SAFE = {"clamp", "clamp_min", "clip", "maximum"}

WORDS = ("sqrt|acos|asin|arccos|arcsin",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("sqrt", "acos", "asin", "arccos", "arcsin"):
        name = follow.method(call)
        function = source.name(call.func) == f"torch.{name}"
        if source.name(call.func) and not function:
            continue
        inner = call.args[0] if function and call.args else tree.receiver(call)
        if name == "sqrt":
            steep, write = _squares(source, inner), "0: use torch.linalg.vector_norm, or add 1e-12 inside"
        else:
            steep, write = not _kept_away(source, inner), "1 and -1: clamp the input to just inside"
        if steep and _trained(source, call, inner):
            beside = name == "sqrt" and _adds_beside(source, call) and _learns(source, call)
            yield source.hit(
                call,
                f"the gradient of `{source.code(call)}` is not finite at {write}",
                severity="warning" if beside else None,
            )


def _learns(source: Source, call: ast.Call) -> bool:
    """In a loss, in a function, or in a class that has layers: what only shapes features sees no gradient."""
    cls = tree.class_of(source, call)
    above = [source.name(one) for one in cls.bases] if cls is not None else []
    if cls is None or "loss" in cls.name.lower() or any(one.startswith("torch.nn.") for one in above if one != _MODULE):
        return True
    made = (source.name(one.func) for one in tree.under(source, cls, ast.Call))
    return any(one.startswith("torch.nn.") and ".functional." not in one for one in made)


def _adds_beside(source: Source, call: ast.Call) -> bool:
    """`sqrt(y) + eps`: whoever thought of the point put it on the wrong side."""
    up = source.parents[call]
    if not isinstance(up, ast.BinOp) or not isinstance(up.op, ast.Add):
        return False
    other = up.right if up.left is call else up.left
    small = tree.literal(other)
    return (isinstance(small, float) and 0 < small < 1e-3) or "eps" in tree.dotted(other).lower()


def _squares(source: Source, node: ast.expr) -> bool:
    """A sum or mean of squares, a variance or a squared loss, with nothing added."""
    node = follow.followed(source, node)
    if not isinstance(node, ast.Call):
        return False
    name = source.name(node.func)
    if name.endswith(("functional.mse_loss", "torch.var")) or values.made_by(source, node.func, "torch.nn.MSELoss"):
        return True
    if follow.method(node) not in {"sum", "mean"}:
        return follow.method(node) == "var" and values.sure(source, node, "tensor")
    inside = node.args[0] if name in {"torch.sum", "torch.mean"} and node.args else tree.receiver(node)
    inside = follow.followed(source, inside)
    power = isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.Pow) and tree.literal(inside.right) == 2
    product = inside if isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.Mult) else None
    twice = product is not None and source.code(product.left) == source.code(product.right)
    called = follow.method(inside) in {"pow", "square"}
    return (
        (power or twice or called)
        and not _of_pairs(source, inside)
        and not _of_weights(inside)
        and not _above_0(source, inside)
    )


def _of_weights(node: ast.expr) -> bool:
    """`(self.weight ** 2).sum()`: the weights of a layer are not all 0."""
    base = node.left if isinstance(node, ast.BinOp) else tree.receiver(node) if isinstance(node, ast.Call) else node
    return tree.dotted(base).endswith((".weight", ".weight.data"))


def _above_0(source: Source, node: ast.expr) -> bool:
    """`torch.exp(log_mel) ** 2`: never 0."""
    base = node.left if isinstance(node, ast.BinOp) else tree.receiver(node) if isinstance(node, ast.Call) else node
    return follow.method(follow.followed(source, base)) in ("exp", "softmax", "softplus")


def _of_pairs(source: Source, node: ast.expr) -> bool:
    """Differences of every pair have a note of their own: pairwise-distance-by-broadcast."""
    parts = [node, *(follow.followed(source, name) for name in ast.walk(node) if isinstance(name, ast.Name))]
    return any("None" in source.code(part) or "unsqueeze" in source.code(part) for part in parts)


def _kept_away(source: Source, node: ast.expr) -> bool:
    node = follow.followed(source, node)
    return isinstance(node, ast.BinOp) or follow.method(node) in _SAFE


def _trained(source: Source, call: ast.Call, inner: ast.expr) -> bool:
    """A graph hangs on it, or it stands in a loss or a forward pass and may well have one."""
    if any("no_grad" in source.code(one) or "inference" in source.code(one) for one in tree.contexts(source, call)):
        return False
    home = tree.function(source, call)
    likely = home is not None and (home.name == "forward" or "loss" in home.name.lower())
    attached = values.attached(source, inner)
    return attached is True or (attached is None and likely)

"""The rule of reduced-over-the-batch."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, edits, follow, grouped, scopes, tree, values
from torchlore.check.source import Hit, Source

_WAYS = {"mean", "std", "norm", "sum"}
_SAME = {"exp", "relu", "float", "sigmoid", "tanh", "softplus"}
_PLAIN = {f"torch.{name}" for name in (*_WAYS, *_SAME)}
WORDS = ("forward|normalize", "mean|std|norm|sum|normalize")


def find(source: Source) -> Iterator[Hit]:
    yield from _normalised(source)
    if not any(f"{word}(" in source.text for word in _WAYS):
        return
    for node in (*grouped.operations(source, ast.Sub), *grouped.operations(source, ast.Div)):
        given = _reduced(source, node.right)
        home = tree.function(source, node) if given is not None else None
        if given is None or home is None or home.name != "forward" or not _in_sum(node.left, given.id):
            continue
        if isinstance(node.op, ast.Sub) == (_way(source, node.right) in ("norm", "sum", "std")):
            continue
        if _comes_back(source, node, home) and _of_layer(source, given):
            code = source.code(node.right)
            told = f"`{code}` goes over all samples of the batch, so each one's output depends on the others: give it `dim=-1, keepdim=True`"
            yield source.hit(node.right, told)


def _normalised(source: Source) -> Iterator[Hit]:
    """`a = F.normalize(a, dim=0)`, and then `a @ b.T` of the rows: what was made 1 long is a column."""
    for call in source.calls("torch.nn.functional.normalize"):
        axis, name = tree.argument(call, 2, "dim"), tree.target(source, call)
        if axis is None or tree.literal(axis) != 0 or not isinstance(name, ast.Name):
            continue
        home = tree.function(source, call)
        products = (
            one for one in tree.under(source, home or source.tree, ast.BinOp) if isinstance(one.op, ast.MatMult)
        )
        if any(_last_factor(one.left) == name.id and _turned(one.right) for one in products):
            told = f"this makes the columns of `{name.id}` 1 long, over the batch, and each row is a sample: write `dim=-1`"
            yield source.hit(call, told, edits.replace(source, axis, "-1"), safe=False)


def _last_factor(node: ast.expr) -> str:
    """`a` of `a` and of `scale * a`."""
    return tree.dotted(node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else node)


def _turned(node: ast.expr) -> bool:
    """`b.T`, `b.t()`, `b.transpose(0, 1)`."""
    return (isinstance(node, ast.Attribute) and node.attr in ("T", "mT")) or follow.method(node) in ("t", "transpose")


def _way(source: Source, node: ast.expr) -> str:
    full = source.name(node.func) if isinstance(node, ast.Call) else ""
    return full.rpartition(".")[2] if full in _PLAIN else follow.method(node)


def _reduced(source: Source, node: ast.expr) -> ast.Name | None:
    """`x` of `x.mean()` and `torch.mean(x)`, with nothing said about dimensions."""
    if not isinstance(node, ast.Call) or node.keywords or _way(source, node) not in _WAYS:
        return None
    plain = source.name(node.func) in _PLAIN
    inner = (node.args[0] if len(node.args) == 1 else None) if plain else None if node.args else tree.receiver(node)
    return inner if isinstance(inner, ast.Name) else None


def _in_sum(node: ast.expr, name: str) -> bool:
    """`x` itself, or `value + x`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _in_sum(node.left, name) or _in_sum(node.right, name)
    return isinstance(node, ast.Name) and node.id == name


def _comes_back(source: Source, node: ast.AST, home: tree.FunctionNode) -> bool:
    """Whether the result is a network's, and no loss that ends in one number."""
    owner = tree.class_of(source, node)
    cls = next((one for one in classes.all_classes(source) if one.node is owner), None)
    if owner is None or cls is None or not classes.is_module(cls) or "loss" in owner.name.lower():
        return False
    around = [
        up for up in tree.ancestors(source, node) if isinstance(up, ast.Call) and follow.method(up) in ("mean", "sum")
    ]
    back = [one.value for one in tree.under(source, home, ast.Return) if one.value is not None]
    return not around and not any("loss" in source.code(one).lower() for one in back)


def _of_layer(source: Source, name: ast.Name, hops: int = 3) -> bool:
    """Whether it is what a layer of the network gives for what `forward` was given."""
    found = scopes.reaching(source, name)
    made = found[0].value if len(found) == 1 and found[0].how == "assign" and not found[0].path else None
    while isinstance(made, ast.Call) and (follow.method(made) in _SAME or source.name(made.func) in _PLAIN):
        made = made.args[0] if source.name(made.func) in _PLAIN and made.args else tree.receiver(made)
    if isinstance(made, ast.Name) and hops:
        return _of_layer(source, made, hops - 1)
    first = made.args[0] if isinstance(made, ast.Call) and len(made.args) == 1 else None
    layer = isinstance(made, ast.Call) and tree.dotted(made.func).startswith("self.")
    return (
        layer
        and isinstance(made, ast.Call)
        and isinstance(first, ast.Name)
        and values.sure(source, made.func, "module")
    )

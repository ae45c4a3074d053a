"""The rule of softmax-over-queries."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, grouped, tree, values
from torchlore.check.source import Hit, Source

# the dimensions that the keys were turned round, and those of the queries then
_QUERIES: dict[tuple[str, ...], tuple[int, ...]] = {("1", "2"): (1, -2), ("2", "3"): (2, -2), ("-1", "-2"): (-2,)}
_SUMS = ("torch.bmm", "torch.matmul", "torch.einsum", "torch.sum")
_PLAIN = ("torch.softmax", "torch.nn.functional.softmax")


def find(source: Source) -> Iterator[Hit]:
    sums = any(source.calls(*_SUMS)) or any(source.methods("sum"))
    if not sums and not any(grouped.operations(source, ast.MatMult)):
        return
    products = [call.args[0] for call in source.calls("torch.bmm", "torch.matmul") if len(call.args) == 2]
    products += [one.left for one in grouped.operations(source, ast.MatMult)]
    for call in source.calls("torch.bmm"):
        made = _unviewed(source, call.args[0]) if len(call.args) == 2 else None
        if isinstance(made, ast.Call) and _dim(source, made) == 0:
            home = values.made_by(source, made.func, "torch.nn.Softmax")
            here = home is not None and home.source is source and home.node is not None
            told = "the first dimension is the batch, so these weights are shared out among the samples: write `dim=-1`"
            yield source.hit(home.node if here and home is not None and home.node is not None else made, told)
    yield from (*_summed_elsewhere(source), *_by_letters(source))
    for weights in products:
        made = _undropped(source, weights)
        dim = _dim(source, made) if isinstance(made, ast.Call) else None
        wrong = _query_dims(source, _given(source, made)) if isinstance(made, ast.Call) and dim in (1, 2, -2) else ()
        if dim in wrong and not _slots(source, weights):
            yield source.hit(made, "the scores are (..., queries, keys), and this is over the queries: write `dim=-1`")


def _slots(source: Source, weights: ast.expr) -> bool:
    """Slots compete for what they look at."""
    around = tree.class_of(source, weights) or tree.function(source, weights)
    return around is not None and "slot" in source.code(around).lower()


def _by_letters(source: Source) -> Iterator[Hit]:
    """`einsum("bijh,bjhd->bihd", weights, v)` adds up over `j`, and the softmax of the weights went over another letter."""
    hits: dict[ast.AST, str] = {}
    right: set[ast.AST] = set()  # added up over their own letter too: gathered, and handed out again
    sums = list(_equations(source))
    for call, letters, given, out in sums:
        for own, weights in zip(letters, given, strict=True):
            made = _undropped(source, weights)
            dim = _dim(source, made) if isinstance(made, ast.Call) else None
            summed = [one for one in own if one not in out]
            if not isinstance(made, ast.Call) or not isinstance(dim, int) or not -len(own) <= dim < len(own):
                continue
            if own[dim] in summed or _summed_later(source, call, out.find(own[dim]), sums):
                right.add(made)
            elif (
                len(summed) == 1 and not _slots(source, weights) and all(own[0] in side for side in letters)
            ):  # "bhij,hg->bgij" mixes the heads
                place = own.index(summed[0]) - (len(own) if dim < 0 else 0)
                told = f"the weights are added up over `{summed[0]}` (line {call.lineno}), and this softmax shares them out over `{own[dim]}`"
                hits.setdefault(made, f"{told}: write `dim={place}`")
    yield from (source.hit(made, told) for made, told in hits.items() if made not in right)


_Equation = tuple[ast.Call, list[str], list[ast.expr], str]


def _equations(source: Source) -> Iterator[_Equation]:
    """The einsums of two: the call, the letters of both, what they are, and the letters that stay."""
    for call in source.calls("torch.einsum"):
        text = tree.literal(call.args[0]) if len(call.args) > 1 else None
        packed = call.args[1] if len(call.args) == 2 else None
        given = packed.elts if isinstance(packed, ast.List | ast.Tuple) else call.args[1:]
        sides = text.replace(" ", "").partition("->") if isinstance(text, str) and "." not in text else ("", "", "")
        letters = sides[0].split(",")
        if len(letters) == len(given) == 2 and sides[2]:
            yield call, letters, given, sides[2]


def _summed_later(source: Source, call: ast.Call, place: int, sums: list[_Equation]) -> bool:
    """Whether a later einsum adds the product up over this place: a chain of weights, as by way of landmarks."""
    return any(
        place < len(own) and own[place] not in out and _undropped(source, one) is call
        for later, letters, given, out in sums
        if later is not call
        for own, one in zip(letters, given, strict=True)
    )


def _summed_elsewhere(source: Source) -> Iterator[Hit]:
    """`(softmax(layer(x), dim=0) * x).sum(dim=1)`: shared out over the samples, added up over the steps."""
    sums = [
        (tree.receiver(call), tree.argument(call, 0, "dim"))
        for call in source.methods("sum")
        if (call.args or call.keywords) and not source.name(call.func)
    ]
    sums += [(call.args[0], tree.argument(call, 1, "dim")) for call in source.calls("torch.sum") if call.args]
    for summed, dim in sums:
        product = follow.followed(source, summed) if tree.literal(dim) == 1 else None
        for side in (product.left, product.right) if isinstance(product, ast.BinOp) else ():
            made = _unviewed(source, side) if isinstance(product.op, ast.Mult) else None  # type: ignore[union-attr]  # as above
            given = _given(source, made) if isinstance(made, ast.Call) and _dim(source, made) == 0 else None
            last = _ends_in(source, made) if isinstance(made, ast.Call) else None
            if last is not None:
                yield source.hit(
                    last,
                    "these weights are shared out among the samples of the batch and then added up over dimension 1: write `dim=1`",
                    severity="warning",
                )
            if given is not None and isinstance(made, ast.Call) and _by_layer(source, given):
                told = "these weights are shared out among the samples of the batch and then added up over dimension 1: write `dim=1`"
                yield source.hit(made, told, severity="warning")


def _ends_in(source: Source, call: ast.Call) -> ast.Call | None:
    """`nn.Softmax(dim=0)` at the end of the `Sequential` that is called."""
    found = source.values(call.func)
    layers = found[0].items if len(found) == 1 and found[0].kind == "sequential" else ()
    last = layers[-1][0] if len(layers) > 1 and len(layers[-1]) == 1 else None
    made = last.node if last is not None and last.name == "torch.nn.Softmax" and last.source is source else None
    return made if isinstance(made, ast.Call) and tree.literal(tree.argument(made, 0, "dim")) == 0 else None


def _by_layer(source: Source, node: ast.expr) -> bool:
    """Whether a linear layer, alone or at the end of others, gives a score."""
    made = _unviewed(source, node)
    found = source.values(made.func) if isinstance(made, ast.Call) else ()
    return bool(found) and all(one.name in ("torch.nn.Linear", "torch.nn.Sequential") for one in found)


def _undropped(source: Source, node: ast.expr) -> ast.expr:
    """What stands behind a name, under dropout."""
    for _ in range(3):
        node = follow.followed(source, node)
        drops = (
            isinstance(node, ast.Call)
            and len(node.args) == 1
            and values.made_by(source, node.func, "torch.nn.Dropout") is not None
        )
        if not drops or not isinstance(node, ast.Call):
            break
        node = node.args[0]
    return node


def _unviewed(source: Source, node: ast.expr) -> ast.expr:
    """What stands behind a name, under dropout and views that keep the batch in front."""
    for _ in range(4):
        node = _undropped(source, node)
        first = tree.literal(node.args[0]) if isinstance(node, ast.Call) and node.args else None
        ways = {"view": 1, "reshape": 1, "unsqueeze": 0, "contiguous": None, "squeeze": 0}
        if follow.method(node) not in ways or (first in (0, 1) and first == ways[follow.method(node)]):
            break
        node = tree.receiver(node)  # type: ignore[arg-type]  # a call: it has a method
    return node


def _dim(source: Source, call: ast.Call) -> object:
    """The dimension of a softmax, as a function, a method or a module; None for anything else."""
    if source.name(call.func) in _PLAIN:
        return tree.literal(tree.argument(call, 1, "dim"))
    if follow.method(call) == "softmax" and not source.name(call.func):
        module = values.made_by(source, call.func, "torch.nn.Softmax")
        if module is None and (call.args or call.keywords):
            return tree.literal(tree.argument(call, 0, "dim"))
    made = values.made_by(source, call.func, "torch.nn.Softmax")
    return (
        tree.literal(tree.argument(made.node, 0, "dim"))
        if made is not None and isinstance(made.node, ast.Call)
        else None
    )


def _given(source: Source, call: ast.Call) -> ast.expr | None:
    if source.name(call.func) in _PLAIN or values.made_by(source, call.func, "torch.nn.Softmax") is not None:
        return call.args[0] if call.args else None
    return tree.receiver(call)


def _query_dims(source: Source, node: ast.expr | None, hops: int = 3) -> tuple[int, ...]:
    """The dimension of the queries in `q @ k.transpose(-2, -1)`, also times a number; () where it is no such product."""
    node = follow.followed(source, node) if node is not None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult) and hops:
        return _query_dims(source, node.left, hops - 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        keys: ast.expr | None = node.right
    else:
        named = (
            isinstance(node, ast.Call)
            and source.name(node.func) in ("torch.bmm", "torch.matmul")
            and len(node.args) == 2
        )
        keys = node.args[1] if named and isinstance(node, ast.Call) else None
    if isinstance(keys, ast.Attribute) and keys.attr == "mT":
        return (-2,)
    turned = isinstance(keys, ast.Call) and follow.method(keys) == "transpose"
    axes = sorted(str(tree.literal(one)) for one in keys.args) if turned and isinstance(keys, ast.Call) else []
    return _QUERIES.get(tuple(axes), ())

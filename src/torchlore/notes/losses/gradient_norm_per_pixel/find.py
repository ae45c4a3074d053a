"""The rule of gradient-norm-per-pixel."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree
from torchlore.check.source import Hit, Source

_DRAWS = {"torch.rand", "torch.FloatTensor", "torch.empty", "torch.Tensor", "torch.zeros"}


def find(source: Source) -> Iterator[Hit]:
    if not any(source.calls("torch.autograd.grad")):
        return
    for call in source.methods("norm"):
        plain = source.name(call.func).startswith("torch")
        given = (call.args[0] if call.args else None) if plain else tree.receiver(call)
        dim = tree.argument(call, 2 if plain else 1, "dim")
        grad = _gradient(source, given) if given is not None and dim is not None and tree.literal(dim) == 1 else None
        if grad is not None and given is not None and _of_images(source, grad) and _from_one(source, call):
            code = source.code(given)
            yield source.hit(
                call,
                f"`{code}` has four dimensions, and this leaves one length for each pixel: write `{code}.flatten(1)` before the norm",
            )


def _gradient(source: Source, node: ast.expr) -> ast.Call | None:
    """The call of `autograd.grad` whose first result this is, untouched."""
    made = follow.followed(source, node)
    if isinstance(made, ast.Subscript) and tree.literal(made.slice) == 0:
        made = follow.followed(source, made.value)
    elif isinstance(node, ast.Name):
        bound = scopes.reaching(source, node)
        made = bound[0].value if len(bound) == 1 and bound[0].path == (0,) and bound[0].value is not None else made
    return made if isinstance(made, ast.Call) and source.name(made.func) == "torch.autograd.grad" else None


def _of_images(source: Source, grad: ast.Call) -> bool:
    """Whether the inputs are mixed by one number for each sample, with three dimensions of one behind it."""
    given = tree.argument(grad, 1, "inputs")
    mixed = follow.followed(source, given) if given is not None else None
    for node in ast.walk(mixed) if mixed is not None else ():
        if not isinstance(node, ast.Name):
            continue
        drawn = follow.followed(source, node)
        while isinstance(drawn, ast.Call) and follow.method(drawn) in ("to", "cuda", "uniform_", "float", "type_as"):
            drawn = tree.receiver(drawn)
        if isinstance(drawn, ast.Call) and source.name(drawn.func) in _DRAWS:
            sizes = drawn.args
            if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
                sizes = sizes[0].elts
            if len(sizes) == 4 and [tree.literal(one) for one in sizes[1:]] == [1, 1, 1]:
                return True
    return False


def _from_one(source: Source, call: ast.Call) -> bool:
    """`norm - 1`, here or by the name it gets."""
    up = source.parents[call]
    if isinstance(up, ast.BinOp):
        return isinstance(up.op, ast.Sub) and tree.literal(up.right) == 1
    name = up.targets[0].id if isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Name) else ""
    home = tree.function(source, call) or source.tree
    gaps = (one for one in tree.under(source, home, ast.BinOp) if isinstance(one.op, ast.Sub))
    return bool(name) and any(tree.dotted(one.left) == name and tree.literal(one.right) == 1 for one in gaps)

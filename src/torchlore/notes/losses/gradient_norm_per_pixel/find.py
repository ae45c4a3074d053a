"""The rule of gradient-norm-per-pixel."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree
from torchlore.check.source import Hit, Source

_DRAWS = {"torch.rand", "torch.FloatTensor", "torch.empty", "torch.Tensor", "torch.zeros"}
WORDS = ("grad", "norm|rand|rand_like")


def find(source: Source) -> Iterator[Hit]:
    if not any(source.calls("torch.autograd.grad")):
        return
    yield from _mixed_by_pixel(source)
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


def _mixed_by_pixel(source: Source) -> Iterator[Hit]:
    """`alpha = torch.rand(real.shape)`, then `alpha * real + (1 - alpha) * fake` and a length for each flattened sample."""
    for call in source.calls("torch.rand", "torch.rand_like"):
        held, given = source.parents[call], call.args[0] if len(call.args) == 1 else None
        like = source.name(call.func) == "torch.rand_like"
        if isinstance(given, ast.Attribute) and given.attr == "shape":
            given = given.value
        elif isinstance(given, ast.Call) and follow.method(given) == "size" and not given.args:
            given = tree.receiver(given)
        elif not like:
            continue
        name = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
        home = tree.function(source, call)
        if given is None or home is None or not isinstance(name, ast.Name) or not isinstance(given, ast.Name):
            continue
        mixed = [one for one in tree.under(source, home, ast.BinOp) if _mixes(one, name.id, given.id)]
        penalty = any(tree.function(source, one) is home for one in source.calls("torch.autograd.grad"))
        if mixed and penalty and _flattened(source, home):
            code = source.code(given)
            yield source.hit(
                call,
                f"this draws a number for each element of `{code}`, and the line between two samples wants one for each: `torch.rand({code}.size(0), 1, 1, 1)`",
            )


def _mixes(node: ast.BinOp, alpha: str, sample: str) -> bool:
    """`alpha * real + (1 - alpha) * fake`, or `real + alpha * (fake - real)`."""
    if not isinstance(node.op, ast.Add):
        return False
    names = [{one.id for one in ast.walk(side) if isinstance(one, ast.Name)} for side in (node.left, node.right)]
    return alpha in names[0] | names[1] and sample in names[0] | names[1] and len(names[0] | names[1]) == 3


def _flattened(source: Source, home: ast.AST) -> bool:
    """`grad.flatten(1).norm(...)`, `grad.view(n, -1)`: samples of several dimensions."""
    shaped = (one for one in tree.under(source, home, ast.Call) if follow.method(one) in ("flatten", "view", "reshape"))
    return any(tree.literal(arg) in (1, -1) for one in shaped for arg in one.args)


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

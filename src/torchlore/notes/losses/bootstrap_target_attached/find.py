"""The rule of bootstrap-target-attached."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, identity, losses, terms, tree, values
from torchlore.check.source import Hit, Source

_DISCOUNT = re.compile(r"^(gamma|discount\w*|disc)_?$", re.IGNORECASE)
_SQUARE = re.compile(r"\*\* *2|\.pow\(2\)|\.square\(")
_LOSSES = ("MSELoss", "mse_loss", "SmoothL1Loss", "smooth_l1_loss", "HuberLoss", "huber_loss", "L1Loss", "l1_loss")


def find(source: Source) -> Iterator[Hit]:
    text = source.text.lower()
    if "gamma" not in text and "discount" not in text and "next" not in text:
        return
    pairs = [(one.input, one.target) for one in losses.loss_calls(source, *_LOSSES)]
    if _SQUARE.search(source.text):
        pairs += [(one.right, one.left) for one in source.all(ast.BinOp) if _squared(source, one)]
    for value, target in pairs:
        for first, second in ((value, target), (target, value)):
            later = _own_estimate(source, first, second) if first is not None and second is not None else None
            if later is not None:
                told = f"the target follows the trained weights: put `{source.code(later)}` under torch.no_grad() or detach it"
                yield source.hit(later, told)
                break


def _own_estimate(source: Source, value: ast.expr, target: ast.expr) -> ast.Call | None:
    """The call in the target, discounted and with its graph, of a net that also gives the value."""
    mine = {_net(source, call) for call in terms.reached(source, value)} - {None}
    for product in _products(source, target) if mine else ():
        for call in terms.reached(source, product) if _discounted(product) else ():
            if _net(source, call) in mine:
                return call
    return None


def _products(source: Source, node: ast.expr, hops: int = 6) -> Iterator[ast.BinOp]:
    """The products that a sum is made of, through names and reshapes."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield from (*_products(source, node.left, hops), *_products(source, node.right, hops))
    elif isinstance(node, ast.BinOp):
        yield node
    elif isinstance(node, ast.Name) and hops and (value := follow.binding(source, node)) is not None:
        yield from _products(source, value, hops - 1)
    elif isinstance(node, ast.Call) and follow.method(node) in (
        "unsqueeze",
        "squeeze",
        "view",
        "reshape",
        "float",
        "to",
    ):
        yield from _products(source, tree.receiver(node), hops)


def _net(source: Source, call: ast.Call) -> object:
    """The net that a call runs: a module, or a method of the module the code stands in."""
    if not isinstance(call.func, ast.Name | ast.Attribute) or not values.maybe(source, call.func, "module", "function"):
        return None
    if isinstance(call.func, ast.Attribute) and call.func.attr == "forward":
        return identity.identity(source, call.func.value)
    method = tree.dotted(call.func).startswith("self.") and tree.dotted(call.func).count(".") == 1
    own = values.sure(source, call.func, "module", weak=True) or method
    return identity.identity(source, call.func) if own else None


def _discounted(term: ast.AST) -> bool:
    """Whether a factor is called gamma or discount, or is a number a little below 1."""
    parts = [node for node in ast.walk(term) if isinstance(node, ast.Name | ast.Attribute | ast.Constant)]
    names = [tree.dotted(node).rpartition(".")[2] for node in parts]
    numbers = [node.value for node in parts if isinstance(node, ast.Constant) and isinstance(node.value, float)]
    return any(_DISCOUNT.match(name) for name in names) or any(0.8 <= number < 1 for number in numbers)


def _squared(source: Source, node: ast.BinOp) -> bool:
    """`delta.pow(2)` or `(a - b) ** 2`, directly or through a name."""
    held = source.parents[node] if isinstance(node.op, ast.Sub) else None
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    return bool(name) and bool(re.search(rf"\b{re.escape(name)}\b *({_SQUARE.pattern})", source.text))

"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, losses, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_RECONSTRUCTIONS = ("mse_loss", "MSELoss", "binary_cross_entropy", "BCELoss", "binary_cross_entropy_with_logits", "BCEWithLogitsLoss",
                    "l1_loss", "L1Loss", "smooth_l1_loss", "SmoothL1Loss", "cross_entropy", "CrossEntropyLoss")  # fmt: skip
_DIVERGENCE = regex(r"exp\(")
_SQUARE = regex(r"pow\(|\*\* ?2|square\(")
WORDS = (f"{losses.SAID}|mean",)


def find(source: Source) -> Iterator[Hit]:
    if "exp(" not in source.text or "sum(" not in source.text:
        return
    yield from _mean_of_a_number(source)
    means = {one.call for one in losses.loss_calls(source, *_RECONSTRUCTIONS) if _is_mean(one)}
    if not means:
        return
    totals = [tree.receiver(call) for call in source.methods("backward")]
    totals += [one.value for one in source.all(ast.Return) if one.value is not None]
    totals += [part for one in totals if isinstance(one, ast.Tuple) for part in one.elts]
    seen: set[ast.AST] = set()
    for total in totals:
        parts = list(_parts(source, total))
        mean = next((one for one in parts if one in means and one not in seen), None)
        if mean is not None and any(_summed(source, one) for one in parts):
            seen.add(mean)
            yield source.hit(
                mean,
                'this is the mean over all elements, and the KL term beside it a sum over the batch: pass reduction="sum" here too',
            )


def _mean_of_a_number(source: Source) -> Iterator[Hit]:
    """`torch.mean(-0.5 * torch.sum(1 + logvar - mu**2 - logvar.exp()), dim=0)`: nothing is left to take a mean of."""
    for call in (*source.calls("torch.mean"), *source.methods("mean")):
        plain = source.name(call.func) == "torch.mean"
        if not plain and source.name(call.func):
            continue
        given = (call.args[0] if call.args else None) if plain else tree.receiver(call)
        if given is not None and _summed(source, follow.followed(source, given)):
            told = "the sum has gone over the batch already, so this mean does nothing: give the sum `dim=1`"
            yield source.hit(follow.followed(source, given), told)


def _is_mean(one: losses.LossCall) -> bool:
    old = one.option("size_average") or one.option("reduce")
    return old is None and (one.option("reduction") is None or tree.literal(one.option("reduction")) == "mean")


def _parts(source: Source, node: ast.expr, hops: int = 6) -> Iterator[ast.expr]:
    """The summands that stand there without a weight."""
    made = follow.followed(source, node)
    if isinstance(made, ast.BinOp) and isinstance(made.op, ast.Add) and hops:
        yield from (*_parts(source, made.left, hops - 1), *_parts(source, made.right, hops - 1))
    else:
        yield made


def _summed(source: Source, node: ast.expr) -> bool:
    """`-0.5 * torch.sum(1 + logvar - mu**2 - logvar.exp())` over all axes, here or in the function that is called."""
    inner = flow.called(source, node) if isinstance(node, ast.Call) else None
    if inner is not None:
        given = calls.returned(inner)
        return len(given) == 1 and _summed(inner.source, follow.followed(inner.source, given[0]))
    if isinstance(node, ast.UnaryOp):
        return _summed(source, node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        numbers = [isinstance(tree.literal(one), int | float) for one in (node.left, node.right)]
        return any(numbers) and _summed(source, follow.followed(source, node.right if numbers[0] else node.left))
    if not isinstance(node, ast.Call):
        return False
    plain = source.name(node.func) == "torch.sum" and len(node.args) == 1 and not node.keywords
    method = follow.method(node) == "sum" and not node.args and not node.keywords
    if not plain and not method:
        return False
    inside = follow.followed(source, node.args[0] if plain else tree.receiver(node))
    named = [follow.followed(source, one) for one in ast.walk(inside) if isinstance(one, ast.Name)]
    whole = " ".join(source.code(one) for one in (inside, *named))  # `var` of `var = logvar.exp()`
    return _DIVERGENCE.search(whole) is not None and _SQUARE.search(whole) is not None

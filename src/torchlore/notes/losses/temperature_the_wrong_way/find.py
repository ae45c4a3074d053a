"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, losses, tree
from torchlore.check.source import Hit, Source

_TEMPERATURE = re.compile(r"^(temperature|temp|tau)$", re.IGNORECASE)


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy"):
        scores = follow.followed(source, loss.input) if loss.input is not None else None
        if isinstance(scores, ast.BinOp) and isinstance(scores.op, ast.Mult) and (name := _multiplied(source, scores)):
            yield source.hit(scores, f"a temperature divides: write `/ {name}`, or the softmax is nearly flat")
    for loss in losses.loss_calls(source, "KLDivLoss", "kl_div"):
        one, other = (_softened(source, side) for side in (loss.input, loss.target))
        if one is None or other is None or one == other == "":
            continue
        if bool(one) != bool(other):
            yield source.hit(
                loss.call, f"one side is softened by `{one or other}` and the other is not: divide both logits by it"
            )
        elif one == other and not one.replace(".", "").isdigit() and not _scaled_back(source, loss.call, one):
            yield source.hit(
                loss.call, f"softened by `{one}`, this part's gradients shrink by its square: multiply by `{one}**2`"
            )


def _multiplied(source: Source, product: ast.BinOp) -> str:
    """The temperature that multiplies a similarity; "" where it is more than 1 or is a scale after all."""
    for one, other in ((product.left, product.right), (product.right, product.left)):
        word = tree.dotted(one).rpartition(".")[2]
        similar = follow.followed(source, other)
        product_of = isinstance(similar, ast.BinOp) and isinstance(similar.op, ast.MatMult)
        product_of = product_of or (
            isinstance(similar, ast.Call) and re.search(r"matmul|mm$|einsum|cosine|\bsim", source.code(similar.func))
        )
        if _TEMPERATURE.match(word) and product_of and not _turned(source, word):
            return source.code(one)
    return ""


def _turned(source: Source, word: str) -> bool:
    """Whether the file sets it to a reciprocal, an exponential or something above 1."""
    for one in (*source.all(ast.Assign), *source.all(ast.keyword)):
        name = tree.dotted(one.targets[0]).rpartition(".")[2] if isinstance(one, ast.Assign) else one.arg or ""
        number = tree.literal(one.value)
        odd = any(isinstance(part, ast.Div) for part in ast.walk(one.value)) or "exp" in source.code(one.value)
        if name == word and (odd or (isinstance(number, int | float) and number >= 1)):
            return True
    for function in source.all(ast.FunctionDef):
        args = function.args
        pairs = zip(reversed([*args.posonlyargs, *args.args]), reversed(args.defaults), strict=False)
        if any(
            arg.arg == word and isinstance(n := tree.literal(value), int | float) and n >= 1 for arg, value in pairs
        ):
            return True
    return False


def _softened(source: Source, side: ast.expr | None) -> str | None:
    """`T` of `softmax(x / T)`, "" without one, None where it is no softmax."""
    call = follow.followed(source, side) if side is not None else None
    while isinstance(call, ast.Call) and follow.method(call) in ("detach", "log"):
        call = follow.followed(source, tree.receiver(call))
    if not isinstance(call, ast.Call) or not re.search(r"(log_)?softmax$", source.code(call.func)):
        return None
    full = source.name(call.func)
    scores = (
        call.args[0]
        if full.startswith("torch") and call.args
        else tree.receiver(call)
        if isinstance(call.func, ast.Attribute)
        else None
    )
    scores = follow.followed(source, scores) if scores is not None else None
    if not isinstance(scores, ast.BinOp):
        return "" if isinstance(scores, ast.Name | ast.Attribute | ast.Call) else None
    return source.code(scores.right) if isinstance(scores.op, ast.Div) else None


def _scaled_back(source: Source, call: ast.Call, temperature: str) -> bool:
    """Whether the temperature, or a number, comes into what is made of the divergence."""
    home = tree.function(source, call) or source.tree
    word = temperature.rpartition(".")[2]
    for one in tree.under(source, home, ast.BinOp, ast.AugAssign):
        if isinstance(one.op, ast.Mult | ast.Pow):
            code = source.code(one)
            if (
                code.count(word) >= 1
                and not tree.inside(source, one, call)
                and not re.search(r"softmax", code.split(word)[0][-40:] + "x")
            ):
                return True
            if call in ast.walk(one) and any(
                isinstance(tree.literal(part), int | float)
                for part in (getattr(one, "left", None), getattr(one, "right", None))
                if part is not None
            ):
                return True
    return False

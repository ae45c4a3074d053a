"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, follow, grouped, losses, project, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_TEMPERATURE = regex(r"^(temperature|temp|tau)$", re.IGNORECASE)
WORDS = (f"{losses.SAID}|exp|softmax|log_softmax",)


def find(source: Source) -> Iterator[Hit]:
    if "tau" in source.text or "temp" in source.text or "cross_entropy" in source.text or "kl" in source.text.lower():
        yield from (*_half(source), *_half_of_a_fraction(source))
        yield from _both_ways(source)
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy"):
        scores = follow.followed(source, loss.input) if loss.input is not None else None
        if isinstance(scores, ast.BinOp) and isinstance(scores.op, ast.Mult) and (name := _multiplied(source, scores)):
            yield source.hit(scores, f"a temperature divides: write `/ {name}`, or the softmax is nearly flat")
    for loss in losses.loss_calls(source, "KLDivLoss", "kl_div"):
        one, other = (_softened(source, side) for side in (loss.input, loss.target))
        if one is None or other is None or one == other == "":
            continue
        if (one and not other) or (other and not one and _squared(source, loss.call, other)):
            yield source.hit(
                loss.call, f"one side is softened by `{one or other}` and the other is not: divide both logits by it"
            )
        elif (
            one == other
            and not one.replace(".", "").isdigit()
            and _beside_labels(source, loss.call)
            and not _scaled_back(source, loss.call, one)
        ):
            yield source.hit(
                loss.call, f"softened by `{one}`, this part's gradients shrink by its square: multiply by `{one}**2`"
            )


def _squared(source: Source, call: ast.Call, temperature: str) -> bool:
    """`kl_div(...) * T * T` or `* T**2`, as it is written where both sides are softened."""
    whole: ast.AST = call
    while isinstance(up := source.parents[whole], ast.BinOp) and isinstance(up.op, ast.Mult):
        whole = up
    code = source.code(whole).replace(source.code(call), "")
    return code.count(temperature) > 1 or re.search(rf"{re.escape(temperature)} ?\*\* ?2", code) is not None


def _multiplied(source: Source, product: ast.BinOp) -> str:
    """The temperature that multiplies a similarity; "" where it is more than 1 or is a scale after all."""
    for one, other in ((product.left, product.right), (product.right, product.left)):
        word = tree.dotted(one).rpartition(".")[2]
        similar = follow.followed(source, other)
        matrix = isinstance(similar, ast.BinOp) and isinstance(similar.op, ast.MatMult)
        called = source.code(similar.func) if isinstance(similar, ast.Call) else ""
        product_of = matrix or re.search(r"matmul|mm$|einsum|cosine|\bsim", called) is not None
        if _TEMPERATURE.match(word) and product_of and not _turned(source, word):
            return source.code(one)
    return ""


def _turned(source: Source, word: str) -> bool:
    """Whether the file sets it to a reciprocal, an exponential or something above 1."""
    given = [(tree.dotted(one.targets[0]).rpartition(".")[2], one.value) for one in source.all(ast.Assign)]
    given += [(one.arg or "", one.value) for one in source.all(ast.keyword)]
    for name, value in given:
        number = tree.literal(value)
        odd = any(isinstance(part, ast.Div) for part in ast.walk(value)) or "exp" in source.code(value)
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
    if isinstance(scores, ast.Call) and follow.method(scores) in ("div", "mul", "true_divide", "divide"):
        by = scores.args[-1] if scores.args else None  # `x.div(T)`, `torch.div(x, T)`
        return source.code(by) if by is not None and follow.method(scores) != "mul" else None
    if not isinstance(scores, ast.BinOp):
        return "" if isinstance(scores, ast.Name | ast.Attribute | ast.Call) else None
    return source.code(scores.right) if isinstance(scores.op, ast.Div) else None


def _beside_labels(source: Source, call: ast.Call) -> bool:
    """Whether the function computes a loss against the labels too, which the soft part is weighed against."""
    hard = losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss", "BCEWithLogitsLoss")
    return any(tree.function(source, one.call) is tree.function(source, call) for one in hard)


def _product(source: Source, factor: ast.expr) -> bool:
    """`self.gamma`, which the class made as `T * T * alpha`."""
    cls = project.enclosing_class(source, factor) if tree.dotted(factor).startswith("self.") else None
    made = [one.value for one in classes.assigned(cls, tree.dotted(factor)[5:])] if cls is not None else []
    return any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult | ast.Pow) for one in made)


def _scaled_back(source: Source, call: ast.Call, temperature: str) -> bool:
    """Whether the temperature, or a number, comes into what is made of the divergence."""
    home = tree.function(source, call) or source.tree
    word = temperature.rpartition(".")[2]
    for one in tree.under(source, home, ast.BinOp):
        if not isinstance(one.op, ast.Mult | ast.Pow) or tree.inside(source, one, call):
            continue
        if word in source.code(one.left).split(".")[-1] or word in source.code(one.right).split(".")[-1]:
            return True
        numbers = [isinstance(tree.literal(part), int | float) for part in (one.left, one.right)]
        if any(numbers) and tree.inside(source, call, one):
            return True
        if tree.inside(source, call, one) and any(_product(source, part) for part in (one.left, one.right)):
            return True
    return any(
        isinstance(one.op, ast.Mult) and word in source.code(one.value)
        for one in tree.under(source, home, ast.AugAssign)
    )


def _half(source: Source) -> Iterator[Hit]:
    """`cat([positive, negative / tau])`: one part of the scores is divided and the other is not."""
    for call in source.calls("torch.cat", "torch.hstack", "torch.concat"):
        parts = call.args[0].elts if call.args and isinstance(call.args[0], ast.List | ast.Tuple) else []
        if len(parts) != 2 or not _compared(source, call):
            continue
        by = [_divisor(source, part) for part in parts]
        named = [one for one in by if one]
        if len(named) == 1 and all(one is not None for one in by):
            plain = source.code(parts[by.index("")])
            yield source.hit(call, f"`{plain}` is not divided by `{named[0]}`, and the other scores are: divide both")


def _half_of_a_fraction(source: Source) -> Iterator[Hit]:
    """`exp(pos) / (exp(pos) + exp(neg / tau).sum(1))`: the exponents of one fraction, of which one has no temperature."""
    for whole in grouped.operations(source, ast.Div) if any(source.methods("exp")) else ():
        if tree.function(source, whole) is None:
            continue
        parts = {one: _divisor(source, inside, short=True) for one, inside in _exponents(source, whole)}
        plain = [one for one, by in parts.items() if by == ""]
        named = sorted({by for by in parts.values() if by})
        if plain and len(named) == 1 and all(by is not None for by in parts.values()):
            told = f"this exponent is not divided by `{named[0]}`, and the other one of the fraction is: divide both"
            yield source.hit(plain[0], told)


def _exponents(source: Source, node: ast.expr, hops: int = 4) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls of `exp` that an expression is made of, and what each is given."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and hops:
            made = follow.binding(source, one)
            yield from _exponents(source, made, hops - 1) if made is not None else ()
        elif isinstance(one, ast.Call) and follow.method(one) == "exp":
            plain = source.name(one.func) == "torch.exp"
            inside = (one.args[0] if one.args else None) if plain else tree.receiver(one)
            if inside is not None:
                yield one, inside


def _divisor(source: Source, part: ast.expr, *, short: bool = False) -> str | None:
    """The temperature a score is divided by, "" for a plain similarity, None where neither can be told."""
    scores = follow.followed(source, part)
    if isinstance(scores, ast.BinOp) and isinstance(scores.op, ast.Div):
        name = tree.dotted(scores.right).rpartition(".")[2]
        return source.code(scores.right) if _TEMPERATURE.match(name) or (short and name in ("t", "T")) else None
    while isinstance(scores, ast.Call) and follow.method(scores) in ("unsqueeze", "view", "reshape", "squeeze"):
        scores = follow.followed(source, tree.receiver(scores))
    if isinstance(scores, ast.BinOp) and isinstance(scores.op, ast.MatMult):
        return ""
    if isinstance(scores, ast.Call):
        last = source.code(scores.func).rpartition(".")[2]
        summed = last == "sum" and any(isinstance(one, ast.Mult) for one in ast.walk(scores))
        return "" if summed or last in ("cosine_similarity", "einsum", "bmm", "matmul", "mm") else None
    return None


def _compared(source: Source, call: ast.Call) -> bool:
    """Whether it goes into a cross entropy as it is: nothing divides it later."""
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy"):
        if loss.input is not None and follow.followed(source, loss.input) is call:
            return True
    return False


def _both_ways(source: Source) -> Iterator[Hit]:
    """`softmax(same * T)` in a function that divides its other scores by `T`."""
    for call in source.methods("softmax", "log_softmax"):
        full = source.name(call.func)
        scores = call.args[0] if full.startswith("torch") and call.args else tree.receiver(call)
        scores = follow.followed(source, scores)
        home = tree.function(source, call)
        if home is None or not isinstance(scores, ast.BinOp) or not isinstance(scores.op, ast.Mult):
            continue
        name = tree.dotted(scores.right)
        if not _TEMPERATURE.match(name.rpartition(".")[2]) or tree.function(source, scores) is not home:
            continue
        divided = [one for one in tree.under(source, home, ast.BinOp) if isinstance(one.op, ast.Div)]
        if any(
            tree.dotted(one.right) == name and isinstance(follow.followed(source, one.left), ast.BinOp)
            for one in divided
        ):
            told = f"`{source.code(scores.right)}` divides the other scores of this function and multiplies these: divide both"
            yield source.hit(scores, told)

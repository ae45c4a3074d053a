"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, edits, follow, grouped, losses, origin, project, scopes, tree, uses
from torchlore.check.source import Hit, Source

_DEVIATION = re.compile(r"(^|_)(sigmas?|std|stds|stddev|std_dev|sd)(_\w+)?$", re.IGNORECASE)
_VARIANCE = re.compile(r"(^|_)(var|variance|sigma2|sigma_sq)$", re.IGNORECASE)
_HALF = re.compile(r"/ *2\b|\b0?\.5 *\*|\* *0?\.5\b")
_LOG_VARIANCE = re.compile(r"(^|_)log_?(var|variance|sigma2|sigma_sq)(_\w+)?$", re.IGNORECASE)
_LOG = re.compile(r"log", re.IGNORECASE)
_BOUNDED = ("clamp", "clamp_min", "clip", "squeeze", "unsqueeze", "view", "reshape", "expand_as")
_TAKEN = ("view", "reshape", "unsqueeze", "to", "float", "index_select")
_LOGS = ("logvar", "log_var", "logsigma", "log_sigma")  # one of these is in each log-variance
WORDS = (f"{losses.SAID}|Normal|exp|*logvar*|*log_var*|*logsigma*|*log_sigma*|cumprod",)


def find(source: Source) -> Iterator[Hit]:
    for one in losses.loss_calls(source, "GaussianNLLLoss", "gaussian_nll_loss"):
        given = _unclamped(tree.argument(one.call, 2, "var"))
        word = _word(given)
        if given is not None and _DEVIATION.search(word) and not _LOG.search(word) and not _squared(source, given):
            code = source.code(given)
            fix = edits.replace(source, given, f"{code}**2")
            yield source.hit(
                one.call,
                f"`{code}` is a standard deviation, and this wants the variance: pass `{code}**2`",
                fix,
                safe=False,
            )
        elif given is not None and _LOG_VARIANCE.search(word):
            code = source.code(given)
            fix = edits.replace(source, given, f"{code}.exp()")
            told = f"`{code}` is the logarithm of the variance, and this wants the variance: pass `{code}.exp()`"
            yield source.hit(one.call, told, fix, safe=False)
    for call in source.calls("torch.distributions.Normal", "torch.distributions.normal.Normal"):
        given = tree.argument(call, 1, "scale")
        if given is not None and (_is_variance(source, given) or _of_log_variance(source, given)):
            yield source.hit(
                call, f"Normal takes the standard deviation, and `{source.code(given)}` is the variance: take its root"
            )
    yield from _mixed_without_root(source) if "cumprod" in source.text else ()
    yield from _kl(source) if "exp(" in source.text else ()
    if not uses.says(source, *_LOGS):
        return
    yield from _noise(source) if "exp(" in source.text and "randn" in source.text else ()
    yield from _squared_logarithm(source)
    for made in uses.assigns(source, None, ast.Call) if "exp(" in source.text else ():
        word = tree.dotted(made.targets[0]).rpartition(".")[2]
        named = _DEVIATION.search(word) and not re.search(r"sq|2|var", word)  # `sigma_sqr_prior`
        if named and _of_log_variance(source, made.value) and not _rooted(source, made.targets[0]):
            code = source.code(made.targets[0])
            yield source.hit(
                made,
                f"the exponential of a log-variance is the variance, and `{code}` is used as its root: write `exp(0.5 * ...)`",
                severity="warning",  # known by its name alone
            )


def _unclamped(node: ast.expr | None) -> ast.expr | None:
    """`log_var` of `log_var.clamp(min=1e-6)`: a bound makes no variance of it."""
    while isinstance(node, ast.Call) and follow.method(node) in _BOUNDED and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node


def _kl(source: Source) -> Iterator[Hit]:
    """`1 + 2 * logstd - mu**2 - exp(logstd)`: the variance is `exp(2 * logstd)`."""
    for call in source.methods("exp"):
        inner = call.args[0] if call.args else tree.receiver(call)
        up = source.parents[call]
        if not isinstance(up, ast.BinOp) or not isinstance(up.op, ast.Sub | ast.Add) or not tree.dotted(inner):
            continue
        whole: ast.AST = up
        while isinstance(source.parents[whole], ast.BinOp) and isinstance(source.parents[whole].op, ast.Sub | ast.Add):  # type: ignore[attr-defined]  # a BinOp
            whole = source.parents[whole]
        code, parts = source.code(inner), [one for one in ast.walk(whole) if isinstance(one, ast.BinOp)]
        double = any(isinstance(one.op, ast.Mult) and {2} & {tree.literal(one.left), tree.literal(one.right)}
                     and code in (source.code(one.left), source.code(one.right)) for one in parts)  # fmt: skip
        ones = any(tree.literal(side) == 1 for one in parts for side in (one.left, one.right))
        squares = sum(
            isinstance(one.op, ast.Pow) or "pow(" in source.code(one) or "square(" in source.code(one) for one in parts
        )
        if double and ones and squares:
            told = f"`{code}` is the logarithm of a deviation here (it is doubled beside this), so its variance is `exp(2 * {code})`"
            yield source.hit(call, told)


def _squared_logarithm(source: Source) -> Iterator[Hit]:
    """`mu**2 + logvar**2 - log(logvar**2) - 1`: the logarithm was taken for the deviation itself."""
    for term in source.all(ast.Call, ast.BinOp):
        base = _base(source, term)
        up = source.parents[term]
        if base is not None and isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Name):
            same = (one for one in uses.names(source, up.targets[0].id) if isinstance(one.ctx, ast.Load))
            read = [one for one in same if [x.statement for x in scopes.reaching(source, one)] == [up]]
            up = next((over for one in read if _is_sum(over := source.parents[one])), up)  # `var = logvar**2`
        if base is None or not _LOG_VARIANCE.search(_word(base)) or not _is_sum(up):
            continue
        whole: ast.AST = up
        while _is_sum(source.parents[whole]):
            whole = source.parents[whole]
        squares = {_word(one) for part in ast.walk(whole) if (one := _base(source, part)) is not None} | {_word(base)}
        ones = any(tree.literal(part) == 1 for part in ast.walk(whole))
        if ones and len(squares) > 1 and "exp" not in source.code(whole):
            code = source.code(base)
            yield source.hit(
                term, f"`{code}` is the logarithm of the variance, so the variance is `{code}.exp()` and not its square"
            )


def _is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)


def _base(source: Source, node: ast.AST) -> ast.expr | None:
    """`x` of `x**2`, `x.pow(2)`, `x.square()`, `torch.pow(x, 2)`."""
    if isinstance(node, ast.BinOp):
        return node.left if isinstance(node.op, ast.Pow) and tree.literal(node.right) == 2 else None
    method = follow.method(node)
    if not isinstance(node, ast.Call) or not (method == "square" or (method == "pow" and node.args)):
        return None
    plain = source.name(node.func).startswith("torch.")
    return node.args[0] if plain else tree.receiver(node)


def _word(node: ast.expr | None) -> str:
    """The last word of a plain name, `sigma` of `self.sigma` and of `params["sigma"]`."""
    if isinstance(node, ast.Subscript):
        key = tree.literal(node.slice)
        return key if isinstance(key, str) else ""
    return tree.dotted(node).rpartition(".")[2] if node is not None else ""


def _is_variance(source: Source, node: ast.expr) -> bool:
    """Whether it is called a variance, and is not made of ones, nor a root after all."""
    made = follow.followed(source, node)
    ones = isinstance(made, ast.Call) and source.name(made.func) in ("torch.ones", "torch.ones_like")
    word = _word(node)
    named = _VARIANCE.search(word) is not None and not _numbered(source, node)
    ones = ones or f'register_buffer("{word}", torch.ones' in source.text.replace("'", '"')
    return named and not ones and "sqrt" not in source.code(made) and not _halved(source, node)


def _halved(source: Source, node: ast.expr) -> bool:
    """`var = (log_var / 2).exp()` in one of its branches: called a variance, and its root."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    return any("exp" in source.code(one.value) and _HALF.search(source.code(one.value)) for one in bound if one.value)


def _numbered(source: Source, node: ast.expr) -> bool:
    """`sigma2` beside `sigma1` is the second of two."""
    word = _word(node)
    return word.endswith("2") and bool(uses.names(source, f"{word[:-1]}1") or uses.attributes(source, f"{word[:-1]}1"))


def _rooted(source: Source, name: ast.expr) -> bool:
    """Whether `sd.sqrt()` follows: called so, and taken for what it is."""
    same = uses.names(source, name.id) if isinstance(name, ast.Name) else []
    home = tree.function(source, name)
    ups = [source.parents[one] for one in same if tree.function(source, one) is home]
    return any(
        (isinstance(up, ast.Attribute) and up.attr in ("sqrt", "rsqrt"))
        or (isinstance(up, ast.Call) and source.name(up.func) in ("torch.sqrt", "torch.rsqrt"))
        for up in ups
    )


def _squared(source: Source, node: ast.expr) -> bool:
    """Whether a name stands for a square, whatever it is called."""
    made = follow.followed(source, node)
    power = isinstance(made, ast.BinOp) and isinstance(made.op, ast.Pow | ast.Mult)
    return power or follow.method(made) in ("pow", "square") or "var" in source.code(made).lower()


def _of_log_variance(source: Source, node: ast.expr) -> bool:
    """`torch.exp(logvar)` or `logvar.exp()`, with no half in it."""
    if not isinstance(node, ast.Call):
        return False
    plain = source.name(node.func) == "torch.exp"
    inner = (
        (node.args[0] if node.args else None)
        if plain
        else tree.receiver(node)
        if follow.method(node) == "exp"
        else None
    )
    if inner is None or not _LOG_VARIANCE.search(_word(inner)) or _numbered(source, inner):
        return False
    made = follow.followed(source, inner)
    return made is inner or not isinstance(made, ast.BinOp)


def _mixed_without_root(source: Source) -> Iterator[Hit]:
    """`a * x + (1 - a) * noise` with a product of many alphas: `a` and `1 - a` are variances in a diffusion model."""
    for whole in grouped.operations(source, ast.Add):
        sides = [_factors(one) for one in (whole.left, whole.right)]
        for kept, drawn in (sides, sides[::-1]):
            rest = [one.right for one in drawn if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and tree.literal(one.left) == 1]  # fmt: skip
            share = source.code(rest[0]) if len(rest) == 1 and len(kept) == len(drawn) == 2 else ""
            if share not in [source.code(_unrooted(source, one)) for one in kept] or not any(
                _is_noise(source, one) for one in drawn
            ):
                continue
            if _is_product(source, rest[0]):
                told = f"`{share}` and `1 - {share}` are variances, and samples are scaled by deviations: take the root of both"
                yield source.hit(whole, told, severity="warning")


def _unrooted(source: Source, node: ast.expr) -> ast.expr:
    """`a` of `a.sqrt()` and of `torch.sqrt(a)`: the root of one of the two is not enough."""
    rooted = isinstance(node, ast.Call) and follow.word(source, node) == "sqrt"
    return node if not rooted or not isinstance(node, ast.Call) else node.args[0] if node.args else tree.receiver(node)


def _factors(node: ast.expr) -> list[ast.expr]:
    return [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else []


def _is_noise(source: Source, node: ast.expr) -> bool:
    """Whether it is drawn here, or handed in under that name."""
    made = follow.followed(source, node)
    drawn = isinstance(made, ast.Call) and source.name(made.func) in ("torch.randn_like", "torch.randn")
    return drawn or _word(node) in ("noise", "eps", "epsilon")


def _is_product(source: Source, node: ast.expr, hops: int = 5) -> bool:
    """Whether a number was taken out of a running product: `self.alpha_bar[t][:, None]`, and no root was taken."""
    taken = follow.followed(source, node)
    if isinstance(taken, ast.Call) and follow.word(source, taken).strip("_") in ("gather", "extract", "take"):
        inside = [*taken.args, *([tree.receiver(taken)] if isinstance(taken.func, ast.Attribute) else [])]
        return hops > 0 and any(_is_product(source, one, hops - 1) for one in inside)
    home, made = origin.origin(source, node)
    if isinstance(made, ast.Subscript) or follow.method(made) in _TAKEN:
        inner = made.value if isinstance(made, ast.Subscript) else tree.receiver(made)  # type: ignore[arg-type]  # a call
        return hops > 0 and _is_product(home, inner, hops - 1)
    if isinstance(made, ast.Attribute):
        owner = project.enclosing_class(home, made) if tree.dotted(made) == f"self.{made.attr}" else None
        kept = classes.assigned(owner, made.attr) if owner is not None else []
        sure = len(kept) == 1 and not kept[0].path and kept[0].value is not None and hops > 0
        return sure and kept[0].value is not None and _is_product(kept[0].source, kept[0].value, hops - 1)
    return isinstance(made, ast.Call) and follow.word(home, made) == "cumprod"


def _noise(source: Source) -> Iterator[Hit]:
    """`mu + torch.exp(logvar) * torch.randn_like(mu)`: noise is scaled by the deviation."""
    for product in grouped.operations(source, ast.Mult):
        for one, other in ((product.left, product.right), (product.right, product.left)):
            drawn = follow.followed(source, other) if _of_log_variance(source, one) else None
            if isinstance(drawn, ast.Call) and source.name(drawn.func) in ("torch.randn_like", "torch.randn"):
                code = source.code(one)
                told = f"`{code}` is the variance, and noise is scaled by the standard deviation: write `torch.exp(0.5 * ...)`"
                yield source.hit(product, told, severity="warning")

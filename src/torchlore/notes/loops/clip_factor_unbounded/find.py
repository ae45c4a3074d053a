"""The rule of clip-factor-unbounded."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_LIMIT = regex(r"(^|_)(max|clip|limit|thresh|threshold|bound)", re.IGNORECASE)
_BOUNDS = regex(r"\b(min|max|clamp|clip|minimum|maximum|where)_?\(|\bif\b")

WORDS = ("grad", "*norm*|*sqrt*", "*max*|*clip*|*limit*|*thresh*|*bound*")


def find(source: Source) -> Iterator[Hit]:
    told: set[ast.AST] = set()
    if "norm" not in source.text and "sqrt" not in source.text:
        return
    for grad in (*uses.attributes(source, "grad"), *_listed(source)):
        scaled = _scaled(source, grad)
        if scaled is None:
            continue
        factor, shrinks = scaled
        made = follow.followed(source, factor)
        ratio, bounded = _ratio(source, made)
        if ratio is None or made in told or ratio in told:
            continue
        told |= {made, ratio}
        upside_down = _is_limit(ratio.right) is shrinks
        limit, norm = (source.code(one) for one in _ends(ratio))
        at = ratio if made is factor else made
        if upside_down:
            yield source.hit(
                at, f"this is upside down, and a long gradient stays long: write `min(1.0, {limit} / {norm})`"
            )
        elif not bounded and not _asked(source, grad):
            yield source.hit(at, f"a short gradient is blown up to `{limit}`: write `min(1.0, {limit} / {norm})`")


def _listed(source: Source) -> Iterator[ast.Name]:
    """`g` of `for g in grads`, where `grads` is `[p.grad for p in params]`."""
    for loop in source.all(ast.For) if ".grad for" in source.text else ():
        made = follow.followed(source, loop.iter)
        if (
            isinstance(loop.target, ast.Name)
            and isinstance(made, ast.ListComp)
            and tree.dotted(made.elt).endswith(".grad")
        ):
            inside = (one for part in loop.body for one in ast.walk(part))
            yield from (one for one in inside if isinstance(one, ast.Name) and one.id == loop.target.id)


def _scaled(source: Source, grad: ast.expr) -> tuple[ast.expr, bool] | None:
    """The factor of `p.grad.mul_(f)`, `p.grad *= f`, `p.grad = p.grad * f`, and whether it multiplies."""
    up: ast.AST = source.parents[grad]
    whole: ast.AST = grad
    while isinstance(up, ast.Attribute) and up.attr == "data":
        whole, up = up, source.parents[up]
    if isinstance(up, ast.Attribute) and up.attr in ("mul_", "div_"):
        call = source.parents[up]
        return (call.args[0], up.attr == "mul_") if isinstance(call, ast.Call) and len(call.args) == 1 else None
    if isinstance(up, ast.AugAssign) and up.target is whole and isinstance(up.op, ast.Mult | ast.Div):
        return up.value, isinstance(up.op, ast.Mult)
    value = up.value if isinstance(up, ast.Assign) and up.targets[0] is whole else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult | ast.Div):
        own = source.code(whole)  # type: ignore[arg-type]  # an expression
        if source.code(value.left) == own:
            return value.right, isinstance(value.op, ast.Mult)
    return None


def _ratio(source: Source, made: ast.expr) -> tuple[ast.BinOp | None, bool]:
    """The quotient of a limit and a norm in a factor, and whether something bounds it."""
    bounded = _BOUNDS.search(source.code(made)) is not None
    for node in ast.walk(made):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            top, bottom = _is_limit(node.left), _is_limit(node.right)
            other = node.right if top else node.left
            if top is not bottom and _is_norm(source, other):
                return node, bounded
    return None, bounded


def _bare(node: ast.expr) -> ast.expr:
    """`norm` of `(norm + 1e-6)`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return node.left
    return node


def _is_limit(node: ast.expr) -> bool:
    word = tree.dotted(_bare(node)).rpartition(".")[2]
    return bool(word) and _LIMIT.search(word) is not None


def _is_norm(source: Source, node: ast.expr) -> bool:
    """Something that was made as a length: `.norm()`, a root."""
    bare = _bare(node)
    if not isinstance(bare, ast.Name | ast.Call | ast.Attribute):
        return False
    made = source.code(follow.followed(source, bare))
    return re.search(r"norm\w*\(|sqrt|\*\* ?0?\.5", made) is not None and "min(" not in made and "max(" not in made


def _ends(ratio: ast.BinOp) -> tuple[ast.expr, ast.expr]:
    """The limit and the norm of a quotient."""
    left, right = _bare(ratio.left), _bare(ratio.right)
    return (left, right) if _is_limit(left) else (right, left)


def _asked(source: Source, node: ast.AST) -> bool:
    """Whether a comparison stands around it, or one before it leaves the function."""
    tests = [test for test, _ in tree.conditions(source, node)]
    home = tree.function(source, node)
    before = tree.under(source, home, ast.If) if home is not None else ()
    tests += [one.test for one in before if one.lineno < getattr(node, "lineno", 0) and tree.ends(one.body)]
    return any(
        isinstance(part, ast.Compare) and "None" not in source.code(part) for test in tests for part in ast.walk(test)
    )

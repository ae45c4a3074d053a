"""F.normalize takes dimension 1 unless told otherwise: the tokens of (batch, tokens, features).

`F.normalize(x)` is made for rows of features: (batch, features), with `dim=1` as default. Of a tensor (batch, tokens, features) it
takes one feature over all tokens, so no token has length 1. The products that follow are no cosines: they are larger than 1,
depend on how many tokens there are and on what stands in the others, and a temperature tuned for cosines does not fit them.
`F.cosine_similarity` has the same default and gives one number for each feature instead of one for each token.

Say which dimension: `F.normalize(x, dim=-1)`, `F.cosine_similarity(a, b, dim=-1)`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import calls, edits, follow, tree
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/gabeur/mmt/issues/1",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["largest"] > 1.1  # a cosine is at most 1
    assert good["largest"] < 1.0001


WORDS = ("normalize",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.nn.functional.normalize"):
        if call.args and tree.lacks(call, 2, "dim") and _has_tokens(source, call):
            told = "this takes dimension 1, the tokens, and leaves the features of a token as long as they are"
            fix = edits.add_keyword(source, call, "dim", "-1")
            yield source.hit(call, f"{told}: write `dim=-1`", fix, safe=False)


def _has_tokens(source: Source, call: ast.Call, hops: int = 2) -> bool:
    """Whether the result is (batch, tokens, features), by the product that it goes into, also where a caller makes it."""
    name, home = tree.target(source, call), tree.function(source, call)
    uses = tree.under(source, home or source.tree, ast.Name) if isinstance(name, ast.Name) else []
    mine = [use for use in uses if isinstance(name, ast.Name) and use.id == name.id and use.lineno > call.lineno]
    if any(_summed(source, one) or _multiplied(source, one) for one in (call, *mine)):
        return True
    back = any(isinstance(source.parents[one], ast.Return) for one in (call, *mine))
    sites = calls.callers(as_function(source, home)) if home is not None and back and hops else ()
    return any(_has_tokens(caller, site, hops - 1) for caller, site, _ in sites)


def _summed(source: Source, node: ast.expr) -> bool:
    """`einsum("bnd,bmd->bnm", x, y)`: three letters, and the last of both is summed over."""
    up = source.parents[node]
    text = tree.literal(up.args[0]) if isinstance(up, ast.Call) and source.name(up.func) == "torch.einsum" else None
    terms = [one.strip() for one in text.partition("->")[0].split(",")] if isinstance(text, str) else []
    alike = len(terms) == 2 and terms[0][-1:] == terms[1][-1:] and terms[0][-1:] not in str(text).partition("->")[2]
    return alike and all(len(one) == 3 and one.isalpha() for one in terms)


def _multiplied(source: Source, node: ast.expr) -> bool:
    """`x @ y.transpose(1, 2)` or `torch.bmm(x, y.transpose(1, 2))`, on either side."""
    up = source.parents[node]
    turned = source.parents[up] if isinstance(up, ast.Attribute) and up.attr in ("transpose", "permute") else node
    product = source.parents[turned]
    if isinstance(product, ast.Call) and follow.word(source, product) in ("bmm", "matmul") and len(product.args) == 2:
        left, right = product.args
    elif isinstance(product, ast.BinOp) and isinstance(product.op, ast.MatMult):
        left, right = product.left, product.right
    else:
        return False
    dims = [tree.literal(one) for one in right.args] if follow.method(right) in ("transpose", "permute") else []  # type: ignore[attr-defined]  # a call
    return node in (left, *ast.walk(right)) and dims in ([1, 2], [2, 1], [0, 2, 1])

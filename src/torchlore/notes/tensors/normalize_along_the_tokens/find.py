"""The rule of normalize-along-the-tokens."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, dims, edits, follow, scopes, tree, values
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

WORDS = ("normalize|cosine_similarity|CosineSimilarity",)
_RECURRENT = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.nn.functional.normalize"):
        if call.args and tree.lacks(call, 2, "dim") and _has_tokens(source, call):
            told = "this takes dimension 1, the tokens, and leaves the features of a token as long as they are"
            fix = edits.add_keyword(source, call, "dim", "-1")
            yield source.hit(call, f"{told}: write `dim=-1`", fix, safe=False)
    for call in _cosines(source):
        if _is_pairwise(call) or any(_is_tokens(source, one) for one in call.args[:2]):
            told = "this takes dimension 1, the tokens or the second batch, and gives a number for each feature"
            yield source.hit(call, f"{told}: write `dim=-1`")


def _cosines(source: Source) -> Iterator[ast.Call]:
    """The cosines of two tensors that name no dimension, also by a module made without one."""
    for call in source.calls("torch.nn.functional.cosine_similarity", "torch.cosine_similarity"):
        if len(call.args) > 1 and tree.lacks(call, 2, "dim"):
            yield call
    for call in source.all(ast.Call) if any(source.calls("torch.nn.CosineSimilarity")) else ():
        made = values.made_by(source, call.func, "torch.nn.CosineSimilarity") if len(call.args) == 2 else None
        if made is not None and isinstance(made.node, ast.Call) and tree.lacks(made.node, 0, "dim"):
            yield call


def _is_pairwise(call: ast.Call) -> bool:
    """`cosine_similarity(x.unsqueeze(1), y.unsqueeze(0))`, and `x[:, None]` with `y[None]`."""
    return [_new_axis(one) for one in call.args[:2]] in ([1, 0], [0, 1])


def _new_axis(node: ast.expr) -> int | None:
    """Where a dimension of one is put in."""
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        new = [i for i, one in enumerate(parts) if isinstance(one, ast.Constant) and one.value is None]
        return new[0] if len(new) == 1 else None
    place = tree.literal(node.args[0]) if follow.method(node) == "unsqueeze" and node.args else None  # type: ignore[attr-defined]  # a call
    return place if isinstance(place, int) else None


def _is_tokens(source: Source, node: ast.expr) -> bool:
    """Whether this is (batch, tokens, features): what an embedding of a batch of words gives, or a recurrent layer."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    first = len(bound) == 1 and bound[0].path == (0,) and isinstance(bound[0].value, ast.Call)
    made = bound[0].value if first else follow.followed(source, node)
    if not isinstance(made, ast.Call):
        return False
    if first:
        return values.made_by(source, made.func, *_RECURRENT) is not None
    return values.made_by(source, made.func, "torch.nn.Embedding") is not None and dims.dims(source, made) == 3


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

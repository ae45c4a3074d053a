"""The rule of padding-mask-inverted."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, edits, follow, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_MASKS = ("key_padding_mask", "src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask")

_IS_PAD = regex(r"(?:^|\.)is_pad(?:ding|ded)?$")
_METHODS: dict[str, type[ast.cmpop]] = {"ne": ast.NotEq, "eq": ast.Eq, "gt": ast.Gt, "lt": ast.Lt}
_SHAPES = ("unsqueeze", "view", "expand", "reshape", "to", "bool", "repeat")
_ATTENTION = regex(
    r"nn\.(Transformer|MultiheadAttention)|from torch\.nn[\w.]* import [^\n]*(Transformer|MultiheadAttention)"
)

WORDS = ("|".join((*_MASKS, "scaled_dot_product_attention")),)


def find(source: Source) -> Iterator[Hit]:
    yield from _given_as_it_is(source)
    for keyword in uses.keywords(source, *_MASKS):
        if (made := _as_numbers(source, keyword.value)) is not None:
            told = f"`{source.code(made)}` is added to the scores as numbers, 0 and 1, and hides nothing"
            yield source.hit(keyword, f"{told}: pass the mask as it is compared, True at the padding")
            continue
        call = source.parents[keyword]
        known = _takes(source, call) if isinstance(call, ast.Call) else False
        if known is not False and _valid(source, keyword.value):
            code = source.code(keyword.value)
            simple = isinstance(keyword.value, ast.Name | ast.Attribute | ast.Call)
            better = f"~{code}" if simple else f"~({code})"
            edit = edits.replace(source, keyword.value, better)
            message = f"`{code}` is True at the words, and True means ignore: write `{keyword.arg}={better}`"
            yield source.hit(keyword.value, message, edit, safe=False, severity=None if known else "hint")


def _given_as_it_is(source: Source) -> Iterator[Hit]:
    """`scaled_dot_product_attention(q, k, v, attn_mask=is_pad[:, None, None, :])`: there True means look."""
    for call in source.calls("torch.nn.functional.scaled_dot_product_attention"):
        given = tree.argument(call, 3, "attn_mask")
        if given is not None and _hides(source, given):
            code = source.code(given)
            told = f"`{code}` is True at the padding, and here True means look: write `attn_mask=~{code}`"
            yield source.hit(given, told, edits.replace(source, given, f"~{code}"), safe=False, severity="warning")


def _hides(source: Source, node: ast.expr, hops: int = 4) -> bool:
    """Whether a mask is True at the padding: `is_pad[:, None]`, `ids == PAD`, `attention_mask == 0` of a tokenizer's mask."""
    mask = node
    while isinstance(mask, ast.Subscript) or (isinstance(mask, ast.Call) and follow.method(mask) in _SHAPES):
        mask = mask.value if isinstance(mask, ast.Subscript) else tree.receiver(mask)
    if isinstance(mask, ast.Name) and not _IS_PAD.search(mask.id) and hops:
        bound = scopes.reaching(source, mask)
        made = [one for one in follow.possible(source, mask) if not isinstance(one, ast.Constant)]
        plain = all(one.how == "assign" and not one.path for one in bound)
        return plain and bool(made) and all(_hides(source, one, hops - 1) for one in made)
    if isinstance(mask, ast.Compare) and isinstance(mask.ops[0], ast.Eq):
        words = tree.dotted(mask.left).endswith("attention_mask") and tree.literal(mask.comparators[0]) == 0
        return words or "pad" in source.code(mask.comparators[0]).lower()
    return _IS_PAD.search(tree.dotted(mask)) is not None


def _takes(source: Source, call: ast.Call) -> bool | None:
    """Whether the mask goes to torch's attention; False for an attention of the project's own, None where it cannot be told."""
    found = source.values(call.func)
    owners = [classes.class_behind(source, one) for one in found]
    if any(one.name.startswith(("torch.nn.Transformer", "torch.nn.MultiheadAttention")) for one in found):
        return True
    if found and all(one is not None for one in owners):
        return any(_ATTENTION.search(one.source.text) is not None for one in owners if one is not None)
    return True if _ATTENTION.search(source.text) else None


def _as_numbers(source: Source, node: ast.expr) -> ast.expr | None:
    """`(ids == pad).float()`, here or behind a name, given to one of torch's own layers."""
    made = follow.followed(source, node)
    call = next((one for one in tree.ancestors(source, node) if isinstance(one, ast.Call)), None)
    if not isinstance(made, ast.Call) or follow.method(made) != "float" or made.args or call is None:
        return None
    what = follow.followed(source, tree.receiver(made))
    layers = [value.name for value in source.values(call.func)]
    own = bool(layers) and all(one.startswith("torch.nn.") for one in layers)
    return made if own and (isinstance(what, ast.Compare) or follow.method(what) in ("eq", "ne")) else None


def _valid(source: Source, node: ast.expr, depth: int = 3) -> bool:
    """Whether the mask is True where there is something: `positions < lengths`, `ids != pad`."""
    compared = _by_method(node) or node
    if isinstance(compared, ast.Compare) and len(compared.ops) == 1:
        return _compares(source, compared)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("bool", "to"):
        return _valid(source, node.func.value, depth)
    if (turned := _turned(node)) is not None:
        return _is_padding(source, turned, depth)
    if _from_tokenizer(source, node):
        return True
    if isinstance(node, ast.Name) and depth:
        found = scopes.reaching(source, node)
        made = [one.value for one in found if one.how == "assign" and not one.path and one.value is not None]
        return bool(made) and len(made) == len(found) and all(_valid(source, one, depth - 1) for one in made)
    return False


def _turned(node: ast.expr) -> ast.expr | None:
    """`mask` of `~mask` and `mask.logical_not()`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return node.operand
    return tree.receiver(node) if isinstance(node, ast.Call) and follow.method(node) == "logical_not" else None


def _by_method(node: ast.expr) -> ast.Compare | None:
    """`ids.ne(pad)` as the comparison it is."""
    op = _METHODS.get(follow.method(node))
    if op is None or not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    return ast.Compare(tree.receiver(node), [op()], [node.args[0]])


def _is_padding(source: Source, node: ast.expr, depth: int) -> bool:
    """`ids == pad`, here or behind a name: True at the padding."""
    made = follow.followed(source, node) if depth else node
    compared = made if isinstance(made, ast.Compare) else _by_method(made)
    if compared is None or len(compared.ops) != 1 or not isinstance(compared.ops[0], ast.Eq):
        return False
    left, right = (source.code(one).lower() for one in (compared.left, compared.comparators[0]))
    return bool(re.search(r"(?:^|[^a-z])pad", f"{left} {right}")) or (right == "0" and _pads_with_zero(source))


def _pads_with_zero(source: Source) -> bool:
    return bool(re.search(r"padding_idx *= *0|\bpad\w* *= *0\b", source.text, re.IGNORECASE))


def _from_tokenizer(source: Source, node: ast.expr) -> bool:
    """`batch["attention_mask"]` of a tokenizer: 1 at the words."""
    taken = isinstance(node, ast.Subscript) and tree.literal(node.slice) == "attention_mask"
    taken = taken or (
        isinstance(node, ast.Attribute) and node.attr == "attention_mask" and tree.dotted(node) != "self.attention_mask"
    )
    return taken and "okenizer" in source.text


def _compares(source: Source, node: ast.Compare) -> bool:
    """`ids != pad`, `positions < lengths`."""
    left, right, op = source.code(node.left).lower(), source.code(node.comparators[0]).lower(), node.ops[0]
    if isinstance(op, ast.NotEq):
        return bool(re.search(r"(?:^|[^a-z])pad", f"{left} {right}")) or (right == "0" and _pads_with_zero(source))
    if isinstance(op, ast.Gt) and right == "0":
        return _pads_with_zero(source) and not re.search("len", left)
    lengths = re.compile(r"(?:^|[^a-z])(?:seq_?)?len(?:gths?|s)?(?:[^a-z]|$)")
    before, after = bool(lengths.search(left)), bool(lengths.search(right))
    smaller = isinstance(op, ast.Lt | ast.LtE)
    return before != after and (smaller == after) and isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE)

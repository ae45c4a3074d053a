"""The rule of masked-mean-counts-padding."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, follow, loaders, origin, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_SHAPED = {"float", "unsqueeze", "to", "type", "type_as", "double", "half", "long", "int", "bool", "expand_as", "expand", "view",
           "reshape", "detach", "clone", "squeeze", "contiguous"}  # fmt: skip
_NAMED = regex(
    r"^(?:\w+_)?(?:pad|padding|non_?pad|attention|attn|seq|sequence|length|src|tgt|trg|token|text|word)_masks?$"
)
_LENGTHS = regex(r"(?:^|[^a-z])(?:seq_?|valid_?)?len(?:gths?|s)?(?:[^a-z]|$)")
_PADS = regex(r"padding\s*=\s*(?:True|[\"'](?:longest|max_length))")
_PAD = regex(r"(?:^|[^a-z])pad", re.IGNORECASE)
_TOLD = regex(r"(?:\w+_)?(?:lengths?|lens|masks?)")
_SEQUENTIAL = {f"torch.nn.{name}" for name in ("LSTM", "GRU", "RNN", "Dropout", "LayerNorm")}

WORDS = ("mean",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("mean"):
        inner = call.args[0] if source.name(call.func) == "torch.mean" and call.args else tree.receiver(call)
        product = follow.followed(source, inner, 1)
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult) or _scaled(source, call):
            continue
        for mask, other in ((product.right, product.left), (product.left, product.right)):
            if _is_padding(source, mask) and not isinstance(tree.literal(other), int | float):
                code = source.code(mask)
                yield source.hit(
                    call,
                    f"`mean` divides by the padding too, which `{code}` only made 0: write `.sum(...) / {code}.sum(...)`",
                )
                break
    yield from _over_padding(source)
    yield from _lengths_unread(source)


def _over_padding(source: Source) -> Iterator[Hit]:
    """`self.embed(ids).mean(1)` of an embedding that knows its padding, and of what a net gives that was told about it."""
    if not any(
        word in source.text for word in ("padding_idx", "key_padding_mask", "pad_packed", "padding=", "pad_sequence")
    ):
        return
    for call in source.methods("mean"):
        whole = source.name(call.func) == "torch.mean"
        inner = call.args[0] if whole and call.args else tree.receiver(call)
        along = tree.literal(tree.argument(call, 1 if whole else 0, "dim"))
        if along in (1, -2) and not _scaled(source, call) and _has_padding(source, inner):
            yield source.hit(
                call,
                f"`mean` counts the padding of `{source.code(inner)}` too: sum what the mask keeps, and divide by `mask.sum(1)`",
            )


def _lengths_unread(source: Source) -> Iterator[Hit]:
    """`self.embed(ids).mean(1)` in a `forward` that is given the lengths, and does not look at them."""
    for call in source.methods("mean") if "Embedding" in source.text else ():
        home = tree.function(source, call)
        whole = source.name(call.func) == "torch.mean"
        along = tree.literal(tree.argument(call, 1 if whole else 0, "dim"))
        if home is None or home.name != "forward" or along not in (1, -2) or _scaled(source, call):
            continue
        told = [one.arg for one in tree.parameters(home) if _TOLD.fullmatch(one.arg.lower())]
        unread = [one for one in told if not any(tree.inside(source, use, home) for use in uses.names(source, one))]
        inner = call.args[0] if whole and call.args else tree.receiver(call)
        if unread and len(unread) == len(told) and _has_length(source, inner):
            code = source.code(inner)
            yield source.hit(
                call,
                f"`mean` counts the padding of `{code}` too, and `{unread[0]}` says where it begins: nobody reads it",
            )


def _has_length(source: Source, node: ast.expr, hops: int = 5) -> bool:
    """Whether this is a sequence of vectors, embedded here or given by a recurrent layer that was given no packed one."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    first = len(bound) == 1 and bound[0].path == (0,) and isinstance(bound[0].value, ast.Call)  # `out, _ = lstm(x)`
    made = bound[0].value if first else follow.followed(source, node)
    found = source.values(made.func) if isinstance(made, ast.Call) else ()
    names = {one.name for one in found if one.kind == "module"}
    if not isinstance(made, ast.Call) or not names or len(names) != len(found):
        return False
    if names <= _SEQUENTIAL:
        return bool(made.args) and hops > 0 and _has_length(source, made.args[0], hops - 1)
    return names == {"torch.nn.Embedding"}


def _is_padded(source: Source, node: ast.expr, hops: int = 4) -> bool:
    """Whether these numbers are what `pad_sequence` gives, here or at every caller."""
    found = list(_given(source, node)) if hops else []
    if any(isinstance(one, ast.Call) and home.name(one.func) == "torch.nn.utils.rnn.pad_sequence" for home, one in [(source, node), *found]):  # fmt: skip
        return True
    return bool(found) and all(_is_padded(home, one, hops - 1) for home, one in found)


def _has_padding(source: Source, node: ast.expr, hops: int = 5) -> bool:
    """Whether a sequence (batch, time, features) comes with its padding."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    if len(bound) == 1 and bound[0].path == (0,) and isinstance(bound[0].value, ast.Call):
        return _is_unpacked(source, bound[0].value)
    node = follow.followed(source, node)
    if isinstance(node, ast.Attribute) and node.attr == "last_hidden_state":
        told = follow.followed(source, node.value)
        return isinstance(told, ast.Call) and _masked_call(told) and _PADS.search(source.text) is not None
    return isinstance(node, ast.Call) and hops > 0 and _gives_padding(source, node, hops)


def _gives_padding(source: Source, call: ast.Call, hops: int) -> bool:
    """A layer that knows of the padding and leaves it in its output."""
    found = source.values(call.func)
    names = {one.name for one in found} if all(one.kind == "module" for one in found) else set[str]()
    if names == {"torch.nn.Embedding"}:
        given = [tree.argument(one.node, 2, "padding_idx") for one in found if isinstance(one.node, ast.Call)]
        known = bool(given) and all(one is not None and tree.literal(one) is not None for one in given)
        return known or (bool(call.args) and "pad_sequence" in source.text and _is_padded(source, call.args[0]))
    if names and names <= {"torch.nn.Dropout", "torch.nn.LayerNorm"}:
        return bool(call.args) and _has_padding(source, call.args[0], hops - 1)
    mask = tree.argument(call, 2, "src_key_padding_mask")
    return names == {"torch.nn.TransformerEncoder"} and mask is not None and tree.literal(mask) is not None


def _is_unpacked(source: Source, call: ast.Call) -> bool:
    first = tree.literal(tree.argument(call, 1, "batch_first")) is True
    return source.name(call.func) == "torch.nn.utils.rnn.pad_packed_sequence" and first


def _masked_call(call: ast.Call) -> bool:
    """`bert(ids, attention_mask=mask)`, `bert(**inputs)`."""
    return any(one.arg in (None, "attention_mask") for one in call.keywords)


def _scaled(source: Source, call: ast.Call) -> bool:
    """Whether the mean is multiplied or divided afterwards, which may put it right."""
    up = source.parents[call]
    return isinstance(up, ast.BinOp) and isinstance(up.op, ast.Mult | ast.Div)


def _is_padding(source: Source, node: ast.expr, hops: int = 3) -> bool:
    """Whether a tensor is 1 at the words and 0 at the padding, by how it was made or by its name."""
    node = _unpadded(source, node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = _spelled(source, node.left), _spelled(source, node.comparators[0])
        if isinstance(node.ops[0], ast.NotEq):
            return bool(_PAD.search(right) or _PAD.search(left))
        ordered = isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        return (
            ordered
            and "arange" in left + right
            and bool(_LENGTHS.search(left.lower()) or _LENGTHS.search(right.lower()))
        )
    if isinstance(node, ast.Call) and follow.method(node) == "ne" and node.args:
        return bool(_PAD.search(source.code(node.args[0])))
    if isinstance(node, ast.Call):
        given = any(_LENGTHS.search(source.code(one).lower()) for one in node.args)
        return given and "mask" in tree.dotted(node.func).lower()
    behind = list(_given(source, node)) if hops else []
    told = [(home, value) for home, value in behind if not _is_plain(home, value)]
    if behind:
        return bool(told) and all(_is_padding(home, value, hops - 1) for home, value in told)
    key = tree.literal(node.slice) if isinstance(node, ast.Subscript) else tree.dotted(node).rpartition(".")[2]
    return bool(_NAMED.match(str(key)))


def _spelled(source: Source, node: ast.expr) -> str:
    """An expression as it stands, and what its name stands for: `t[None]` of `t = torch.arange(n)`."""
    return f"{source.code(node)} {source.code(follow.followed(source, _uncast(node)))}"


def _is_plain(source: Source, node: ast.expr) -> bool:
    """Ones and zeros that a caller writes down to try a function: they say nothing of what it is for."""
    home, found = origin.origin(source, _uncast(node))
    made = _uncast(found)
    full = home.name(made.func) if isinstance(made, ast.Call) else ""
    if full in ("torch.cat", "torch.stack") and isinstance(made, ast.Call) and made.args:
        parts = made.args[0].elts if isinstance(made.args[0], ast.List | ast.Tuple) else []
        return bool(parts) and all(_is_plain(home, one) for one in parts)
    return full in ("torch.ones", "torch.zeros", "torch.ones_like", "torch.tensor")


def _unpadded(source: Source, node: ast.expr) -> ast.expr:
    """`mask` of `F.pad(mask, (0, 4))`: what is added is padding too."""
    made = _uncast(node)
    longer = isinstance(made, ast.Call) and source.name(made.func) == "torch.nn.functional.pad"
    return _uncast(made.args[0]) if longer and isinstance(made, ast.Call) and made.args else made


def _uncast(node: ast.expr) -> ast.expr:
    """`mask` of `mask[:, 1:].float().unsqueeze(-1)`."""
    while follow.method(node) in _SHAPED or (isinstance(node, ast.Subscript) and not _by_name(node)):
        node = node.value if isinstance(node, ast.Subscript) else tree.receiver(node)  # type: ignore[arg-type]  # a call
    return node


def _by_name(node: ast.expr) -> bool:
    """`batch["mask"]`."""
    return isinstance(node, ast.Subscript) and isinstance(tree.literal(node.slice), str)


def _given(source: Source, node: ast.expr) -> Iterator[tuple[Source, ast.expr]]:
    """What a name stands for: its assignment, an element of what a function returns, or what the callers pass."""
    home, made = origin.origin(source, node)
    if made is not node:
        yield home, made
        return
    if (part := loaders.collated(source, node)) is not None:
        yield part
        return
    if isinstance(node, ast.Subscript) and _by_name(node):
        for caller, box in _given(source, node.value):
            place, held = origin.origin(caller, box)
            pairs = zip(held.keys, held.values, strict=True) if isinstance(held, ast.Dict) else ()
            yield from ((place, value) for key, value in pairs if key is not None and _same_key(key, node))
        return
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    arg = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None
    function = tree.function(source, node)
    owner = as_function(source, function) if isinstance(arg, ast.arg) and function is not None else None
    for caller, call, skip in calls.callers(owner) if owner is not None else ():
        value = calls.given_argument(owner, call, arg, skip) if owner is not None and isinstance(arg, ast.arg) else None
        if value is not None:
            yield caller, value


def _same_key(key: ast.expr, node: ast.Subscript) -> bool:
    return bool(tree.literal(key) == tree.literal(node.slice))

"""The rule of causal-mask-inverted: which triangle a mask is, and what its True means to who takes it."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, classes, follow, project, scopes, tree, values
from torchlore.check.source import Hit, Source

_SAME = {"bool", "to", "view", "reshape", "unsqueeze", "expand", "type", "byte", "float", "int", "long", "cuda", "cpu", "contiguous",
         "type_as", "repeat", "clone", "detach", "squeeze", "requires_grad_"}  # fmt: skip
_TURN = {"t", "transpose", "swapaxes"}
_KEYWORDS = ("attn_mask", "mask", "src_mask", "tgt_mask")
_LAYERS = ("torch.nn.MultiheadAttention", "torch.nn.TransformerEncoder", "torch.nn.TransformerDecoder", "torch.nn.Transformer",
           "torch.nn.TransformerEncoderLayer", "torch.nn.TransformerDecoderLayer")  # fmt: skip
_OTHER = {"lower": "upper", "upper": "lower"}

WORDS = ("*tril*|*triu*",)


def find(source: Source) -> Iterator[Hit]:
    if "tril" not in source.text and "triu" not in source.text:
        return
    yield from _given(source)
    for call in source.methods("masked_fill", "masked_fill_"):
        hidden = tree.argument(call, 0, "mask")
        if hidden is not None and _is_low(source, tree.argument(call, 1, "value")):
            yield from _told(
                source,
                hidden,
                _triangle(source, hidden),
                "lower",
                f"`{follow.method(call)}` fills where the mask is True",
            )
    for call in source.calls("torch.where"):
        if len(call.args) == 3 and _is_low(source, call.args[2]):
            yield from _told(
                source,
                call.args[0],
                _triangle(source, call.args[0]),
                "upper",
                "`where` keeps what the mask says is True",
            )
        elif len(call.args) == 3 and _is_low(source, call.args[1]):
            yield from _told(
                source,
                call.args[0],
                _triangle(source, call.args[0]),
                "lower",
                "`where` fills what the mask says is True",
            )


def _given(source: Source) -> Iterator[Hit]:
    """Masks handed to torch's own attention, which has two conventions."""
    for call in source.calls("torch.nn.functional.scaled_dot_product_attention"):
        mask = tree.argument(call, 3, "attn_mask")
        if mask is not None:
            yield from _told(source, mask, _triangle(source, mask), "upper", "True means `may look` here")
    for call in source.all(ast.Call):
        masks = [one.value for one in call.keywords if one.arg in _KEYWORDS]
        if masks and values.made_by(source, call.func, *_LAYERS) is not None:
            for home, mask in (_passed(source, one) for one in masks):
                place = _maker(home, mask) if home is source and mask not in masks else mask if home is source else call
                if _hides_itself(home, mask):
                    told = "this triangle begins at the diagonal, so no position sees itself and the first sees nothing, which gives NaN"
                    yield source.hit(place, f"{told}: write `torch.triu(..., diagonal=1)`")
                if _triangle(home, mask) == "lower":
                    told = "this mask says what may not be seen (True, or -inf that is added), and a lower triangle of ones hides no future"
                    yield source.hit(place, f"{told}: pass the upper one, as bool")


def _passed(source: Source, mask: ast.expr, hops: int = 3) -> tuple[Source, ast.expr]:
    """What the only caller gives for a parameter, from block to block; anything else as it is."""
    while isinstance(mask, ast.Name) and hops:
        hops -= 1
        bound = scopes.reaching(source, mask)
        arg = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None
        given = calls.given(source, arg) if isinstance(arg, ast.arg) else []
        if len(given) != 1 or given[0][1] is None:
            break
        source, mask = given[0][0], given[0][1]
    return source, mask


def _maker(source: Source, mask: ast.expr, hops: int = 4) -> ast.expr:
    """Where a mask that came a long way is made, in this file: the line of `register_buffer`, or of its name."""
    while hops and isinstance(mask, ast.Subscript | ast.Name | ast.Attribute):
        hops -= 1
        inner = mask.value if isinstance(mask, ast.Subscript) else _behind(source, mask)[1]
        if inner is None or inner not in source.parents:
            break
        mask = inner
    return mask


def _hides_itself(source: Source, mask: ast.expr) -> bool:
    """`torch.triu(torch.ones(n, n)).bool()` or `torch.triu(torch.ones(n, n, dtype=torch.bool))`, without `diagonal=1`."""
    made = follow.followed(source, mask)
    cast = isinstance(made, ast.Call) and follow.method(made) == "bool" and not source.name(made.func)
    made = follow.followed(source, tree.receiver(made)) if cast and isinstance(made, ast.Call) else made
    if not isinstance(made, ast.Call) or source.name(made.func) != "torch.triu" or not made.args:
        return False
    ones = follow.followed(source, made.args[0])
    kind = tree.argument(ones, None, "dtype") if isinstance(ones, ast.Call) else None
    whole = isinstance(ones, ast.Call) and source.name(ones.func) == "torch.ones"
    boolean = cast or (kind is not None and source.name(kind) == "torch.bool")
    start = tree.argument(made, 1, "diagonal")
    return whole and boolean and (tree.lacks(made, 1, "diagonal") or tree.literal(start) == 0)


def _told(source: Source, at: ast.expr, found: str, wrong: str, why: str) -> Iterator[Hit]:
    if found == wrong:
        yield source.hit(at, f"{why}, so this hides the past and shows the future: turn the mask round")


def _is_low(source: Source, node: ast.expr | None) -> bool:
    """Minus infinity, or a number that is as good for a softmax."""
    if node is None:
        return False
    value = tree.literal(node)
    if isinstance(value, int | float):
        return value <= -1e3
    code = source.code(node).replace(" ", "").lower()
    return code in (
        "float('-inf')",
        'float("-inf")',
        "-float('inf')",
        '-float("inf")',
        "-torch.inf",
        "-math.inf",
        "-np.inf",
    ) or (code.startswith("torch.finfo(") and code.endswith(".min"))


def _triangle(source: Source, node: ast.expr, hops: int = 12) -> str:
    """Where the mask is True: `lower`, `upper`, or "" where it cannot be told."""
    if isinstance(node, ast.Call) and hops:
        return _of_call(source, node, hops)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(_triangle(source, node.left, hops - 1), node.ops[0], tree.literal(node.comparators[0]))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert | ast.Not):
        return _OTHER.get(_triangle(source, node.operand, hops - 1), "")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and tree.literal(node.left) == 1:
        return _OTHER.get(_triangle(source, node.right, hops - 1), "")
    if isinstance(node, ast.Subscript):
        return _triangle(source, node.value, hops - 1)
    home, value = _behind(source, node)
    return _triangle(home, value, hops - 1) if value is not None and hops else ""


def _behind(source: Source, node: ast.expr) -> tuple[Source, ast.expr | None]:
    """What a name or an attribute of `self` stands for, where there is one thing."""
    if isinstance(node, ast.Name):
        return source, follow.binding(source, node)
    owner = project.enclosing_class(source, node) if tree.dotted(node).count(".") == 1 else None
    kept = classes.assigned(owner, tree.dotted(node)[5:]) if owner and tree.dotted(node).startswith("self.") else []
    return (kept[0].source, kept[0].value) if len(kept) == 1 and not kept[0].path else (source, None)


def _of_call(source: Source, call: ast.Call, hops: int) -> str:
    name, way = source.name(call.func), follow.method(call)
    free = name in ("torch.tril", "torch.triu", "numpy.tril", "numpy.triu")
    if free or way in ("tril", "triu", "tril_", "triu_"):
        made = (call.args[0] if call.args else None) if free else tree.receiver(call)
        ones = isinstance(made, ast.Call) and source.name(made.func) in ("torch.ones", "numpy.ones", "torch.ones_like")
        start = tree.argument(call, 1 if free else 0, "diagonal")
        fixed = start is None or tree.literal(start) is not tree.UNKNOWN  # else it may be a window over the past
        return ("lower" if "tril" in (name or way) + way else "upper") if ones and fixed else ""
    if name in ("torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.logical_not") and call.args:
        inner = _triangle(source, call.args[0], hops - 1)
        return _OTHER.get(inner, "") if name == "torch.logical_not" else inner
    if way in _SAME or way in _TURN or way == "logical_not":
        inner = _triangle(source, tree.receiver(call), hops - 1)
        return inner if way in _SAME else _OTHER.get(inner, "")
    found = source.project.resolve(source, call.func)
    if isinstance(found, project.Function):
        given = calls.returned(found)
        return _triangle(found.source, given[0], hops - 1) if len(given) == 1 else ""
    return ""


def _compared(found: str, operator: ast.cmpop, value: object) -> str:
    """What `mask == 0`, `mask != 0`, `mask > 0` leave of a triangle of ones."""
    if value not in (0, 1, 0.0, 1.0, True, False):
        return ""
    one = bool(value)
    same = (isinstance(operator, ast.Eq | ast.GtE) and one) or (isinstance(operator, ast.NotEq | ast.Gt) and not one)
    turned = (isinstance(operator, ast.Eq | ast.LtE) and not one) or (isinstance(operator, ast.NotEq | ast.Lt) and one)
    return found if same else _OTHER.get(found, "") if turned else ""

"""The rule of repeated-in-another-order."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, follow, losses, scopes, sizes, tree, values
from torchlore.check.source import Hit, Source

_SIZE = re.compile(r"\b(len|size|shape|numel|ndim)\b")
_BATCH = re.compile(r"^(n|m|b|c|h|w|t|l|d|bs|bsz|batch\w*|num_nodes|length|seq_?len|size)$", re.IGNORECASE)
_TURNED = (
    "view",
    "reshape",
    "transpose",
    "permute",
    "unflatten",
    "chunk",
    "split",
    "rearrange",
    "swapaxes",
    "mean",
    "sum",
)

Kinds = dict[str, tuple[str, ast.Call]]  # a name, how its rows were repeated, and where

WORDS = ("repeat",)


def find(source: Source) -> Iterator[Hit]:
    if ".repeat(" not in source.text:
        return
    yield from _labels_of_views(source)
    if "repeat_interleave(" not in source.text:
        return
    for home in flow.functions(source):
        calls = [one for one in tree.under(source, home, ast.Call) if tree.function(source, one) is home]
        counts = {how: {source.code(count) for one in calls if (count := _count(source, one, how)) is not None}
                  for how in ("repeat", "repeat_interleave")}  # fmt: skip
        for shared in sorted(counts["repeat"] & counts["repeat_interleave"]):
            place = _meeting(source, home, shared)
            if place is not None:
                told = f"this puts whole copies one after the other, and `repeat_interleave` each row's: they meet in line {place[1].lineno}, row by row"
                yield source.hit(place[0], f"{told}; write `.repeat_interleave({shared}, dim=0)`")


def _labels_of_views(source: Source) -> Iterator[Hit]:
    """`criterion(net(crops.view(-1, c, h, w)), labels.repeat(n))` of (batch, n, c, h, w): the n crops of a picture lie side by side."""
    for loss in losses.loss_calls(source):
        target = follow.followed(source, loss.target) if loss.target is not None else None
        made = follow.followed(source, loss.input) if loss.input is not None else None
        if not isinstance(target, ast.Call) or follow.word(source, target) != "repeat" or len(target.args) != 1:
            continue
        if not isinstance(made, ast.Call) or len(made.args) != 1 or source.name(target.func):
            continue
        flat = follow.followed(source, made.args[0])
        count = target.args[0]
        if isinstance(flat, ast.Call) and _joins_views(source, flat, count):
            code = source.code(tree.receiver(target))
            told = f"`{source.code(flat)}` has the views of one sample side by side, and this puts whole copies of `{code}` one after the other"
            yield source.hit(target, f"{told}: write `{code}.repeat_interleave({source.code(count)})`")


def _joins_views(source: Source, flat: ast.Call, count: ast.expr) -> bool:
    """Whether (batch, n, ...) becomes (batch * n, ...) here, `n` being the count."""
    whole, word = tree.receiver(flat), follow.method(flat)
    if word in ("view", "reshape"):
        new, old = sizes.asked(source, flat), sizes.sizes(source, whole)
        joins = len(new) > 1 and len(new) == len(old) - 1 and (new[0] == "-1" or "*" in new[0])
    else:
        joins = word == "flatten" and [tree.literal(one) for one in flat.args] == [0, 1]
    return joins and (_is_second(source, count, whole) or (word == "flatten" and _of_each(source, whole)))


def _is_second(source: Source, count: ast.expr, whole: ast.expr) -> bool:
    """`n` of `b, n, c, h, w = x.shape`, `x.size(1)`, `x.shape[1]`."""
    name, made = source.code(whole), source.code(follow.followed(source, count))
    bound = scopes.reaching(source, count) if isinstance(count, ast.Name) else []
    one = bound[0] if len(bound) == 1 else None
    if one is not None and one.value is not None and one.path == (1,):
        return source.code(one.value) in (f"{name}.shape", f"{name}.size()")
    return made in (f"{name}.size(1)", f"{name}.shape[1]")


def _of_each(source: Source, node: ast.expr) -> bool:
    """`torch.stack([crops(picture) for picture in batch])`: the samples come first."""
    made = follow.followed(source, node)
    listed = (
        made.args[0] if isinstance(made, ast.Call) and source.name(made.func) == "torch.stack" and made.args else None
    )
    over = listed.generators[0].iter if isinstance(listed, ast.ListComp) and len(listed.generators) == 1 else None
    alone = isinstance(made, ast.Call) and len(made.args) == 1 and not made.keywords
    return (
        alone and over is not None and not isinstance(over, ast.Call) and values.sure(source, over, "tensor", weak=True)
    )


def _count(source: Source, call: ast.Call, how: str) -> ast.expr | None:
    """`k` of `x.repeat(k, 1)` and `x.repeat_interleave(k, dim=0)`, where it is no size of a batch."""
    if follow.word(source, call) != how:
        return None
    bare = 1 if source.name(call.func) == f"torch.{how}" else 0
    if how == "repeat":
        rest = [tree.literal(one) for one in call.args[1:]]
        count = call.args[0] if call.args and rest and all(one == 1 for one in rest) and not call.keywords else None
    else:
        dim = tree.argument(call, bare + 1, "dim")
        count = tree.argument(call, bare, "repeats") if dim is not None and tree.literal(dim) == 0 else None
    made = follow.followed(source, count) if isinstance(count, ast.Name | ast.Attribute) else None
    if count is None or made is None or _SIZE.search(source.code(made)):
        return None
    return None if _BATCH.match(tree.dotted(count).rpartition(".")[2]) else count


def _meeting(source: Source, home: tree.FunctionNode, count: str) -> tuple[ast.Call, ast.expr] | None:
    """The `repeat` and the place where its rows meet those of a `repeat_interleave`, in the order of the lines."""
    known: Kinds = {}
    for node in sorted(tree.under(source, home, ast.Assign, ast.Return, ast.Expr), key=lambda one: one.lineno):
        value: ast.expr | None = getattr(node, "value", None)
        if value is None or tree.function(source, node) is not home:
            continue
        for inner in tree.under(source, value, ast.BinOp, ast.Call):
            found = [_kind(source, part, known, count) for part in _sides(source, inner)]
            ways = {one[0]: one[1] for one in found if one is not None}
            if len(ways) == 2:
                return ways["repeat"], inner
        for target in node.targets if isinstance(node, ast.Assign) else ():
            _remember(source, target, value, known, count)
    return None


def _remember(source: Source, target: ast.expr, value: ast.expr, known: Kinds, count: str) -> None:
    both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts)
    pairs = zip(target.elts, value.elts, strict=True) if both else [(target, value)]  # type: ignore[attr-defined]  # both are tuples
    told = [(one.id, _kind(source, part, known, count)) for one, part in pairs if isinstance(one, ast.Name)]
    for name, kind in told:
        known.pop(name, None)
        if kind is not None:
            known[name] = kind


def _sides(source: Source, node: ast.expr) -> list[ast.expr]:
    """What is put beside each other, row by row: the sides of `a - b`, what a function or layer is given, the parts of a wide `cat`."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right] if not isinstance(node.op, ast.MatMult) else []
    if not isinstance(node, ast.Call):
        return []
    if follow.word(source, node) in ("cat", "concat", "stack"):
        dim = tree.literal(tree.argument(node, 1, "dim"))
        parts = node.args[0] if node.args and dim in (1, -1) else None
        return parts.elts if isinstance(parts, ast.List | ast.Tuple) else []
    return [*node.args, *(one.value for one in node.keywords)]


def _kind(source: Source, node: ast.expr, known: Kinds, count: str) -> tuple[str, ast.Call] | None:
    """How the rows of an expression are repeated, where all that is in it is repeated one way."""
    found: Kinds = {}
    for name in tree.under(source, node, ast.Name):
        found |= {known[name.id][0]: known[name.id]} if name.id in known else {}
    for one in tree.under(source, node, ast.Call):
        if "loss" in follow.word(source, one) and tree.literal(tree.argument(one, None, "reduction")) != "none":
            return None  # one number
        if follow.word(source, one) in _TURNED and not source.name(one.func).startswith("torch.nn"):
            return None
        for how in ("repeat", "repeat_interleave"):
            repeats = _count(source, one, how)
            found |= {how: (how, one)} if repeats is not None and source.code(repeats) == count else {}
    return next(iter(found.values())) if len(found) == 1 else None

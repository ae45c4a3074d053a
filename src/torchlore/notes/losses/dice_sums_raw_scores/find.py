"""The rule of dice-sums-raw-scores."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, classes, flow, follow, grouped, scopes, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.project import Function
from torchlore.check.source import Hit, Source

_SHAPES = ("flatten", "view", "reshape", "float", "contiguous")
_NAMED = regex(r"(?<![A-Za-z])(?:soft_?)?(?:dice|iou|jaccard|overlap)|Dice|IoU|IOU|Jaccard|Overlap")
_PARTS = ("dice", "iou", "jaccard", "overlap", "Dice", "IoU", "IOU", "Jaccard", "Overlap")
_OFTEN = ("indices", "previous", "various")  # in which two of them stand
_OF_PYTHON = {"isinstance", "print", "range", "getattr", "max", "min", "zip"}
_SQUASHED = ("sigmoid", "softmax", "tanh", "exp(", "clamp", "argmax", "one_hot", "> ", "round(")
WORDS = ("*dice*|*iou*|*jaccard*|*overlap*|sigmoid",)


def find(source: Source) -> Iterator[Hit]:
    yield from _raw_given(source)
    if "sigmoid(" not in source.text or "sum(" not in source.text:
        return
    for whole in grouped.operations(source, ast.Add):
        raw, other = _summed(whole.left), _summed(whole.right)
        home = tree.function(source, whole) if raw is not None and other is not None else None
        if raw is None or other is None or home is None or raw.id == other.id:
            continue
        if _overlaps(source, home, raw, other) and _divides(source, whole):
            told = f"`{raw.id}` holds raw scores here, while the overlap has their sigmoid: write `{raw.id}.sigmoid()` in this sum too"
            yield source.hit(whole, told)


def _raw_given(source: Source) -> Iterator[Hit]:
    """`dice(net(x), masks)` of a net that ends in a layer, where neither of them makes probabilities."""
    if not uses.says(source, "dice", "iou", "jaccard", "overlap") or not _may_hold_one(source):
        return  # `indices` and `previous` say so too
    taken = dict[ast.AST, list[ast.arg]]()
    for call in source.all(ast.Call):
        if len(call.args) + len(call.keywords) < 2 or tree.spread(call) or _is_foreign(source, call):
            continue
        inner = _loss_of(source, call)
        if inner is None:
            continue
        if inner.node not in taken:
            taken[inner.node] = _taken_raw(inner)
        for arg in taken[inner.node]:
            given = calls.given_argument(inner, call, arg, 1 if inner.owner is not None else 0)
            found = values.state(source, given) if given is not None else None
            if given is not None and found is not None and found.state == "logits":
                told = f"`{source.code(given)}` is a raw output, which this overlap adds up as if it were probabilities"
                yield source.hit(call, f"{told}: give it `torch.sigmoid({source.code(given)})`", severity="warning")


def _may_hold_one(source: Source) -> bool:
    """Whether the file adds two sums up as an overlap does, or calls or imports what is named after one."""
    sums = grouped.operations(source, ast.Add) if "sum(" in source.text else ()
    if any(_summed(one.left) is not None and _summed(one.right) is not None for one in sums):
        return True
    if _NAMED.search(" ".join(source.names.imported.values())):
        return True
    words = said = source.text.each_once()
    for word in _OFTEN:
        said = said.replace(word, "")
    if not any(part in said for part in _PARTS) or not _NAMED.search(said):
        return False
    return any(source.methods(*(one for one in words.split() if _NAMED.search(one))))


def _is_foreign(source: Source, call: ast.Call) -> bool:
    """A function of torch, of NumPy or of Python, `torch.cat(parts, 1)`: none of the project's."""
    full = source.name(call.func)
    return full.startswith(("torch.", "numpy.", "torchvision.")) or full in _OF_PYTHON


def _loss_of(source: Source, call: ast.Call) -> Function | None:
    """The function, or the `forward` of the module, that a call runs."""
    made = source.values(call.func)
    cls = classes.class_behind(source, made[0]) if len(made) == 1 and made[0].kind in ("module", "loss") else None
    return source.project.method(cls, "forward") if cls is not None else flow.called(source, call)


def _taken_raw(function: Function) -> list[ast.arg]:
    """The parameters of an overlap, `2 * (p * t).sum() / (p.sum() + t.sum())`, which makes no probabilities."""
    source, home = function.source, function.node
    if any(word in source.code(home) for word in _SQUASHED):
        return []
    taken = {one.arg: one for one in tree.parameters(home)}
    for whole in tree.under(source, home, ast.BinOp):
        first, second = (_summed(one) for one in (whole.left, whole.right))
        if not isinstance(whole.op, ast.Add) or first is None or second is None or first.id == second.id:
            continue
        names = {first.id, second.id}
        products = (one for one in tree.under(source, home, ast.BinOp) if isinstance(one.op, ast.Mult))
        meets = any({tree.dotted(one.left), tree.dotted(one.right)} == names for one in products)
        if meets and names <= taken.keys() and _divides(source, whole):
            return [taken[name] for name in sorted(names)]
    return []


def _summed(node: ast.expr) -> ast.Name | None:
    """`x` of `x.sum()`, `torch.sum(x)` and `x.flatten(1).sum(-1)`."""
    inner = tree.receiver(node) if isinstance(node, ast.Call) and follow.method(node) == "sum" else None
    if isinstance(node, ast.Call) and isinstance(inner, ast.Name) and inner.id == "torch" and node.args:
        inner = node.args[0]
    while isinstance(inner, ast.Call) and follow.method(inner) in _SHAPES and isinstance(inner.func, ast.Attribute):
        inner = inner.func.value
    return inner if isinstance(inner, ast.Name) else None


def _overlaps(source: Source, home: tree.FunctionNode, raw: ast.Name, mask: ast.Name) -> bool:
    """`sigmoid(raw) * mask` in the same function, of the same `raw`."""
    same = scopes.reaching(source, raw)
    for one in tree.under(source, home, ast.BinOp):
        sides = (one.left, one.right) if isinstance(one.op, ast.Mult) else ()
        squashed = [side for side in sides if isinstance(side, ast.Call) and follow.method(side) == "sigmoid"]
        given = [side.args[0] if side.args else tree.receiver(side) for side in squashed]
        taken = [name for name in given if isinstance(name, ast.Name) and name.id == raw.id]
        if taken and any(tree.dotted(side) == mask.id for side in sides) and scopes.reaching(source, taken[0]) == same:
            return True
    return False


def _divides(source: Source, whole: ast.BinOp) -> bool:
    """Whether the sum, or the name it gets, stands under a line."""
    outer: ast.AST = whole
    while isinstance(source.parents[outer], ast.BinOp):
        up = source.parents[outer]
        if isinstance(up, ast.BinOp) and isinstance(up.op, ast.Div) and up.right is outer:
            return True
        outer = up
    held = source.parents[outer]
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    home = tree.function(source, whole)
    lines = tree.under(source, home, ast.BinOp) if home is not None and name else []
    below = (one.right for one in lines if isinstance(one.op, ast.Div))
    return any(isinstance(part, ast.Name) and part.id == name for one in below for part in ast.walk(one))

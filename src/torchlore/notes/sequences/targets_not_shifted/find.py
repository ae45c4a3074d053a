"""The rule of targets-not-shifted."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, follow, iteration, losses, origin, project, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_SAME = {"view", "reshape", "flatten", "contiguous", "to", "cuda", "long", "transpose", "permute", "float", "squeeze"}
_COPIES = regex(
    r"auto_?enc|\bvae\b|reconstruct|denois|mask_token|masked|mlm|copy_task|corrupt|bidirectional=True|tagg",
    re.IGNORECASE,
)
_IDS = regex(r"ids\b(?<!\wids)")  # the word: what begins with letters is found ten times as fast as `\bids`
_SHIFTS = regex(r":-1\b|\[(:, )?1:|roll\(|shift\w*\(", re.IGNORECASE)

WORDS = ("*embedding*|*tokens*|*ids*",)


def find(source: Source) -> Iterator[Hit]:
    found = _losses(source) if _speaks_of_tokens(source) else []
    same = [*_same_stretch(source), *_given_itself(source, found)] if found and "Embedding" in source.text else []
    if same and not _COPIES.search(source.text) and not _SHIFTS.search(source.text):
        yield from same
    for loss in found:
        if loss.input is not None and loss.target is not None:
            yield from _mask_of_inputs(source, loss)
            yield from _own_target(source, loss, loss.input, _whole(source, loss.target))


def _losses(source: Source) -> list[losses.LossCall]:
    return losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss")


def _speaks_of_tokens(source: Source) -> bool:
    known = any(word in source.text for word in ("Embedding", "tokens", "input_ids"))
    return known or ("ids" in source.text and _IDS.search(source.text) is not None)


def _own_target(source: Source, loss: losses.LossCall, scores: ast.expr, target: ast.expr | None) -> Iterator[Hit]:
    """`cross_entropy(net(ids), ids)`, also where a data set hands out the same twice."""
    made = _whole(source, scores) if isinstance(target, ast.Name) else None
    if not isinstance(target, ast.Name) or not isinstance(made, ast.Call):
        return
    given = _whole(source, made.args[0]) if made.args else None
    if (back := _one_column(source, given, target)) is not None:
        embeds = "Embedding" in source.text and values.sure(source, made.func, "module")
        if embeds and not _COPIES.search(source.text):
            told = f"`{source.code(back)}` gives the model its own input as the target, so each position has seen its answer"
            yield source.hit(back, f"{told}: return all but the last as input and all but the first as target")
        return
    if not isinstance(given, ast.Name) or given.id != target.id:
        return
    bound = [[one.node for one in scopes.reaching(source, name)] for name in (given, target)]
    seen = bound[0] == bound[1] and values.sure(source, made.func, "module", weak=True) and _words(source, made)
    if seen and not _cuts_it(source, made) and not _COPIES.search(source.text):
        message = (
            f"each position of `{source.code(made)}` has seen its own target in `{target.id}`: compare `[:, :-1]` of the "
            f"output with `{target.id}[:, 1:]`"
        )
        yield source.hit(loss.call, message)


def _given_itself(source: Source, found: list[losses.LossCall]) -> Iterator[Hit]:
    """`net(ids, labels=ids)`, where `forward` compares its output with the labels as they come."""
    for loss in found:
        home, cls = tree.function(source, loss.call), project.enclosing_class(source, loss.call)
        if home is None or home.name != "forward" or cls is None or not classes.is_module(cls):
            continue
        named = _whole(source, loss.target) if loss.target is not None else None
        bound = scopes.reaching(source, named) if isinstance(named, ast.Name) else []
        labels = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None
        words = tree.parameters(home)[1] if len(tree.parameters(home)) > 1 else None
        if not isinstance(labels, ast.arg) or words is None or labels is words:
            continue
        forward = project.as_function(source, home)
        for at, call, skip in calls.callers(forward):
            one, other = (calls.given_argument(forward, call, arg, skip) for arg in (words, labels))
            if isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id and at is source:
                told = f"`forward` compares position by position, and `{one.id}` is both the input and the target, so each position has seen its answer"
                yield source.hit(call, f"{told}: give `{one.id}[:, :-1]` and `{one.id}[:, 1:]`")


def _one_column(source: Source, given: ast.expr | None, target: ast.Name) -> ast.expr | None:
    """`return s, s` of a data set whose loader hands out the input and the target."""
    if not isinstance(given, ast.Name) or given.id == target.id:
        return None
    bound = [scopes.reaching(source, one) for one in (given, target)]
    loops = [one[0] for one in bound if len(one) == 1 and one[0].how == "for" and isinstance(one[0].statement, ast.For)]
    if len(loops) != 2 or loops[0].statement is not loops[1].statement or not isinstance(loops[0].statement, ast.For):
        return None
    made = [
        one.node for one in source.values(iteration.unwrapped(source, loops[0].statement.iter)) if one.kind == "loader"
    ]
    data = made[0].args[0] if len(made) == 1 and isinstance(made[0], ast.Call) and made[0].args else None
    owners = [classes.class_behind(source, one) for one in source.values(data)] if data is not None else []
    way = classes.methods(owners[0]).get("__getitem__") if len(owners) == 1 and owners[0] is not None else None
    backs = (
        [one.value for one in tree.under(source, way, ast.Return)] if way is not None and way in source.parents else []
    )
    back = backs[0] if len(backs) == 1 else None
    places = [one.path[-1] for one in loops if one.path]
    if not isinstance(back, ast.Tuple) or len(places) != 2 or not all(0 <= one < len(back.elts) for one in places):
        return None
    parts = [back.elts[one] for one in places]
    same = all(isinstance(one, ast.Name) for one in parts) and source.code(parts[0]) == source.code(parts[1])
    return back if same else None


def _same_stretch(source: Source) -> Iterator[Hit]:
    """`x = stack([data[i:i + n] for i in at])` and just the same for `y`, or `return ids[i:j], ids[i:j]`."""
    for back in source.all(ast.Return):
        pair = back.value.elts if isinstance(back.value, ast.Tuple) and len(back.value.elts) == 2 else []
        made = [_untouched(source, one) for one in pair]
        cuts = [_stretch(source, one) for one in made if one is not None]
        if len(cuts) == 2 and cuts[0] and cuts[0] == cuts[1]:
            told = f"`{source.code(pair[1])}` is the same stretch as `{source.code(pair[0])}`, so each position has seen its own target: begin it one later"
            yield source.hit(made[1] or back, told)


def _untouched(source: Source, node: ast.expr) -> ast.expr | None:
    """What a name was set to, if nothing is written into it afterwards."""
    if not isinstance(node, ast.Name):
        return node
    return follow.binding(source, node) if not follow.written_into(source, node) else None


def _stretch(source: Source, node: ast.expr) -> str:
    """The text of an expression that cuts a stretch of `i` to `i + n` out of the data, "" of others."""
    slices = [one for one in tree.under(source, node, ast.Slice) if one.lower is not None and one.upper is not None]
    return ast.unparse(node) if len(slices) == 1 and isinstance(slices[0].lower, ast.Name | ast.BinOp) else ""


def _mask_of_inputs(source: Source, loss: losses.LossCall) -> Iterator[Hit]:
    """`cross_entropy(logits, ids[:, 1:], reduction="none") * mask[:, :-1]`: the mask is that of the inputs, not of the targets."""
    if loss.target is None or _cut(source, loss.target) != (1, None):
        return
    held, home = source.parents[loss.call], tree.function(source, loss.call)
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    for product in tree.under(source, home or source.tree, ast.BinOp):
        for one, mask in ((product.left, product.right), (product.right, product.left)):
            weighs = isinstance(product.op, ast.Mult) and (
                one is loss.call or (name and tree.dotted(_bare(source, one)) == name)
            )
            if weighs and _cut(source, mask) == (None, -1):
                code = source.code(mask)
                told = f"`{code}` leaves out the last position and the targets leave out the first, so each loss gets the mask of its neighbour"
                yield source.hit(product, f"{told}: cut the mask with `[:, 1:]` too", severity="warning")


def _bare(source: Source, node: ast.expr) -> ast.expr:
    """Without reshapes."""
    while isinstance(node, ast.Call) and follow.method(node) in _SAME and not source.name(node.func):
        node = tree.receiver(node)
    return node


def _cut(source: Source, node: ast.expr, hops: int = 4) -> tuple[object, object] | None:
    """(1, None) of `x[:, 1:]`, also by a name and under reshapes."""
    node = _bare(source, node)
    if isinstance(node, ast.Name) and hops and (value := follow.binding(source, node)) is not None:
        return _cut(source, value, hops - 1)
    parts = node.slice.elts if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else []
    second = parts[1] if len(parts) == 2 and isinstance(parts[0], ast.Slice) else None
    if not isinstance(second, ast.Slice):
        return None
    return tree.literal(second.lower) if second.lower else None, tree.literal(second.upper) if second.upper else None


def _whole(source: Source, node: ast.expr, hops: int = 8) -> ast.expr | None:
    """What is behind reshapes and names; None where it is cut, and so perhaps shifted."""
    for _ in range(hops):
        if isinstance(node, ast.Call) and follow.method(node) in _SAME and not source.name(node.func):
            node = tree.receiver(node)
        elif isinstance(node, ast.Name) and (bound := _bound(source, node)) is not None:
            node = bound
        else:
            break
    return None if isinstance(node, ast.Subscript) else node


def _bound(source: Source, name: ast.Name) -> ast.expr | None:
    """The call or reshape that the name holds; the first of several results of a call."""
    found = scopes.reaching(source, name)
    one = found[0] if len(found) == 1 and found[0].how == "assign" else None
    value = scopes.part(one) if one is not None else None  # of `flat, target = a, b` its own
    if one is None or not isinstance(value, ast.Call) or (value is one.value and one.path not in ((), (0,))):
        return None
    reshaped = follow.method(value) in _SAME and not source.name(value.func)
    return value if reshaped or values.sure(source, value.func, "module", weak=True) else None


def _cuts_it(source: Source, made: ast.Call) -> bool:
    """Whether the model takes its input apart, `target[:, t]` in a loop: it may shift by itself."""
    inner = origin.behind(source, made)
    names = [one.arg for one in tree.parameters(inner.node)] if inner is not None else []
    first = names[1] if inner is not None and inner.owner is not None and len(names) > 1 else names[0] if names else ""
    cuts = tree.under(inner.source, inner.node, ast.Subscript) if inner is not None and first else []
    return any(tree.dotted(one.value) == first for one in cuts)


def _words(source: Source, made: ast.Call) -> bool:
    """Whether the model embeds tokens, as far as its class can be seen; by the name of its input where not."""
    if re.search(r"tok|ids|text|seq|chars?$", source.code(made.args[0]), re.IGNORECASE):
        return True
    return "Embedding" in source.text

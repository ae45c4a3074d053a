"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, follow, losses, origin, scopes, tree, values
from torchlore.check.identity import Identity, identity
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_LAYERS = ("torch.nn.Softmax", "torch.nn.LogSoftmax")
_ALSO = {"data", "detach", "cpu", "softmax", "sigmoid", "log_softmax"}
WORDS = ("argmax|max|topk|*softm*",)


def find(source: Source) -> Iterator[Hit]:
    for call in (*source.methods("argmax", "max"), *source.calls("torch.argmax", "torch.max", "numpy.argmax")):
        plain = source.name(call.func).startswith(("torch.", "numpy."))
        dim = tree.argument(call, int(plain), "dim") or tree.argument(call, None, "axis")
        scores = (call.args[0] if call.args else call) if plain else tree.receiver(call)
        if follow.method(call) == "argmax" and dim is not None:
            yield from _always_first(source, call, scores, tree.literal(dim))
        if tree.literal(dim) in (1, -1) and (slip := _other_softmax(source, scores)) is not None:
            told = "the softmax is over dimension 0, so each sample is weighed against its neighbours in the batch"
            yield source.hit(slip, f"{told}, and the class is taken from dimension 1: write dim=1")
        if (plain and not call.args) or tree.literal(dim) != 0 or source.name(call.func).startswith("numpy."):
            continue
        if _wants_values(source, call):
            continue
        learned = _of_a_batch(source, scores) or _of_a_classifier(source, scores)
        if learned or _counted_against(source, call, scores) or _handed_batches(source, scores):
            yield source.hit(
                call,
                f"this gives the best sample of each class, not the class of each sample: write `{source.code(scores)}.argmax(dim=1)`",
            )
    yield from _best(source)
    yield from _along_a_row(source)
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"):
        given = values.state(source, loss.input) if loss.input is not None else None
        if (
            given is None
            or given.state not in ("probs", "logprobs")
            or given.source is not source
            or not _batched(source, loss.target)
        ):
            continue
        where = given.node
        made = values.made_by(source, where.func, *_LAYERS) if isinstance(where, ast.Call) else None
        asked = made.node if made is not None and isinstance(made.node, ast.Call) else where
        layer = isinstance(asked, ast.Call) and source.name(asked.func) in _LAYERS
        first = tree.argument(asked, 0 if layer else 1, "dim") if isinstance(asked, ast.Call) else None
        if tree.literal(first) == 0 and isinstance(asked, ast.Call):
            yield source.hit(asked, "a softmax over dimension 0 mixes the samples of the batch: pass dim=1")


def _handed_batches(source: Source, scores: ast.expr) -> bool:
    """Whether all who call this function hand it what a model gives for a batch, or a classifier for anything."""
    bare = follow.peeled(scores, ("detach", "cpu"))
    given = [(where, one[0]) for where, one in _given(source, bare)][1:]
    found = [_of_a_batch(where, one) or _of_a_classifier(where, one) for where, one in given]
    return bool(found) and all(found)


def _of_a_classifier(source: Source, scores: ast.expr) -> bool:
    """Whether this is, whole, what a net gives whose outputs go into a cross entropy as they are: (samples, classes)."""
    net = _net_of(source, scores)
    found = losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy") if net is not None else ()
    return any(net == _net_of(source, loss.input) for loss in found if loss.input is not None)


def _net_of(source: Source, scores: ast.expr) -> Identity | None:
    made = follow.followed(source, follow.peeled(scores, ("detach", "cpu")))
    made = follow.peeled(made, ("detach", "cpu"))
    net = made.func if isinstance(made, ast.Call) and values.sure(source, made.func, "module") else None
    return identity(source, net) if net is not None else None


def _of_pictures(source: Source, scores: ast.expr) -> bool:
    """Whether this is, as it is, what a network that ends in a Conv2d gives, and a cross entropy is taken of such."""
    made = follow.followed(source, scores)
    while isinstance(made, ast.Call) and follow.word(source, made) in (
        "softmax",
        "log_softmax",
        "sigmoid",
        "detach",
        "cpu",
    ):
        inner_scores = made.args[0] if source.name(made.func) and made.args else tree.receiver(made)
        made = follow.followed(source, inner_scores)
    nets = source.values(made.func) if isinstance(made, ast.Call) and values.sure(source, made.func, "module") else ()
    ends = [
        one.items[-1][0].name if one.name == "torch.nn.Sequential" and one.items and one.items[-1] else ""
        for one in nets
    ]
    inner = origin.behind(source, made) if isinstance(made, ast.Call) and nets else None
    back = [follow.followed(inner.source, one) for one in calls.returned(inner)] if inner is not None else []
    if len(back) == 1 and isinstance(back[0], ast.Call) and inner is not None:
        ends = ["torch.nn.Conv2d" if values.made_by(inner.source, back[0].func, "torch.nn.Conv2d") else ""]
    labelled = any(losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy"))
    return labelled and bool(ends) and all(one == "torch.nn.Conv2d" for one in ends)


def _along_a_row(source: Source) -> Iterator[Hit]:
    """`net(pictures).argmax(dim=-1)`, where the net gives a map for each class."""
    asked = (*source.methods("argmax", "max"), *source.calls("torch.argmax", "torch.max"))
    for call in dict.fromkeys(asked) if "Conv2d" in source.text else ():
        plain = source.name(call.func) in ("torch.argmax", "torch.max")
        dim = tree.argument(call, int(plain), "dim")
        scores = (call.args[0] if call.args else call) if plain else tree.receiver(call)
        if follow.word(source, call) == "max" and (_wants_values(source, call) or not _takes_index(source, call)):
            continue
        if dim is not None and tree.literal(dim) in (-1, 2, 3) and _of_pictures(source, scores):
            told = "the scores of this network are (batch, classes, height, width), and this goes along a row of the picture"
            yield source.hit(call, f"{told}: write dim=1")


def _best(source: Source) -> Iterator[Hit]:
    """`scores.topk(5, dim=0)`."""
    for call in source.methods("topk") if "topk" in source.text else ():
        plain = source.name(call.func) == "torch.topk"
        dim = tree.argument(call, 1 + plain, "dim")
        scores = (call.args[0] if call.args else call) if plain else tree.receiver(call)
        if dim is None or tree.literal(dim) != 0 or _wants_values(source, call):
            continue
        if any(_of_a_batch(where, one[0]) for where, one in _given(source, scores)):
            told = "this takes the best samples of each class, not the best classes of each sample"
            yield source.hit(call, f"{told}: write dim=1")


def _always_first(source: Source, call: ast.Call, scores: ast.expr, dim: object) -> Iterator[Hit]:
    """The best of one output."""
    if _of_one(source, scores, dim):
        yield source.hit(call, f"`{source.code(scores)}` has one output, so this is always 0: ask whether it is `> 0`")
    elif _of_one_label(source, scores, dim):
        told = f"`{source.code(scores)}` has one output, the number that is asked for, so this is always 0"
        yield source.hit(call, f"{told}: write `{source.code(scores)}.squeeze(-1)`", severity="warning")


def _of_one_label(source: Source, scores: ast.expr, dim: object) -> bool:
    """`model(**batch).logits`, where `from_pretrained(name, num_labels=1)` made the model: a regression."""
    scores = follow.peeled(scores, ("detach", "cpu"))
    out = (
        follow.followed(source, scores.value) if isinstance(scores, ast.Attribute) and scores.attr == "logits" else None
    )
    found = source.values(out.func) if isinstance(out, ast.Call) and dim in (1, -1) else ()
    made = [one.node for one in found if isinstance(one.node, ast.Call) and one.name.startswith("transformers.")]
    told = [tree.literal(tree.argument(one, None, "num_labels")) for one in made]
    return bool(found) and len(made) == len(found) and all(one == 1 for one in told)


def _of_one(source: Source, scores: ast.expr, dim: object) -> bool:
    """Whether there is one score only in the dimension that the best is taken from."""
    shape = values.shape(source, scores)
    known = shape is not None and len(shape) == 2 and shape[1] == 1
    return known and shape is not None and (dim == -1 or (dim == 1 and shape[0] is not None))


def _wants_values(source: Source, call: ast.Call) -> bool:
    """`x.max(0)[0]`, `x.max(0).values`, `best, _ = x.max(0)`: the largest numbers, as in a pooling, not where they are."""
    up = source.parents[call]
    target = up.targets[0] if isinstance(up, ast.Assign) else None
    first = isinstance(up, ast.Subscript) and tree.literal(up.slice) == 0
    named = isinstance(up, ast.Attribute) and up.attr == "values"
    unused = isinstance(target, ast.Tuple) and len(target.elts) == 2 and tree.dotted(target.elts[1]).startswith("_")
    return first or named or unused


def _takes_index(source: Source, call: ast.Call) -> bool:
    """`x.max(1)[1]`, `x.max(1).indices`, `_, place = x.max(1)`: where the largest numbers are."""
    up = source.parents[call]
    target = up.targets[0] if isinstance(up, ast.Assign) and len(up.targets) == 1 else None
    both = isinstance(target, ast.Tuple) and len(target.elts) == 2
    second = isinstance(up, ast.Subscript) and tree.literal(up.slice) == 1
    return both or second or (isinstance(up, ast.Attribute) and up.attr == "indices")


def _counted_against(source: Source, call: ast.Call, scores: ast.expr) -> bool:
    """Whether the index is compared with labels and counted, and scores and labels go into a cross entropy or are samples by the row."""
    statement = tree.statement(source, call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    target = target.elts[-1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else target
    name = tree.dotted(target) if target is not None else ""
    home = tree.function(source, call) or source.tree
    for one, sides in _equalities(source, home):
        if not _is_reduced(source, one):
            continue
        for index, label in (sides, sides[::-1]):
            same = (name and tree.dotted(index) == name) or tree.inside(source, call, index)
            if same and any(_learned(where, *pair) for where, pair in _given(source, scores, label)):
                return True
            if same and (_counts_rows(source, home, scores) or _counts_rows(source, home, label)):
                return True
    return False


def _equalities(source: Source, home: ast.AST) -> Iterator[tuple[ast.expr, tuple[ast.expr, ast.expr]]]:
    """`a == b`, `a.eq(b)` and `torch.eq(a, b)` with their two sides."""
    for one in tree.under(source, home, ast.Compare):
        if isinstance(one.ops[0], ast.Eq):
            yield one, (one.left, one.comparators[0])
    for call in source.methods("eq"):
        sides = call.args if source.name(call.func) == "torch.eq" else [tree.receiver(call), *call.args]
        if len(sides) == 2 and tree.inside(source, call, home):
            yield call, (sides[0], sides[1])


def _counts_rows(source: Source, home: ast.AST, node: ast.expr) -> bool:
    """Whether the function counts the samples of this tensor by its first dimension: `labels.size(0)`, `len(labels)`."""
    name = re.escape(source.code(follow.peeled(node, tuple(_ALSO))))
    rows = rf"(?<![\w.]){name}(?:\.data)?\.(?:size\(0\)|shape\[0\])|\blen\({name}\)"
    return bool(name) and re.search(rows, source.code(home) if home is not source.tree else source.text) is not None


def _other_softmax(source: Source, node: ast.expr) -> ast.Call | None:
    """The softmax over dimension 0 that these scores come from, as they are."""
    node = follow.followed(source, node)
    while isinstance(node, ast.Call) and follow.method(node) in ("cpu", "detach", "numpy", "float"):
        node = follow.followed(source, tree.receiver(node))
    if not isinstance(node, ast.Call):
        return None
    full = source.name(node.func)
    if full in ("torch.softmax", "torch.nn.functional.softmax"):
        dim = tree.argument(node, 1, "dim")
    elif isinstance(node.func, ast.Call) and source.name(node.func.func) == "torch.nn.Softmax":
        dim = tree.argument(node.func, 0, "dim")
    else:
        dim = tree.argument(node, 0, "dim") if follow.method(node) == "softmax" and not full else None
    return node if tree.literal(dim) == 0 and dim is not None else None


def _is_reduced(source: Source, node: ast.expr) -> bool:
    ups = [up for up in tree.ancestors(source, node) if isinstance(up, ast.Call)]
    return any(
        follow.method(up) in ("sum", "mean") or source.name(up.func) in ("torch.sum", "torch.mean") for up in ups
    )


def _given(source: Source, *names: ast.expr) -> Iterator[tuple[Source, tuple[ast.expr, ...]]]:
    """The expressions themselves, and what the callers give for them where they are parameters."""
    yield source, names
    home = tree.function(source, names[0])
    owner = as_function(source, home) if home is not None else None
    taken = {arg.arg: arg for arg in tree.parameters(home)} if home is not None else {}
    args = [taken.get(tree.dotted(one)) for one in names]
    for caller, call, skip in calls.callers(owner) if owner is not None and all(args) else ():
        pair = [calls.given_argument(owner, call, arg, skip) for arg in args if arg is not None and owner is not None]
        if all(one is not None for one in pair):
            yield caller, tuple(one for one in pair if one is not None)


def _learned(source: Source, scores: ast.expr, labels: ast.expr) -> bool:
    """Whether a cross entropy of just these two is computed in the same function."""
    home = tree.function(source, scores)
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"):
        if loss.input is not None and loss.target is not None and tree.function(source, loss.call) is home:
            pair = (source.code(loss.input), source.code(loss.target))
            if pair == (source.code(scores), source.code(labels)):
                return True
    return False


def _of_a_batch(source: Source, node: ast.expr, hops: int = 4) -> bool:
    """Whether this is what a model gives for a batch of a loader, whole."""
    while isinstance(node, ast.Attribute | ast.Call):
        if isinstance(node, ast.Attribute) and node.attr in _ALSO:
            node = node.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _ALSO
            and not source.name(node.func)
        ):
            node = node.func.value
        else:
            break
    if isinstance(node, ast.Name):
        value = follow.binding(source, node) if hops else None
        return value is not None and _of_a_batch(source, value, hops - 1)
    model = isinstance(node, ast.Call) and len(node.args) == 1 and values.sure(source, node.func, "module", weak=True)
    return model and isinstance(node, ast.Call) and _batched(source, node.args[0])


def _batched(source: Source, node: ast.expr | None) -> bool:
    """A name that a loop over a loader hands out."""
    while isinstance(node, ast.Call) and follow.method(node) in ("to", "cuda", "float", "long"):
        node = tree.receiver(node)
    if node is not None and _has_rows(source, node):
        return True
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    for one in bound:
        if (
            one.how == "assign"
            and isinstance(one.value, ast.Call)
            and follow.method(one.value) in ("to", "cuda", "float", "long")
        ):
            inner = tree.receiver(one.value)
            if isinstance(inner, ast.Name) and any(other.how == "for" for other in scopes.reaching(source, inner)):
                continue
        if one.how not in ("for", "comprehension") or one.value is None or not _loads(source, one.value):
            return False
    return bool(bound)


def _has_rows(source: Source, node: ast.expr) -> bool:
    """Labels of several samples: made with a size, or cut out of such labels by a slice or a tensor of indices."""
    if isinstance(node, ast.Subscript):
        several = isinstance(node.slice, ast.Slice) or values.sure(source, node.slice, "tensor")
        return several and (_has_rows(source, node.value) or _walks(source, node.slice))
    return bool(values.shape(source, node))


def _loads(source: Source, over: ast.expr) -> bool:
    nodes = [node for node in ast.walk(over) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript)]
    return any(values.sure(source, node, "loader", weak=True) for node in nodes)


def _walks(source: Source, cut: ast.expr) -> bool:
    """`i:i + 32` in `for i in range(0, n, 32)`: a batch after the other."""
    low = cut.lower if isinstance(cut, ast.Slice) else None
    found = scopes.reaching(source, low) if isinstance(low, ast.Name) else []
    over = found[0].value if len(found) == 1 and found[0].how == "for" else None
    return isinstance(over, ast.Call) and source.name(over.func) == "range" and len(over.args) == 3

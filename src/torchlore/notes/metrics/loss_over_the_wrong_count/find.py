"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, iteration, loaders, losses, scopes, tallies, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_SIZE = regex(
    r"^len\(|\.size\(0\)$|\.size\(\)\[0\]$|\.shape\[0\]$|^(bs|n|batch_size|b_size|num_samples|bsz)$|\.batch_size$"
)

_SCORE = regex(r"loss|correct|hits|(?:^|_)acc|score|psnr|ssim|lpips|error", re.IGNORECASE)
_COUNTED = regex(r"sum\(|^len\(|size\(|shape\[|numel\(")
_COUNT = regex(r"(?:^|[._])(?:total|count|n|num\w*|n_\w+|seen|batches|samples|steps)$")


def find(source: Source) -> Iterator[Hit]:
    for one in tallies.tallies(source):
        if one.by in tallies.ODD and one.below is not None:
            by = source.code(one.below)
            yield source.hit(one.division, tallies.ODD[one.by].format(by=by, name=one.name, over=one.over))
        if one.kind == "mean" and one.by == "samples":
            told = f"`{one.name}` adds up the means of the batches, and this counts samples: add the hits, `(pred == y).sum()`, or divide by the number of batches"
            yield source.hit(one.division, told)
        if one.by == "seen" and one.below is not None and _is_mean(source, one):
            told = f"`{one.name}` is a sum of batch means, and `{source.code(one.below)}` counts samples: add `loss.item() * x.size(0)`"
            yield source.hit(one.division, told, severity="warning")
    for one in tallies.tallies(source) if "batch" in source.text else ():
        if one.kind == "nominal" and one.by == "samples" and _may_be_short(source, one.loop):
            yield source.hit(
                one.node,
                f"the last batch is counted as a full one, and `{one.name}` comes out too large: multiply by the batch's own size, "
                "`x.size(0)`",
                severity="warning",
            )
    yield from (*_windows(source), *_cut_to_whole(source), *_weighed_alike(source), *_counted_full(source))
    yield from (*_divided(source), *_in_a_meter(source), *_share_of_another(source), *_in_each_turn(source))


def _is_mean(source: Source, one: tallies.Tally) -> bool:
    """Whether nothing but the mean losses of batches is added to what is divided."""
    left = one.division.left if isinstance(one.division, ast.BinOp) else getattr(one.division, "target", None)
    return isinstance(left, ast.Name) and left.id == one.name and _added(source, left) == {"mean"}


def _share_of_another(source: Source) -> Iterator[Hit]:
    """`score += acc / len(train_loader)` in a loop over `val_loader`."""
    for added in source.all(ast.AugAssign) if "len(" in source.text else ():
        share, name = added.value, tree.dotted(added.target)
        if not isinstance(share, ast.BinOp) or not isinstance(share.op, ast.Div) or not isinstance(added.op, ast.Add):
            continue
        loop = next(iter(tree.loops(source, added)), None)
        if not name or not isinstance(share.right, ast.Call) or not isinstance(loop, ast.For):
            continue
        if tallies.another(source, share.right, loop, name):
            over, by = source.code(iteration.unwrapped(source, loop.iter)), source.code(share.right)
            yield source.hit(share, tallies.ODD["another"].format(by=by, name=name, over=over), severity="warning")


def _in_each_turn(source: Source) -> Iterator[Hit]:
    """`total += loss.item()` and `total /= steps` in one loop: what was added first is divided again and again."""
    for loop in source.all(ast.For):
        short = [one for one in loop.body if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)]
        adds = {
            one.target.id: one.target
            for one in short
            if isinstance(one.op, ast.Add) and isinstance(one.target, ast.Name)
        }
        for one in short if adds else ():
            name = tree.dotted(one.target)
            if not isinstance(one.op, ast.Div) or name not in adds or tree.literal(one.value) is not tree.UNKNOWN:
                continue
            bound = scopes.reaching(source, adds[name])
            outside = [x for x in bound if not tree.inside(source, x.statement, loop)]
            begun = [scopes.part(x) for x in outside]
            if begun and all(x is not None and tree.literal(x) in (0, 0.0) for x in begun):
                told = f"`{name}` is divided in every turn, what the first turns added again and again"
                yield source.hit(one, f"{told}: divide behind the loop", severity="warning")


def _divided(source: Source) -> Iterator[Hit]:
    """`total_loss / len(loader.dataset)`, `size = len(loader.dataset)` and `total_loss /= size` below."""
    quotients: list[tuple[ast.BinOp | ast.AugAssign, ast.expr, ast.expr]] = []
    if "len(" in source.text:
        quotients += [(one, one.left, one.right) for one in source.all(ast.BinOp) if isinstance(one.op, ast.Div)]
        quotients += [(one, one.target, one.value) for one in source.all(ast.AugAssign) if isinstance(one.op, ast.Div)]
    for up, left, below in quotients:
        if not isinstance(left, ast.Name):
            continue
        size = follow.followed(source, below)
        given = size.args[0] if isinstance(size, ast.Call) and source.name(size.func) == "len" and size.args else None
        if given is None:
            continue
        added, code = _added(source, left), source.code(given)
        if added == {"mean"} and isinstance(given, ast.Attribute) and given.attr == "dataset":
            told = (
                f"`{left.id}` is a sum of batch means, and `len({code})` counts samples: add `loss.item() * x.size(0)`"
            )
            yield source.hit(up, told)
        elif added == {"weighted"} and values.sure(source, given, "loader", weak=True):
            told = (
                f"`{left.id}` is a sum over samples, and `len({code})` counts batches: divide by `len({code}.dataset)`"
            )
            yield source.hit(up, told)


def _in_a_meter(source: Source) -> Iterator[Hit]:
    """`self.sum += value` beside `self.count += n`, and `sum / count`, where `value` is a batch's mean and `n` its size."""
    for added in source.all(ast.AugAssign):
        if not isinstance(added.value, ast.Name) or not isinstance(added.op, ast.Add):
            continue
        home, total = tree.function(source, added), tree.dotted(added.target)
        cls = tree.method_class(source, home) if home is not None and total.startswith("self.") else None
        if home is None or cls is None:
            continue
        named = {one.arg: one for one in tree.parameters(home)}
        beside = [one for one in home.body if isinstance(one, ast.AugAssign) and isinstance(one.value, ast.Name)]
        counts = [one for one in beside if one is not added and one.value.id in named]  # type: ignore[attr-defined]  # a name
        if added not in home.body or added.value.id not in named or len(counts) != 1:
            continue
        count = counts[0]
        if _divides(source, cls, total, tree.dotted(count.target)):
            pairs = zip(
                calls.given(source, named[added.value.id]),
                calls.given(source, named[count.value.id]),  # type: ignore[attr-defined]  # a name
                strict=True,
            )
            if (told := list(pairs)) and all(_mean_and_size(value, size) for value, size in told):
                text = f"`{added.value.id}` is the mean of a batch, and `{tree.dotted(count.target)}` counts samples"
                yield source.hit(added, f"{text}: write `{total} += {added.value.id} * {source.code(count.value)}`")


def _divides(source: Source, cls: ast.ClassDef, total: str, count: str) -> bool:
    quotients = [one for one in tree.under(source, cls, ast.BinOp) if isinstance(one.op, ast.Div)]
    return any(tree.dotted(one.left) == total and count in source.code(one.right) for one in quotients)


def _mean_and_size(value: tuple[Source, ast.expr | None], size: tuple[Source, ast.expr | None]) -> bool:
    """Whether a meter is given the mean loss of a batch and how many samples it has."""
    if value[1] is None or size[1] is None or tallies.kind(value[0], value[1]) != "loss":
        return False
    return _SIZE.search(size[0].code(size[1])) is not None


def _weighed_alike(source: Source) -> Iterator[Hit]:
    """`losses.update(loss.item(), loader.batch_size)` in a loop over that loader, where the loaders of the file keep a short last batch."""
    for call in source.methods("update", "add") if ".batch_size" in source.text else ():
        given = [*call.args, *(one.value for one in call.keywords)]
        size = given[1] if len(given) == 2 else None
        loader = tree.dotted(size.value) if isinstance(size, ast.Attribute) and size.attr == "batch_size" else ""
        around = tree.loops(source, call)
        loop = around[0] if loader and around else None
        over = iteration.unwrapped(source, loop.iter) if isinstance(loop, ast.For) else None
        if over is None or tree.dotted(over) != loader or not any(source.calls("torch.utils.data.DataLoader")):
            continue
        if not _drops_last(source) and not any(source.calls("torch.utils.data.BatchSampler")):
            told = f"the last batch may be short, and `{loader}.batch_size` counts it as a full one: give the batch's own size, `x.size(0)`"
            yield source.hit(call, told, severity="warning")


def _may_be_short(source: Source, loop: ast.For) -> bool:
    """Whether the last batch is seen to be short, or nothing tells that it is not."""
    known = loaders.short(source, loop.iter)
    return bool(known[0]) if known is not None else not _drops_last(source)


def _counted_full(source: Source) -> Iterator[Hit]:
    """`total += batch_size` in a loop over a loader, and `correct / total` behind it."""
    for grown in source.all(ast.AugAssign) if "batch" in source.text.lower() else ():
        around = tree.loops(source, grown)
        loop = around[0] if around and isinstance(grown.op, ast.Add) and isinstance(grown.target, ast.Name) else None
        if not isinstance(loop, ast.For) or not tallies.nominal(source, grown.value, loop):
            continue
        over, home, name = (
            iteration.unwrapped(source, loop.iter),
            tree.function(source, loop),
            tree.dotted(grown.target),
        )
        if not values.sure(source, over, "loader", weak=True) or not _may_be_short(source, loop):
            continue
        later = (one for one in source.all(ast.BinOp) if isinstance(one.op, ast.Div) and tree.dotted(one.right) == name)
        if any(tree.function(source, one) is home and _is_count(source, one.left, loop) for one in later):
            told = f"the last batch is counted as a full one, and what is divided by `{name}` comes out too small: add the batch's own size, `len(y)`"
            yield source.hit(grown, told, severity="warning")


def _is_count(source: Source, node: ast.expr, loop: ast.For) -> bool:
    """Whether this is a sum over the samples of the loop: of right answers, or of losses times their size."""
    names = {tree.dotted(one) for one in ast.walk(node)} - {""}
    added = [one for one in tree.under(source, loop, ast.AugAssign) if tree.dotted(one.target) in names]
    return any(tallies.kind(source, one.value) in ("count", "weighted") for one in added)


def _cut_to_whole(source: Source) -> Iterator[Hit]:
    """`total_loss // len(loader)`, `correct // total`: the mean without its fraction."""
    for mean in (one for one in source.all(ast.BinOp) if isinstance(one.op, ast.FloorDiv)):
        name = mean.left
        if not isinstance(name, ast.Name) or not _SCORE.search(name.id):
            continue
        counted = isinstance(mean.right, ast.Call) and source.name(mean.right.func) == "len"
        added = any(one.how == "aug" for one in scopes.reaching(source, name))
        if added and (counted or _COUNT.search(tree.dotted(mean.right))):
            told = f"`//` drops the fraction of the mean: write `{name.id} / {source.code(mean.right)}`"
            yield source.hit(mean, told, severity="warning")


def _windows(source: Source) -> Iterator[Hit]:
    """A sum of losses that is printed and set to 0 every k batches, divided by another number than k."""
    for choice in source.all(ast.If) if "%" in source.text else ():
        every = _every(choice.test)
        zeros = (
            [one for one in choice.body if isinstance(one, ast.Assign) and tree.literal(one.value) in (0, 0.0)]
            if every
            else []
        )
        reset = {tree.dotted(one.targets[0]) for one in zeros}
        for one in tree.under(source, choice, ast.BinOp) if reset else ():
            count = tree.literal(one.right) if isinstance(one.op, ast.Div) else None
            name = tree.dotted(one.left)
            known = name in reset and isinstance(count, int | float) and count not in (every, 1)
            if known and isinstance(one.left, ast.Name) and _added(source, one.left) == {"mean"}:
                told = f"`{name}` is a sum over {every} batches, and is divided by {count}: divide by {every}"
                yield source.hit(one, told)


def _every(test: ast.expr) -> int:
    """`k` of `i % k == k - 1` and `(i + 1) % k == 0`, as a number; 0 where it is none."""
    if (
        not isinstance(test, ast.Compare)
        or not isinstance(test.left, ast.BinOp)
        or not isinstance(test.left.op, ast.Mod)
    ):
        return 0
    k, rest = tree.literal(test.left.right), tree.literal(test.comparators[0])
    whole = isinstance(test.ops[0], ast.Eq) and isinstance(k, int) and isinstance(rest, int)
    shifted = isinstance(test.left.left, ast.BinOp) and isinstance(test.left.left.op, ast.Add)
    return k if whole and isinstance(k, int) and ((rest == 0 and shifted) or rest == k - 1) else 0


def _drops_last(source: Source) -> bool:
    return any(one.arg == "drop_last" and tree.literal(one.value) is not False for one in source.all(ast.keyword))


def _added(source: Source, name: ast.Name) -> set[str]:
    """What `name += ...` adds: "mean" for a loss of a batch, "weighted" for one times its size, "" for the rest."""
    home = tree.function(source, name)
    sums = tree.under(source, home or source.tree, ast.AugAssign)
    found = [one.value for one in sums if isinstance(one.target, ast.Name) and one.target.id == name.id
             and isinstance(one.op, ast.Add) and tree.function(source, one) is home]  # fmt: skip
    return {_kind(source, value) for value in found}


def _kind(source: Source, value: ast.expr) -> str:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        for one, other in ((value.left, value.right), (value.right, value.left)):
            if _kind(source, one) == "mean" and _SIZE.search(source.code(other)):
                return "weighted"
        return ""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "item":
        inner = follow.peeled(value.func.value, ("detach", "cpu"))
        inner = inner.value if isinstance(inner, ast.Attribute) and inner.attr == "data" else inner
        if _is_summed(source, inner):
            return "weighted"
        named = isinstance(inner, ast.Name) and re.search(r"(^|_)loss$", inner.id) is not None
        found = source.values(inner) if isinstance(inner, ast.Call) else ()
        named = named or (bool(found) and all(one.state == "loss" and one.shape == () for one in found))
        return "mean" if named and _means(source, value) and not _sums(source, inner) else ""
    return ""


def _is_summed(source: Source, node: ast.expr) -> bool:
    """A loss that is asked for its sum over the batch."""
    node = follow.followed(source, node)
    asked = [one.option("reduction") for one in losses.loss_calls(source) if one.call is node]
    return any(tree.literal(one) == "sum" for one in asked)


def _sums(source: Source, node: ast.expr, path: tuple[int, ...] = (), hops: int = 5) -> bool:
    """Whether a sum goes into this loss, or a reduction that is no mean, also in a function of the project that computes it."""
    if isinstance(node, ast.Tuple) and path:
        return len(node.elts) > path[0] and _sums(source, node.elts[path[0]], path[1:], hops)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _COUNTED.search(source.code(node.right)):
        return False  # a mean, written out
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Subscript | ast.Dict):
        return any(_sums(source, one, (), hops) for one in _parts(node))
    if isinstance(node, ast.Name) and hops:
        bound = scopes.reaching(source, node)
        return any(one.value is not None and _sums(source, one.value, one.path, hops - 1) for one in bound)
    return isinstance(node, ast.Call) and _gives_sum(source, node, path, hops)


def _parts(node: ast.BinOp | ast.UnaryOp | ast.Subscript | ast.Dict) -> list[ast.expr]:
    """What it is made of; of `losses["all"]` all that the table holds."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return node.values if isinstance(node, ast.Dict) else [getattr(node, "operand", None) or node.value]  # type: ignore[union-attr]  # one of both


def _gives_sum(source: Source, call: ast.Call, path: tuple[int, ...], hops: int) -> bool:
    if "sum" in (source.name(call.func).rpartition(".")[2], follow.method(call)):
        return True
    asked = [one.value for one in call.keywords if one.arg in ("reduction", "size_average", "reduce")]
    if asked or follow.method(call) == "mean":
        return any(tree.literal(one) != "mean" for one in asked)
    function = flow.called(source, call) if hops else None
    given = calls.returned(function) if function is not None else []
    return function is not None and any(_sums(function.source, one, path, hops - 1) for one in given)


def _means(source: Source, node: ast.AST) -> bool:
    """Whether no loss in the file, but for those made in other functions, asks for another reduction."""
    homes = (None, tree.function(source, node))
    asked = (
        tree.literal(one.value)
        for one in source.all(ast.keyword)
        if one.arg in ("reduction", "size_average", "reduce") and _home(source, one) in homes
    )
    return all(one == "mean" for one in asked)


def _home(source: Source, node: ast.AST) -> ast.AST | None:
    """The function a node stands in; a method that sets attributes counts as everywhere."""
    home = tree.function(source, node)
    return None if home is not None and tree.class_of(source, home) is not None else home

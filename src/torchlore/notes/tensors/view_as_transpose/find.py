"""What a file shows of it."""

import ast
import itertools
import math
import re
from collections.abc import Iterator

from torchlore.check import calls, dims, follow, losses, origin, scopes, sizes, tree, uses, values
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_CONVOLUTIONS = {f"torch.nn.Conv{kind}{n}d" for kind in ("", "Transpose") for n in (1, 2, 3)}
_CONSTANT = {"torch.zeros", "torch.ones", "torch.empty", "torch.full"}
_HIGH_WIDE = re.compile(r"(?i)(?:^|[._])(k?h|hh|hp|height)(_\w+)? (?:\w+[._])?(k?w|ww|wp|width)(_\w+)?$")
_REORDERS = {"view", "reshape", "transpose", "permute", "t", "unflatten", "chunk", "split", "unbind", "stack",
             "einsum", "matmul", "bmm", "topk", "sort", "gather", "index_select", "repeat_interleave", "unsqueeze"}  # fmt: skip
_HEADS = re.compile(r"head|(?:^|[._])n?_?h$")
Views = list[tuple[ast.Call, sizes.Sizes]]  # each view or reshape with the sizes it asks for

WORDS = ("view|reshape",)


def find(source: Source) -> Iterator[Hit]:
    views = [(call, sizes.asked(source, call)) for call in source.methods("view", "reshape") if _has_several(call)]
    if not views:
        return
    yield from (*_classes_in_front(source, views), *_classes_behind(source, views), *_one_hot(source))
    yield from (*_stacked_steps(source, views), *_repeated_rows(source, views), *_pixels_in_a_row(source, views))
    yield from (*_grown_by_view(source, views), *_scores_of_places(source, views), *_heads_of_a_layer(source, views))
    yield from (*_unfolded(source, views), *_width_left_behind(source, views))
    for call, new in views:
        if len(new) > 1 and (told := _told(source, call, new)):
            yield source.hit(call, f"`{source.code(tree.receiver(call))}` {told}")


def _width_left_behind(source: Source, views: Views) -> Iterator[Hit]:
    """`conv(x).view(batch, -1, height, 1)`: the width of (batch, channels, height, width) stands behind the height, not before it."""
    for call, new in views:
        if len(call.args) != len(new) or new[1:2] != ("-1",) or new[3:] not in ((), ("1",)) or len(new) < 3:
            continue
        code = source.code(tree.receiver(call))
        third = source.code(follow.followed(source, call.args[2])).replace(" ", "")
        if third in (f"{code}.size(2)", f"{code}.shape[2]") and _is_map(source, tree.receiver(call)):
            told = f"`{code}` is (batch, channels, height, width), and a view keeps the order of its numbers: the width comes to the channels only with"
            yield source.hit(call, f"{told} `transpose(2, 3)` before this")


def _is_map(source: Source, node: ast.expr, hops: int = 8) -> bool:
    """What a convolution gives, behind activations and norms."""
    made = follow.followed(source, node)
    if not isinstance(made, ast.Call) or not made.args or not hops:
        return False
    full = source.name(made.func)
    if full in ("torch.relu", "torch.tanh", "torch.sigmoid") or full.startswith("torch.nn.functional."):
        same = full.rpartition(".")[2] in ("relu", "leaky_relu", "gelu", "elu", "silu", "tanh", "sigmoid", "dropout2d")
        return same and _is_map(source, made.args[0], hops - 1)
    if values.made_by(source, made.func, "torch.nn.Conv2d") is not None:
        return True
    same = values.made_by(source, made.func, "torch.nn.BatchNorm2d", "torch.nn.ReLU", "torch.nn.LeakyReLU") is not None
    return same and _is_map(source, made.args[0], hops - 1)


def _has_several(call: ast.Call) -> bool:
    """Whether it asks for more than one dimension."""
    return len(call.args) > 1 or any(isinstance(one, ast.Tuple | ast.List) for one in call.args)


def _told(source: Source, call: ast.Call, new: sizes.Sizes) -> str:
    """What is wrong with a view, "" where nothing is."""
    if _one_row_each(new) and sizes.is_last_state(source, tree.receiver(call)):
        return ("is (layers and directions, batch, hidden), and a view keeps the order of its numbers: a row gets "
                "numbers of other samples, use `transpose(0, 1)` before this")  # fmt: skip
    bare = _heads(source, call, (), new)
    old = _trusted(sizes.sizes(source, tree.receiver(call)), new)
    told = (_heads(source, call, old, new) or _of_sizes(old, new)) if old else bare
    return told if told == bare or not _is_meant(source, call) else bare


def _of_sizes(old: sizes.Sizes, new: sizes.Sizes) -> str:
    """The same, where no heads are moved and the sizes are known."""
    told = f"is ({', '.join(old)}), and a view keeps the order of its numbers:"
    if (moved := _other_order(old, new)) is not None:
        return f"{told} `{moved[0]}` and `{moved[1]}` change places only with `permute` before this"
    if _tokens_as_map(old, new):
        return f"{told} `{old[2]}` comes before the places only with `transpose(1, 2)` before this"
    if (inner := _taken_inside(old, new)) is not None:
        return f"{told} `{old[1]}` comes into `{inner}` only with `permute` before this"
    if _colours_last(old) and "3" in new[-3:] and new[-1] != "3" and _places_kept(old, new):
        return ("is (height, width, 3), and a view keeps the order of its numbers: the colours come in front only with "
                "`permute(2, 0, 1)` before this")  # fmt: skip
    if "-1" not in new and _left_out(old, new) - {"features"} and not _splits_one(old, new):
        return ""  # such a size can only be 1
    old = tuple("1" if _is_one(old, new, place) else size for place, size in enumerate(old))
    asked = _resolved(old, new)
    swapped = _swapped(_taken_apart([size for size in old if size != "1"], asked), asked)
    told = f"is ({', '.join(old)}), and a view keeps the order of its numbers: this does not swap"
    return f"{told} `{swapped[0]}` and `{swapped[1]}`, use `transpose` or `permute`" if swapped else ""


def _is_meant(source: Source, call: ast.Call) -> bool:
    """Whether the sizes that are seen say nothing: the order of the numbers is wanted, or it does not matter."""
    return _skewed(source, call) or _remade(source, call) or _all_the_same(source, tree.receiver(call))


def _colours_last(old: sizes.Sizes) -> bool:
    """A picture as it is read, or one of an array of pictures: `(32, 32, 3)`."""
    whole = len(old) in (3, 4) and old[-1] == "3"
    return old == sizes.PICTURE or (whole and not {"1", "3"} & {*old[:-1]} and _is_kept(old[-3:-1]))


def _places_kept(old: sizes.Sizes, new: sizes.Sizes) -> bool:
    """Whether height and width come behind the colours, as they are or as one: (6, 4, 3) as (2, 3, 12) only cuts the rows."""
    behind = new[len(new) - new[::-1].index("3") :]
    if not all(one.isdigit() for one in (*old[-3:-1], *behind)):
        return True
    return math.prod(map(int, behind)) == int(old[-3]) * int(old[-2])


def _is_kept(places: sizes.Sizes) -> bool:
    return all(one.isdigit() or one.startswith("self.") for one in places)


def _heads_of_a_layer(source: Source, views: Views) -> Iterator[Hit]:
    """`Linear(d, heads * width)(x).view(batch, heads, -1, width)`: the layer has the heads in its last dimension."""
    for call in (call for call, _ in views if len(call.args) == 4) if "Linear" in source.text else ():
        new = [source.code(one).removeprefix("self.") for one in call.args]
        made = follow.followed(source, tree.receiver(call)) if new[2] != "1" else None
        layer = values.made_by(source, made.func, "torch.nn.Linear") if isinstance(made, ast.Call) else None
        wide = (
            tree.argument(layer.node, 1, "out_features")
            if layer is not None and isinstance(layer.node, ast.Call)
            else None
        )
        if (
            layer is None
            or layer.source is None
            or not isinstance(wide, ast.BinOp)
            or not isinstance(wide.op, ast.Mult)
        ):
            continue
        factors = {layer.source.code(one).removeprefix("self.") for one in (wide.left, wide.right)}
        if factors == {new[1], new[3]} and len(factors) == 2 and not sizes.sizes(source, tree.receiver(call)):
            told = f"the last dimension of `{source.code(tree.receiver(call))}` is `{source.code(wide)}`, and a view keeps the order of its numbers"
            batch, heads, steps, width = (source.code(one) for one in call.args)
            way = f"view({batch}, {steps}, {heads}, {width}).transpose(1, 2)"
            yield source.hit(call, f"{told}: this mixes steps and heads, write `{way}`")


def _remade(source: Source, call: ast.Call) -> bool:
    """`width = width // 2` or `width //= 2` since the sizes were read: the name does not mean that size any more."""
    names = [one for part in call.args for one in tree.under(source, part, ast.Name)]
    names = [
        one for one in names if not isinstance(source.parents[one], ast.Attribute)
    ]  # `x.shape[-1]` is what it is now
    for name, made in ((one.id, made) for one in names for made in scopes.reaching(source, one)):
        again = made.value is not None and name in {one.id for one in tree.under(source, made.value, ast.Name)}
        if isinstance(made.statement, ast.AugAssign) or (made.how == "assign" and again):
            return True
    return False


def _all_the_same(source: Source, node: ast.expr) -> bool:
    """`torch.zeros(b, t, d)` has no order that a view could keep."""
    made = follow.followed(source, node)
    if not isinstance(made, ast.Call) or source.name(made.func) not in _CONSTANT:
        return False
    ups = [source.parents[one] for one in uses.names(source, node.id)] if isinstance(node, ast.Name) else []
    return not any(isinstance(up, ast.AugAssign) or _writes(up) for up in ups)


def _writes(up: ast.AST) -> bool:
    """`x[i] = ...`, `x.copy_(...)`, `out=x`."""
    stored = isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store)
    changed = isinstance(up, ast.Attribute) and (up.attr.endswith("_") or up.attr == "data")
    return stored or changed or (isinstance(up, ast.keyword) and up.arg == "out")


def _one_row_each(new: tuple[str, ...]) -> bool:
    """(batch, -1) or (-1, 2 * hidden), also with a 1 behind: one row for each sample."""
    new = new[:2] if new[2:] == ("1",) else new
    if len(new) != 2 or "layer" in new[0] or "direction" in new[0]:
        return False
    return new[0] not in ("-1", "1", "2") or (new[0] == "-1" and "2" in _factors(new[1]) and "*" in new[1])


def _classes_in_front(source: Source, views: Views) -> Iterator[Hit]:
    """(b, classes, h, w) of a convolution as (-1, classes) beside labels as (-1,): the classes were not moved to the end."""
    if not any(len(new) == 2 and new[0] == "-1" and new[1] != "1" for _, new in views):
        return
    if not any(name in source.text for name in ("Conv1d", "Conv2d", "Conv3d")):
        return
    for loss in _classified(source):
        given = follow.followed(source, loss.input) if loss.input is not None else None
        labels = follow.followed(source, loss.target) if loss.target is not None else None
        flat = follow.method(labels) in ("view", "reshape", "flatten", "ravel") if labels is not None else False
        if not flat or not isinstance(given, ast.Call) or follow.method(given) not in ("view", "reshape"):
            continue
        new = sizes.asked(source, given)
        if len(new) == 2 and new[0] == "-1" and new[1] != "1" and _is_convolved(source, tree.receiver(given)):
            yield source.hit(given, f"`{source.code(tree.receiver(given))}` has its classes in dimension 1, and a view keeps the order of its "
                             "numbers: put them last with `movedim(1, -1)` before this")  # fmt: skip


def _classified(source: Source) -> list[losses.LossCall]:
    return losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss")


def _classes_behind(source: Source, views: Views) -> Iterator[Hit]:
    """(b, t, classes) of a linear layer as (b, classes, t): the classes were not moved forward."""
    if not any(len(new) == 3 for _, new in views) or not ("view(" in source.text or "reshape(" in source.text):
        return
    for loss in _classified(source):
        given = follow.followed(source, loss.input) if loss.input is not None else None
        new = (
            sizes.asked(source, given)
            if isinstance(given, ast.Call) and follow.method(given) in ("view", "reshape")
            else ()
        )
        shape = values.shape(source, tree.receiver(given)) if isinstance(given, ast.Call) and len(new) == 3 else None
        if isinstance(given, ast.Call) and shape and str(shape[-1]) == new[1] and new[1] not in (new[0], new[2], "1"):
            yield source.hit(given, f"`{source.code(tree.receiver(given))}` has its classes last, and a view keeps the order of its numbers: put them "
                             "in dimension 1 with `transpose(1, 2)` instead")  # fmt: skip


def _one_hot(source: Source) -> Iterator[Hit]:
    """`F.one_hot(masks, n).view(b, n, h, w)`: the classes come last, and were not moved forward."""
    for call in source.calls("torch.nn.functional.one_hot"):
        node: ast.AST = call
        while follow.method(up := source.parents[source.parents[node]]) in ("float", "long", "to", "contiguous", "int"):
            node = up
        count = tree.argument(call, 1, "num_classes")
        view = up if isinstance(up, ast.Call) and follow.method(up) in ("view", "reshape") else None
        new = sizes.asked(source, view) if view is not None and tree.receiver(view) is node else ()
        behind = view is not None and any(one != "1" for one in new[2:])  # (-1, n, 1, 1) moves nothing
        if view is not None and behind and count is not None and new[1] == source.code(count) != new[-1]:
            yield source.hit(view, "`one_hot` puts the classes last, and a view keeps the order of its numbers: put them "
                             "in dimension 1 with `movedim(-1, 1)` instead")  # fmt: skip


def _pixels_in_a_row(source: Source, views: Views) -> Iterator[Hit]:
    """`x.reshape(b, n, p * p * 3)` of pictures that all callers give as (n, 3, h, w): pieces of rows, no patches."""
    for call, new in ((call, new) for call, new in views if len(new) == 3):
        parts = re.split(r"\*", new[2].replace("**2", " * 2nd").replace("** 2", " * 2nd"))
        factors = [part.strip(" ()") for part in parts]
        squared = "2nd" in factors or any(factors.count(one) > 1 for one in factors if one.isidentifier() or "." in one)
        shape = values.shape(source, tree.receiver(call)) if squared and new[1] not in ("1", "-1") else None
        if shape is not None and len(shape) == 4 and shape[1] in (1, 3) and (str(shape[1]) in factors or shape[1] == 1):
            yield source.hit(call, f"`{source.code(tree.receiver(call))}` is {shape}, and a view keeps the order of its numbers: a patch gets pieces of whole "
                             "rows, cut it with `F.unfold` or with `permute` before this")  # fmt: skip


def _grown_by_view(source: Source, views: Views) -> Iterator[Hit]:
    """`conv(x).view(b, c, h * 2, w * 2)`: channels become rows of pixels, and no pixel comes beside its neighbours."""
    for call, new in ((call, new) for call, new in views if len(new) == 4):
        both = [_times(size) for size in new[2:]]
        grown = len(both) == 2 and None not in both and both[0][1] == both[1][1] and both[0][0] != both[1][0]  # type: ignore[index]  # no None
        if grown and _is_convolved(source, tree.receiver(call)):
            yield source.hit(call, f"`{source.code(tree.receiver(call))}` has its channels in dimension 1, and a view keeps the order of its numbers: use "
                             "`F.pixel_shuffle` to make pixels of them")  # fmt: skip


def _scores_of_places(source: Source, views: Views) -> Iterator[Hit]:
    """`conv(x).view(b, h * w * anchors, classes)`: the scores of a place are in dimension 1, and were not moved to the end."""
    for call, new in ((call, new) for call, new in views if len(new) == 3) if "Conv" in source.text else ():
        parts = [part.strip(" ()") for part in new[1].split("*")]
        pairs = any(_HIGH_WIDE.search(f"{one} {other}") for one, other in itertools.pairwise(parts))
        scores = bool(parts) and (pairs or (new[1] == "-1" and "class" in new[2].lower()))
        if (
            scores
            and "*" not in new[2]
            and new[0] != "-1"
            and not _folded(source, call, parts)
            and _is_convolved(source, tree.receiver(call))
        ):
            yield source.hit(call, f"`{source.code(tree.receiver(call))}` has its channels in dimension 1, and a view keeps the order of its numbers: put "
                             "them last with `permute(0, 2, 3, 1)` before this")  # fmt: skip


def _unfolded(source: Source, views: Views) -> Iterator[Hit]:
    """`f = cnn(x.reshape(b * t, c, h, w))`, and then `f.view(t, b, -1)`: the steps of one sample stand behind each other."""
    for call, new in views:
        fold = _fold(source, tree.receiver(call)) if len(new) > 2 and new[0].isidentifier() else None
        whole = sizes.asked(source, fold)[0] if fold is not None else ""
        old = sizes.sizes(source, tree.receiver(fold))[:2] if fold is not None and "*" in whole else ()
        if len(old) == 2 and _factors(whole) == {*old} and new[:2] == (old[1], old[0]) and old[0] != old[1]:
            yield source.hit(call, f"`{source.code(tree.receiver(call))}` has the {old[1]} of one {old[0]} behind each other, and a view keeps the order of "
                             f"its numbers: write `.view({old[0]}, {old[1]}, -1).transpose(0, 1)`")  # fmt: skip


def _fold(source: Source, node: ast.expr, hops: int = 5) -> ast.Call | None:
    """The view or reshape whose rows a chain of layers was given."""
    while hops:
        hops -= 1
        made = follow.followed(source, node)
        if not isinstance(made, ast.Call):
            return None
        if follow.method(made) in ("view", "reshape") and not source.name(made.func):
            return made if len(sizes.asked(source, made)) > 2 else None
        if len(made.args) != 1 or not values.sure(source, made.func, "module"):
            return None
        node = made.args[0]
    return None


def _skewed(source: Source, call: ast.Call) -> bool:
    """`pad(x, (1, 0)).view(b, h, cols, rows)`: the shift of relative positions, which wants the numbers in this order."""
    made = follow.followed(source, tree.receiver(call))
    padded = isinstance(made, ast.Call) and source.name(made.func) == "torch.nn.functional.pad" and len(made.args) > 1
    return padded and isinstance(made, ast.Call) and source.code(made.args[1]).replace(" ", "") in ("(1,0)", "[1,0]")


def _folded(source: Source, call: ast.Call, parts: list[str]) -> bool:
    """`x.reshape(b * h * w, c, p, p)` above: the places are in the batch already."""
    others = (
        one for one in source.methods("view", "reshape") if tree.function(source, one) is tree.function(source, call)
    )
    firsts = [new[0] for one in others if one is not call and (new := sizes.asked(source, one))]
    return any("*" in first and all(part in first for part in parts) for first in firsts)


def _times(size: str) -> tuple[str, str] | None:
    """`h` and `2` of `h * 2` and of `2 * h`."""
    parts = sorted((part.strip(" ()") for part in size.split("*")), key=lambda part: not part.isidentifier())
    plain = len(parts) == 2 and parts[0].isidentifier() and (parts[1].isdigit() or parts[1].startswith("self."))
    return (parts[0], parts[1]) if plain else None


def _stacked_steps(source: Source, views: Views) -> Iterator[Hit]:
    """`torch.stack(outs).view(batch, steps, -1)` of a list that each step adds (batch, size) to: the steps come first."""
    for view, new in ((view, new) for view, new in views if len(new) > 2) if "append" in source.text else ():
        made = follow.followed(source, tree.receiver(view))
        if not isinstance(made, ast.Call) or source.name(made.func) not in ("torch.stack", "torch.cat"):
            continue
        listed = made.args[0] if made.args else None
        first = tree.literal(tree.argument(made, 1, "dim") or ast.Constant(0)) == 0
        steps = _turns(source, listed) if first and isinstance(listed, ast.Name) else set()
        if isinstance(listed, ast.Name) and new[1:2] and new[1] in steps and new[0] not in {*steps, "1"}:
            yield source.hit(view, f"`{source.code(made)}` has the {new[1]} steps first, and a view keeps the order of its numbers: a row gets numbers "
                             f"of other samples, write `torch.stack({listed.id}, dim=1)`")  # fmt: skip


def _turns(source: Source, listed: ast.Name) -> set[str]:
    """How often the loop turns that fills a list, as the user writes it: `steps` of `for t in range(steps)`."""
    adds = [one for one in source.methods("append") if tree.dotted(tree.receiver(one)) == listed.id]
    homes = {tree.function(source, one) for one in (listed, *adds)}
    loops = tree.loops(source, adds[0]) if len(adds) == 1 and len(homes) == 1 else []
    over = loops[0].iter if len(loops) == 1 and isinstance(loops[0], ast.For) else None
    if not isinstance(over, ast.Call) or source.name(over.func) != "range" or len(over.args) != 1:
        return set()  # in a loop inside another the rows of the outer one come first
    count = over.args[0]
    return {source.code(count), source.code(follow.followed(source, count))}


def _repeated_rows(source: Source, views: Views) -> Iterator[Hit]:
    """`x.repeat(k, 1)` puts whole batches one after another; a view as (n, k) of what comes of it takes k rows of one batch."""
    for call in source.methods("repeat"):
        times = source.code(call.args[0]) if len(call.args) > 1 else "1"
        new_axis = follow.method(tree.receiver(call)) == "unsqueeze"  # the copies stand along an axis of their own
        if times == "1" or new_axis or any(tree.literal(one) != 1 for one in call.args[1:]):
            continue
        for view, new in views:
            if (
                len(new) > 1
                and new[1] == times
                and new[0] not in (times, "1")
                and _rows_of(source, tree.receiver(view), call, 8)
            ):
                yield source.hit(call, f"`repeat({times}, 1)` puts whole batches one after another, and the view as ({', '.join(new)}) takes {times} rows "
                                 f"of one batch for one sample: write `repeat_interleave({times}, dim=0)`")  # fmt: skip
                break


def _rows_of(source: Source, node: ast.expr, call: ast.Call, hops: int) -> bool:
    """Whether the rows of an expression are those of a call's result, in the same order."""
    if node is call:
        return True
    if isinstance(node, ast.Name) and hops:
        made = follow.binding(source, node)
        return made is not None and _rows_of(source, made, call, hops - 1)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return any(_rows_of(source, one, call, hops) for one in (node.left, node.right))
    word = follow.word(source, node)
    if not isinstance(node, ast.Call) or word in _REORDERS:
        return False
    parts = [tree.receiver(node)] if isinstance(node.func, ast.Attribute) else []
    if word == "cat":  # side by side: behind each other they are other rows
        side = tree.literal(tree.argument(node, 1, "dim")) in (1, -1)
        return side and any(_rows_of(source, one, call, hops) for one in getattr(node.args[0], "elts", []))
    given = node.args[:1] if source.name(node.func).startswith("torch.") else node.args  # not a convolution's weights
    return any(_rows_of(source, one, call, hops) for one in (*parts, *given))


def _is_convolved(source: Source, node: ast.expr, hops: int = 3) -> bool:
    """Whether this is what a convolution gives, its dimensions unmoved; also where it is a parameter."""
    while isinstance(node, ast.Call) and follow.method(node) in ("contiguous", "float", "cpu", "detach"):
        node = tree.receiver(node)
    home, made = origin.origin(source, node)
    if isinstance(made, ast.Name) and hops:
        bound = scopes.reaching(home, made)
        arg = bound[0].node if len(bound) == 1 and bound[0].how == "parameter" else None
        function = tree.function(home, made)
        owner = as_function(home, function) if isinstance(arg, ast.arg) and function is not None else None
        sites = calls.callers(owner) if owner is not None else []
        given = [
            (caller, calls.given_argument(owner, call, arg, skip))
            for caller, call, skip in sites
            if owner is not None and isinstance(arg, ast.arg)
        ]
        return bool(given) and all(one is not None and _is_convolved(where, one, hops - 1) for where, one in given)
    if not isinstance(made, ast.Call) or home.name(made.func).startswith("torch."):
        return False
    found = home.values(made) if values.sure(home, made.func, "module") else ()
    return bool(found) and all(one.name in _CONVOLUTIONS for one in found)


def _is_one(old: tuple[str, ...], new: tuple[str, ...], place: int) -> bool:
    """(a, t, d) as (1, t, ...): the author writes the 1 that `a` is."""
    here = new[place : place + 2] == ("1", *old[place + 1 : place + 2]) and place + 1 < len(old)
    return here and old[place] not in new


def _heads(source: Source, call: ast.Call, old: tuple[str, ...], new: tuple[str, ...]) -> str:
    """What happens to the heads of an attention that a view moves, "" where it moves none."""
    order = "and a view keeps the order of its numbers: this mixes steps and heads"
    if _merges_heads(old, new):
        return f"is ({', '.join(old)}): `{old[1]}` and `{old[2]}` change places only with `transpose(1, 2)` before this"
    if _heads_in_the_batch(source, call, old, new):
        return f"has its heads in the last dimension, {order}, split the last dimension first, then `transpose(1, 2)`"
    if _heads_out_of_the_batch(old, new):
        return f"has its heads in the first dimension, {order}, take them out of it first, then `transpose(1, 2)`"
    return ""


def _heads_in_the_batch(source: Source, call: ast.Call, old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """(b, t, d) as (b * heads, t, size): the heads are a part of d, behind t."""
    if len(new) != 3 or new[0].count("*") != 1 or not any(_HEADS.search(one.lower()) for one in _factors(new[0])):
        return False
    if len(old) == 3 and len(set(old)) == 3:
        return old[0] in _factors(new[0]) and new[1] in (old[1], "-1") and new[2] not in (old[2], "1")
    if old or new[1] != "-1":
        return False
    layer = follow.followed(source, tree.receiver(call))
    if not isinstance(layer, ast.Call) or values.made_by(source, layer.func, "torch.nn.Linear") is None:
        return False
    return dims.dims(source, layer) == 3 or _of_itself(source, call, new)


def _of_itself(source: Source, call: ast.Call, new: tuple[str, ...]) -> bool:
    """Whether queries, keys and values are made of one tensor and viewed alike: it has steps to attend to."""
    home, given = tree.function(source, call), dict[str, int]()
    for view in source.methods("view", "reshape"):
        made = follow.followed(source, tree.receiver(view))
        alike = tree.function(source, view) is home and sizes.asked(source, view) == new
        if alike and isinstance(made, ast.Call) and len(made.args) == 1 and isinstance(made.args[0], ast.Name):
            given[made.args[0].id] = given.get(made.args[0].id, 0) + 1
    return max(given.values(), default=0) > 2


def _heads_out_of_the_batch(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """(b * heads, t, size) as (b, t, heads * size): the heads come behind t only by a transpose."""
    if len(old) != 3 or len(new) != 3 or new[1] != old[1] or new[2].count("*") != 1 or new[0] in (old[0], "-1"):
        return False
    heads = [one for one in _factors(new[2]) - {old[2]} if _HEADS.search(one.lower())]
    return old[2] in _factors(new[2]) and len(heads) == 1 and old[0].isidentifier()


def _merges_heads(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """(b, heads, t, d) as (b, t, width): the width takes parts of other positions with it."""
    return (
        len(old) == 4
        and len(new) == 3
        and new[:2] == (old[0], old[2])
        and (new[2] == "-1" or new[2] not in old)
        and _HEADS.search(old[1].lower()) is not None
    )


def _trusted(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """The sizes, or none where (c, kw, kh) is seen as (c, kh, kw): kernels are high first, they had each other's names."""
    moved = _other_order(old, new)
    return () if moved is not None and _HIGH_WIDE.search(f"{moved[1]} {moved[0]}") else old


def _other_order(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, str] | None:
    """(b, c, t, h, w) as (b * t, c, h, w): the same sizes, multiplied in another order."""
    asked = [[part.strip(" ()") for part in size.split("*")] for size in new]
    named = all(size.isidentifier() for size in old) and len(set(old)) == len(old)
    if (
        not named
        or not any("*" in size for size in new)
        or sorted(part for group in asked for part in group) != sorted(old)
    ):
        return None
    rest = list(old)
    for group in asked:
        taken, rest = rest[: len(group)], rest[len(group) :]
        if set(taken) != set(group):  # within one product the order does not matter
            return next((a, b) for a, b in zip(taken, group, strict=True) if a != b)
    return None


def _tokens_as_map(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """(b, n, c) as (b, c, h, w): the tokens of a picture, whose channels were not moved forward."""
    if old[:2] == ("batch", "places") and len(new) == 4 and "*" not in new[0]:  # `x.flatten(2).transpose(1, 2)`
        cut = new[1] == "-1" and "//" in new[2] and "//" in new[3]  # `view(b, -1, heads, width)` splits the features
        return cut or (new[2] == new[3] != new[1]) or _HIGH_WIDE.search(f"{new[2]} {new[3]}") is not None
    if len(old) != 3 or len(new) != 4 or new[:2] != (old[0], old[2]) or {"1", "-1"} & {old[0], old[2], *new[2:]}:
        return False
    return old[1] not in (old[2], "1") and not {old[1], old[2], "-1"} & {*new[2:]}


def _taken_inside(old: tuple[str, ...], new: tuple[str, ...]) -> str | None:
    """(b, c, h, w) as (b, patches, c * p * p): the second size becomes a part of a later one, and h and w stay in front."""
    if len(old) == len(new) == 3 and new[0] == old[0] and old[1].isidentifier() and old[2].isidentifier():
        pieces = new[1].startswith(f"{old[2]} // ")  # (b, c, t) as (b, t // patch, c * patch)
        return new[2] if pieces and "*" in new[2] and old[1] in _factors(new[2]) else None
    if len(old) < 4 or len(new) < 3 or new[0] != old[0] or not old[1].isidentifier() or old[1] in old[2:]:
        return None
    products = [size for size in new[2:] if "*" in size and "/" not in size and old[1] in _factors(size)]
    return products[0] if products and old[1] not in _factors(new[1]) and new[1] != "1" else None


def _factors(size: str) -> set[str]:
    return {part.strip(" ()") for part in re.split(r"\*|//|/", size)}


def _left_out(old: tuple[str, ...], new: tuple[str, ...]) -> set[str]:
    """Sizes that the view does not ask for, by name or in a product; `heads` is asked for by `d` of (heads, d // heads)."""
    kept = {part.strip(" ()") for size in new for part in re.split(r"\*|//", size)}
    cancelled = {part.strip(" ()") for size in old for part in size.split("//")[1:]}
    return {part.strip(" ()") for size in old for part in re.split(r"\*|//", size)} - kept - cancelled


def _splits_one(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """(b, t, d) as (b, heads, t, size): the one size that is left out is the product of the two new ones, of heads and their size."""
    left, added = [size for size in old if size not in new], [size for size in new if size not in old]
    return len(left) == 1 and len(added) == 2 and any(_HEADS.search(size.lower()) for size in added)


def _resolved(old: tuple[str, ...], new: tuple[str, ...]) -> list[str]:
    """The sizes asked for, with -1 replaced where only one size of the old ones is left for it."""
    left = [size for size in old if size not in new]
    alone = new.count("-1") == 1 and len(left) == 1 and len(old) == len(new)
    return [left[0] if size == "-1" and alone else size for size in new if size != "1"]


def _taken_apart(old: list[str], new: list[str]) -> list[str]:
    """(b, t, h*w, d) as (b, t, h, w, d): `h*w` counts as `h` and `w`."""
    found: list[str] = []
    for one in old:
        parts = [part.strip() for part in one.split("*")]
        found += parts if new[len(found) : len(found) + len(parts)] == parts else [one]
    return found


def _put_between(old: list[str], new: list[str]) -> bool:
    """(k, out, width) as (k, groups, out, width): every size is asked for in its order, so what is put in between can only be 1."""
    asked = iter(new)
    return "-1" not in new and all(size in asked for size in old)


def _swapped(old: list[str], new: list[str]) -> tuple[str, str] | None:
    """The first size that stands where a later one should: by name, or by number where there are three or more."""
    first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
    if first is None or "-1" in (old[first], *new[: first + 1]) or _put_between(old, new):
        return None
    if any(new.count(size) > old.count(size) for size in new if size in old):
        return None  # (heads, 2, d // heads // 2, d) as (d, d): the first is a product
    if first and new[first] not in old and old[first] in new[first + 1 :] and not old[first].isdigit():
        return old[first], new[first]  # (b, t, d) as (b, heads, t, ...): the heads are a part of d, not of t
    if new[first] not in old[first + 1 :]:
        both = [size for size in old if size in new and size.isidentifier()]
        other = [size for size in new if size in both]
        return next(((a, b) for a, b in zip(both, other, strict=False) if a != b), None)
    rest = iter(old)
    if all(size in rest for size in new):
        return None  # the same order with sizes left out, which can only be ones
    few = new[first].isdigit() and (len(old) < 3 or sorted(old) != sorted(new))
    return None if few else (old[first], new[first])

"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, edits, follow, grouped, losses, origin, project, tree, uses, values
from torchlore.check.source import Hit, Source

_SYMMETRIC = {"MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"}
_TRIPLETS = {"n", "neg", "negative", "negatives", "p", "pos", "positive", "positives"}
_RELU = ("torch.relu", "torch.nn.functional.relu", "torch.clamp", "torch.clamp_min")
_PAIRS = ("pairwise_distance", "cosine_similarity", "dist", "cdist")
_AWAY = re.compile(r"an(?![a-z])|neg")
_NEAR = re.compile(r"ap(?![a-z])|pos")
_DISTANCE = re.compile(r"dist|(^|_)d(_|an|ap|$)|d_")
_TARGET = re.compile(r"^(?:\w+_)?(?:target|targets|label|labels|y_true|gt|ground_truth|truth|y)(?:_\w+)?$")
WORDS = (f"{losses.SAID}|relu|clamp|clamp_min|max|*margin*",)


def _word(source: Source, node: ast.expr) -> str:
    """`neg` of `neg_emb`, `self.neg`, `emb_neg` and `net(neg)`; "" where no part of the name is such a word."""
    made = follow.followed(source, node)
    ran = isinstance(made, ast.Call) and len(made.args) == 1 and not made.keywords
    if isinstance(node, ast.Name) and ran and isinstance(made, ast.Call) and values.sure(source, made.func, "module"):
        own = [one for one in node.id.lower().split("_") if one.rstrip("0123456789") in _TRIPLETS]
        node = node if own else made.args[0]  # zn = net(negative)
    node = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords else node
    parts = (
        source.code(node).rpartition(".")[2].lower().split("_") if isinstance(node, ast.Name | ast.Attribute) else []
    )
    return next((one for one in parts if one in _TRIPLETS or one.rstrip("0123456789") in _TRIPLETS), "")


def _hinges(source: Source) -> Iterator[Hit]:
    """`relu(d_neg - d_pos + margin)` of distances, or `relu(s_pos - s_neg + margin)` of similarities: the positive is pushed away."""
    bounds = (*source.calls(*_RELU, "torch.max"), *source.methods("clamp", "relu", "clamp_min"))
    for call in bounds if uses.says(source, "pos", "neg", "positive", "negative", "p", "margin") else ():
        plain = bool(source.name(call.func))
        whole = call.args[0] if plain and call.args else tree.receiver(call) if not plain else None
        whole = follow.followed(source, whole) if whole is not None else None
        gap = _gap(whole) if whole is not None else None
        if gap is None or (follow.method(call) == "max" and len(call.args) != 2):
            continue
        sides = [_side(source, one) for one in gap]
        kinds = {kind for kind, _ in sides}
        wrong = [role for _, role in sides] == (["near", "far"] if kinds == {"similarity"} else ["far", "near"])
        if len(kinds) == 1 and kinds != {""} and wrong:
            one, two = (source.code(side) for side in gap)
            yield source.hit(
                gap[0], f"this pulls the negative closer and pushes the positive away: write `{two} - {one}`"
            )


def _gap(whole: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """`x` and `y` of `x - y + margin` and of `margin + x - y`."""
    if not isinstance(whole, ast.BinOp):
        return None
    inner, rest = whole.left, whole.right
    if isinstance(whole.op, ast.Sub) and isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add):
        return (inner.right, rest) if _is_margin(inner.left) else None
    added = isinstance(whole.op, ast.Add) and isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub)
    return (inner.left, inner.right) if added and isinstance(inner, ast.BinOp) and _is_margin(rest) else None


def _is_margin(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute | ast.Constant)


def _side(source: Source, node: ast.expr) -> tuple[str, str]:
    """Whether this is a distance or a similarity, and to the near or the far one: by its name, else by what it is made of."""
    code = source.code(node).lower()
    role = "far" if _AWAY.search(code) else "near" if _NEAR.search(code) else ""
    if role and _DISTANCE.search(code) and "sim" not in code:
        return ("" if _of_similarity(source, node) else "distance"), role
    made = follow.followed(source, node)
    for one in ast.walk(made):
        called = source.name(one.func).rpartition(".")[2] if isinstance(one, ast.Call) else ""
        gap = isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub)
        pair = one.args[:2] if isinstance(one, ast.Call) and called in _PAIRS else []
        pair = [one.left, one.right] if gap and isinstance(one, ast.BinOp) else pair
        roles = {role for side in pair if (role := _role(source, side))}
        if len(roles) == 1:
            return ("similarity" if called == "cosine_similarity" else "distance"), roles.pop()
    return "", ""


def _of_similarity(source: Source, node: ast.expr, hops: int = 2) -> bool:
    """`neg_dists = F.logsigmoid(F.cosine_similarity(x, y))`: called a distance, and large where the two are near."""
    made = [one for one in follow.possible(source, node) if one is not node]
    named = [one for value in made for one in ast.walk(value) if isinstance(one, ast.Name)] if hops else []
    asked = (source.name(one.func) for value in made for one in ast.walk(value) if isinstance(one, ast.Call))
    return any(one.endswith("cosine_similarity") for one in asked) or any(
        _of_similarity(source, one, hops - 1) for one in named if isinstance(one.ctx, ast.Load)
    )


def _role(source: Source, node: ast.expr) -> str:
    word = _word(source, node)
    return "" if not word else "far" if word.startswith("n") else "near"


def _pairs(source: Source) -> Iterator[Hit]:
    """`(1 - y) * d**2 + y * relu(margin - d)**2`, where `y` is 1 for two of one kind."""
    for whole in grouped.operations(source, ast.Add) if "margin" in source.text else ():
        home = tree.function(source, whole)
        if home is None:
            continue
        for near, far in ((whole.left, whole.right), (whole.right, whole.left)):
            label = _rest_of(near)
            arg = next((one for one in tree.parameters(home) if one.arg == label), None)
            pushes = "margin" in source.code(far) and _is_factor(far, label) and "margin" not in source.code(near)
            if arg is None or not pushes:
                continue
            function = project.as_function(source, home)
            callers = calls.callers(function)
            given = [(where, calls.given_argument(function, call, arg, skip)) for where, call, skip in callers]
            if any(one is not None and _says_same(where, one) for where, one in given):
                told = f"`{label}` is 1 for two of one kind here, and this pushes those apart: swap `{label}` and `1 - {label}`"
                yield source.hit(whole, told, severity="warning")


def _rest_of(node: ast.expr) -> str:
    """`y` of a product with `(1 - y)` in it."""
    for one in ast.walk(node):
        rest = isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and tree.literal(one.left) == 1
        if rest and isinstance(one, ast.BinOp) and isinstance(one.right, ast.Name):
            return one.right.id
    return ""


def _is_factor(node: ast.expr, name: str) -> bool:
    """`y * ...`: the label as it is."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Pow | ast.Div):
        if tree.dotted(node.left) == name or tree.dotted(node.right) == name:
            return True
        node = node.left
    return False


def _says_same(source: Source, given: ast.expr) -> bool:
    """`(who == other).float()`, or what a function of the file returns in that place, or a name that says so."""
    home, made = origin.origin(source, given)
    while isinstance(made, ast.Call) and follow.method(made) in (
        "float",
        "long",
        "to",
        "int",
        "type",
        "squeeze",
        "view",
    ):
        home, made = origin.origin(home, tree.receiver(made))
    equal = isinstance(made, ast.Compare) and len(made.ops) == 1 and isinstance(made.ops[0], ast.Eq)
    return equal and isinstance(made, ast.Compare) and not isinstance(made.comparators[0], ast.Constant)


def _by_kind(source: Source) -> Iterator[Hit]:
    """Losses whose first two arguments mean different things."""
    for call in losses.loss_calls(source, "TripletMarginLoss", "triplet_margin_loss", "TripletMarginWithDistanceLoss"):
        words = [_word(source, one) for one in call.call.args[:3]]
        if len(words) == 3 and words[1].startswith("n") and words[2].startswith("p") and set(words) & _TRIPLETS:
            yield source.hit(
                call.call, "the positive comes second and the negative third: here the negative is pulled closer"
            )
    for loss in losses.loss_calls(source, "KLDivLoss", "kl_div"):
        taught, target = loss.input, loss.target
        if taught is None or target is None or values.attached(source, taught) is not False:
            continue
        if values.attached(source, target) is True:
            told = "the first is a constant and the second learns: the student's log-probabilities come first, the target second"
            yield source.hit(loss.call, told)
    for call in losses.loss_calls(source, "MarginRankingLoss", "margin_ranking_loss"):
        words = [_word(source, one) for one in call.call.args[:2]]
        sign = tree.argument(call.call, 2, "target")
        made = follow.followed(source, sign) if sign is not None else None
        ones = isinstance(made, ast.Call) and source.name(made.func) in ("torch.ones", "torch.ones_like")
        if ones and len(words) == 2 and words[0].startswith("n") and words[1].startswith("p"):
            yield source.hit(call.call, "with a target of 1 the first is to score higher: put the positive first")
    yield from (*_hinges(source), *_pairs(source))


def find(source: Source) -> Iterator[Hit]:
    yield from _by_kind(source)
    for loss in losses.loss_calls(source):
        first, second = loss.input, loss.target
        if first is None or second is None or loss.name.rpartition(".")[2] in _SYMMETRIC or loss.call.keywords:
            continue
        named = isinstance(first, ast.Name | ast.Attribute) and _TARGET.match(source.code(first).rpartition(".")[2])
        if not named or values.attached(source, first) is True:
            continue
        given = values.state(source, second)
        made = follow.followed(source, first)
        if isinstance(made, ast.Call) and values.sure(source, made.func, "module", weak=True):
            continue  # `soft_labels = student(x)`
        if given is not None and given.state != "loss":
            one, two = source.code(first), source.code(second)
            fix = edits.replace(source, first, two), edits.replace(source, second, one)
            yield source.hit(loss.call, f"the prediction comes first: write `({two}, {one})`", *fix, safe=False)

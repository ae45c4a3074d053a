"""What a file shows of it."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from torchlore.check import averages, flow, follow, losses, origin, scopes, terms, tree
from torchlore.check.source import Hit, Source

_BINARY = (
    "BCELoss",
    "binary_cross_entropy",
    "BCEWithLogitsLoss",
    "binary_cross_entropy_with_logits",
    "MSELoss",
    "mse_loss",
)
_FILLED = {"torch.ones": 1, "torch.ones_like": 1, "torch.zeros": 0, "torch.zeros_like": 0}
WORDS = ("detach|*fake*", "backward|return")


def find(source: Source) -> Iterator[Hit]:
    yield from _both_alike(source) if "real" in source.text and "fake" in source.text else ()
    if "detach()" not in source.text or not any(source.methods("backward")):
        return
    judged = [one for one in (_judged(source, loss) for loss in losses.loss_calls(source, *_BINARY)) if one is not None]
    turned = any(label == 0 and cut for _, _, label, cut in judged)
    for call, fake, label, cut in judged:
        if not cut and label == 0 and turned and "fake" in fake and _is_only_term(source, call):
            yield source.hit(
                call,
                f"`{fake}` keeps its graph, so this trains the generator, and it is told to be found out: give it ones",
            )
    yield from _critics(source)


def _both_alike(source: Source) -> Iterator[Hit]:
    """`bce(real, ones) + bce(fake, ones)` of one discriminator: it is told that the fakes are real."""
    told: dict[object, list[tuple[str, int, ast.Call]]] = defaultdict(list)
    for loss in losses.loss_calls(source, *_BINARY):
        name = tree.dotted(loss.input).rpartition(".")[2].lower() if loss.input is not None else ""
        which = "fake" if "fake" in name else "real" if "real" in name else ""
        label = _label(source, loss.target) if which and loss.target is not None else None
        if label is not None:
            told[tree.function(source, loss.call)].append((which, label, loss.call))
    for home, found in told.items():
        kinds = {which: (label, call) for which, label, call in found}
        if len(found) != 2 or len(kinds) != 2 or kinds["real"][0] != kinds["fake"][0]:
            continue
        real, fake = kinds["real"][1], kinds["fake"][1]
        if _taken_together(source, home, real, fake):
            same = f"real ones and fakes are both told to be {kinds['fake'][0]}"
            yield source.hit(fake, f"{same}, so the discriminator learns nothing: turn this label round")


def _taken_together(source: Source, home: object, one: ast.Call, other: ast.Call) -> bool:
    """Whether the two are added up, or handed back as a pair."""
    for node in source.all(ast.BinOp, ast.Return):
        if tree.function(source, node) is not home:
            continue
        parts: list[ast.expr] = (
            [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else []
        )
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            parts = node.value.elts
        made = [follow.followed(source, part) for part in parts]
        if one in made and other in made:
            return True
    return False


def _judged(source: Source, loss: losses.LossCall) -> tuple[ast.Call, str, int, bool] | None:
    """A loss of a net's judgement of a fake: the call, the fake, its label, and whether the fake is detached."""
    score = follow.followed(source, loss.input) if loss.input is not None else None
    while isinstance(score, ast.Call) and follow.method(score) in ("view", "squeeze", "reshape", "flatten"):
        score = follow.followed(source, tree.receiver(score))
    label = _label(source, loss.target) if loss.target is not None else None
    given = score.args[0] if isinstance(score, ast.Call) and len(score.args) == 1 else None
    if label is None or given is None:
        return None
    cut = follow.method(given) == "detach"
    fake = source.code(tree.receiver(given) if isinstance(given, ast.Call) and cut else given)
    named = "fake" in fake.lower() or "gen" in fake.lower()
    return (loss.call, fake, label, cut) if named else None


def _label(source: Source, target: ast.expr) -> int | None:
    """1 or 0 where the target is filled with it, and is not smoothed or drawn."""
    filled = _last_fill(source, target)
    if filled is not None:
        return filled
    made = follow.followed(source, target)
    while isinstance(made, ast.Call) and follow.method(made) in ("to", "float", "cuda", "unsqueeze", "type_as", "view"):
        made = follow.followed(source, tree.receiver(made))
    if not isinstance(made, ast.Call):
        return None
    full = source.name(made.func)
    number = _number(source, made.args[1]) if full == "torch.full" and len(made.args) > 1 else None
    return number if number is not None else _FILLED.get(full)


def _last_fill(source: Source, target: ast.expr) -> int | None:
    """The number that `label.fill_(0)` wrote last, in the same block before this use."""
    name = tree.dotted(target)
    block = tree.loops(source, target)
    fills = [
        one
        for one in (source.methods("fill_") if name else ())
        if tree.dotted(tree.receiver(one)) == name and tree.loops(source, one) == block and len(one.args) == 1
    ]
    before = [one for one in fills if one.lineno < target.lineno and not tree.conditions(source, one)]
    bound = (
        [getattr(one.statement, "lineno", 0) for one in scopes.reaching(source, target)]
        if isinstance(target, ast.Name)
        else []
    )
    last = max(before, key=lambda one: one.lineno) if before else None
    return _number(source, last.args[0]) if last is not None and last.lineno > max(bound, default=0) else None


def _number(source: Source, node: ast.expr) -> int | None:
    """0 or 1, also behind a name."""
    number = averages.number(*origin.origin(source, node))
    return int(number) if number in (0, 1) else None


def _is_only_term(source: Source, call: ast.Call) -> bool:
    """Whether nothing is added to it: a discriminator's loss has the real ones beside the fakes."""
    up = source.parents[call]
    return isinstance(up, ast.Assign) or (isinstance(up, ast.Attribute) and up.attr == "backward")


def _critics(source: Source) -> Iterator[Hit]:
    """`critic(real) - critic(fake.detach())` beside `-critic(fake)`."""
    signs: dict[str, dict[bool, set[tuple[int, ast.expr]]]] = defaultdict(lambda: defaultdict(set))
    turned: set[str] = set()  # `loss.backward(minus_one)` turns a sign that is not in the loss
    for backward in source.methods("backward"):
        loss = tree.receiver(backward)
        for term, sign in terms.terms(source, loss) if isinstance(loss, ast.Name | ast.BinOp | ast.UnaryOp) else ():
            given = term.args[0] if isinstance(term, ast.Call) and len(term.args) == 1 else None
            judged = isinstance(term, ast.Call) and not source.name(term.func).startswith("torch")
            if isinstance(term, ast.Call) and judged and given is not None and _is_fake(source, given):
                cut = any(follow.method(one) == "detach" for one in ast.walk(follow.followed(source, given)))
                signs[source.code(term.func)][cut].add((sign, term))
                turned |= {source.code(term.func)} if backward.args or tree.keyword(backward, "gradient") else set()
    for net, found in signs.items():
        for sign, term in found[True] if net not in turned else ():
            others = {one for one, _ in found[False]}
            if others == {sign} and flow.may_train(source):
                # a critic makes its fakes small, as a rule: then it is the generator that goes the wrong way
                at = min((one for _, one in found[False]), key=lambda one: one.lineno) if sign > 0 else term
                both = f"critic and generator both make `{source.code(term)}` {'large' if sign < 0 else 'small'}"
                yield source.hit(at, f"{both}: turn one of them round")


def _is_fake(source: Source, node: ast.expr) -> bool:
    """`fake`, `fake.detach()` or what a generator gives, and nothing computed of it."""
    inner = tree.receiver(node) if isinstance(node, ast.Call) and follow.method(node) == "detach" else node
    return "fake" in tree.dotted(inner).lower() or _generated(source, inner)


def _generated(source: Source, node: ast.expr) -> bool:
    """What a generator called G gives."""
    made = follow.followed(source, node)
    name = tree.dotted(made.func).rpartition(".")[2].lower() if isinstance(made, ast.Call) else ""
    return name in ("g", "generator", "netg", "gen", "net_g", "g_net")

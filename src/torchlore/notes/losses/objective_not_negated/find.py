"""The rule of objective-not-negated."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, follow, identity, losses, origin, project, scopes, terms, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_GAIN = regex(r"^(adv|advs|advantages?|gaes?|returns?|rewards?|rets|discounted_\w+|reward_to_go|rtg)$", re.IGNORECASE)
_RECKONS = regex(r"(^|_)(returns?|advantages?|gae|discount(ed)?)(_|$)", re.IGNORECASE)
_LOGS = regex(r"^(saved_)?log_?probs?$", re.IGNORECASE)
_CRITIC = regex(r"^(critic\w*|q\d?|qf\d?|q_?net\w*|q_?func\w*|q_?value\w*)$", re.IGNORECASE)
_ACTOR = regex(r"actor|policy|^pi\d?$|^mu$", re.IGNORECASE)
_TURNED = regex(r"maximize|neg_?log|nll|-[\w.\[\]]*log_?p\w*|cost|regret|penalt", re.IGNORECASE)
_SHORT = regex(
    r"(^|[/_\-.])(c?vrp\w*|tsp\w*|routing|jssp\w*|scheduling)([/_\-.]|$)", re.IGNORECASE
)  # the "reward" is a length
_HITS = regex(r"^(tps?|true_pos(itives?)?)$")
_JOINS = ("torch.stack", "torch.cat", "sum")
_PICKS = ("diag", "diagonal", "gather")
_REGRESSION = ("MSELoss", "mse_loss", "SmoothL1Loss", "smooth_l1_loss", "HuberLoss", "huber_loss")
WORDS = ("backward",)


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")) or not flow.may_train(source):
        return
    seen: set[ast.AST] = set()
    for call in source.methods("backward"):
        loss, around = origin.loss_behind(source, tree.receiver(call)), tree.function(source, call)
        if around is not None and around.name.startswith("test_"):
            continue  # it compares gradients, of whatever sign
        found = terms.terms(source, loss) if isinstance(loss, ast.Name | ast.BinOp | ast.Call) else ()
        for term, sign in (part for one in found for part in _listed(source, *one)):
            what = _policy_gradient(source, term) or _judged_actor(source, term) or _entropy(source, term)
            what = what or _likelihood(source, term) or _surrogate(source, term) or _agreement(source, term)
            if (
                sign > 0
                and what
                and term not in seen
                and not (_TURNED.search(source.text) or _SHORT.search(source.path))
            ):
                seen.add(term)
                yield source.hit(term, f"the optimizer makes {what} small, and it should grow: put a minus before it")
            for home, score in _overlaps(source, term) if sign > 0 else ():
                if home is source and score not in seen:
                    seen.add(score)
                    yield source.hit(
                        _added_here(source, term, score),
                        f"the optimizer makes `{source.code(score)}` small, and an overlap should grow: write `1 - ...`",
                    )


def _agreement(source: Source, term: ast.expr) -> str:
    """`cosine_similarity(p, z.detach()).mean()`: two views that are to agree, of which one is held fixed."""
    inner = tree.receiver(term) if isinstance(term, ast.Call) and follow.method(term) in ("mean", "sum") else term
    call = follow.followed(source, inner)
    if (
        not isinstance(call, ast.Call)
        or not re.search(r"cosine_similarity$", source.name(call.func))
        or len(call.args) < 2
    ):
        return ""
    apart = re.search(
        r"orth|divers|decorr|disent|negativ|\bneg|repel|adv|attack|unlearn", source.code(tree.statement(source, term))
    )
    graphs = [values.attached(source, one) for one in call.args[:2]]
    cut = any(_is_cut(source, one) for one in call.args[:2])
    return f"`{source.code(call)}`" if not apart and cut and True in graphs else ""


def _is_cut(source: Source, node: ast.expr) -> bool:
    """`z.detach()`, here, by a name, or as a function of the file returns it."""
    _, made = origin.origin(source, node)
    return isinstance(made, ast.Call) and follow.method(made) == "detach"


def _added_here(source: Source, term: ast.expr, score: ast.expr) -> ast.expr:
    """`dice(p, m)` where a score that is reckoned elsewhere too, as a metric, comes into the loss; else the score itself."""
    inner = tree.function(source, score)
    if inner is None or inner is tree.function(source, term):
        return score
    return term if len(calls.callers(project.as_function(source, inner))) > 1 else score


def _listed(source: Source, term: ast.expr, sign: int, hops: int = 2) -> Iterator[tuple[ast.expr, int]]:
    """A term, for `torch.stack(losses)` what is appended to that list, for a function of the file what it returns."""
    made = flow.called(source, term) if isinstance(term, ast.Call) and hops else None
    back = calls.returned(made) if made is not None and made.source is source and made.node.name != "__init__" else []
    if len(back) == 1:
        for inner, flip in terms.terms(source, back[0], sign):
            yield from _listed(source, inner, flip, hops - 1)
        yield term, sign
        return
    joined = isinstance(term, ast.Call) and source.name(term.func) in ("torch.stack", "torch.cat", "sum") and term.args
    name = tree.dotted(term.args[0]) if isinstance(term, ast.Call) and joined else ""
    home = tree.function(source, term)
    added = [one for one in source.methods("append") if name and tree.dotted(tree.receiver(one)) == name]
    inside = [one.args[0] for one in added if tree.function(source, one) is home and len(one.args) == 1]
    if not inside:
        yield term, sign
    for one in inside:
        yield from terms.terms(source, one, sign)


def _policy_gradient(source: Source, term: ast.expr) -> str:
    """`log_prob * advantage`, both seen as such."""
    if not isinstance(term, ast.BinOp) or not isinstance(term.op, ast.Mult):
        return ""
    for one, other in ((term.left, term.right), (term.right, term.left)):
        gain = _GAIN.match(follow.base(other)) or _GAIN.match(_walked(source, other)) or _reckoned(source, other)
        if (_is_log_prob(source, one) or _LOGS.match(_walked(source, one))) and gain and not _reversed(source, other):
            return f"`{source.code(term)}`"
    return ""


def _reckoned(source: Source, node: ast.expr) -> bool:
    """`R` of `R = compute_returns(rewards)`: what a function of this file made of the rewards."""
    call = follow.followed(source, node)
    inner = flow.called(source, call) if isinstance(call, ast.Call) else None
    return inner is not None and _RECKONS.search(inner.node.name) is not None


def _walked(source: Source, node: ast.expr) -> str:
    """`log_probs` for `lp` of `for lp, ret in zip(log_probs, returns)`."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    one = bound[0] if len(bound) == 1 and bound[0].how in ("for", "comprehension") else None
    over = one.value if one is not None else None
    if one is None or not isinstance(over, ast.Call) or source.name(over.func) != "zip" or len(one.path) != 1:
        return ""
    return follow.base(over.args[one.path[0]]) if one.path[0] < len(over.args) else ""


def _entropy(source: Source, term: ast.expr) -> str:
    """`ent_coef * entropy` of a policy's distribution: its bonus must be taken off the loss."""
    scaled = isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult)
    for one in (term.left, term.right) if isinstance(term, ast.BinOp) and scaled else (term,):
        if any(source.methods("log_prob")) and _is_entropy(source, one):
            return f"the entropy in `{source.code(term)}`"
    return ""


def _is_entropy(source: Source, node: ast.expr) -> bool:
    """`dist.entropy().mean()`, by a name too, and `torch.stack(entropies).sum()` of a list of such."""
    whole = follow.followed(source, node)
    while follow.method(whole) in ("mean", "sum") and not source.name(whole.func):  # type: ignore[attr-defined]  # method says that it is a call
        whole = follow.followed(source, tree.receiver(whole))  # type: ignore[arg-type]  # as before
    if isinstance(whole, ast.Name):  # `logp, entropy, value = policy.evaluate(obs, act)`
        home, made = origin.origin(source, whole)
        return made is not whole and not isinstance(made, ast.Name) and _is_entropy(home, made)
    if not isinstance(whole, ast.Call):
        return False
    if source.name(whole.func) in ("torch.mean", "torch.sum", *_JOINS) and whole.args:
        inside = origin.members(source, whole.args[0]) if source.name(whole.func) in _JOINS else []
        return (
            all(follow.method(follow.followed(*one)) == "entropy" for one in inside)
            if inside
            else _is_entropy(source, whole.args[0])
        )
    return follow.method(whole) == "entropy"


def _surrogate(source: Source, term: ast.expr) -> str:
    """`torch.min(ratio * adv, clipped * adv)` of PPO."""
    whole = follow.followed(source, term)
    if not isinstance(whole, ast.Call) or source.name(whole.func) not in ("torch.min", "torch.minimum"):
        return ""
    for one in (follow.followed(source, arg) for arg in whole.args[:2]):
        pair = (one.left, one.right) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult) else ()
        gain = any(_GAIN.match(follow.base(part)) and not _reversed(source, part) for part in pair)
        if gain and any(re.match(r"^(prob_)?ratios?$|^rho$", follow.base(part)) for part in pair):
            return f"`{source.code(term)}`, the surrogate,"
    return ""


def _likelihood(source: Source, term: ast.expr) -> str:
    """`F.log_softmax(sim, dim=1).diag()`: the log-probability of the right ones."""
    whole, picked = follow.followed(source, term), False
    while isinstance(whole, ast.Call | ast.Subscript):
        if isinstance(whole, ast.Call) and whole.args and follow.method(whole) == "log_softmax":
            return f"`{source.code(term)}`, a log-likelihood," if picked else ""
        if isinstance(whole, ast.Call) and follow.method(whole) not in (*_PICKS, "squeeze", "mean", "sum", "view"):
            return ""
        picked |= isinstance(whole, ast.Call) and follow.method(whole) in _PICKS
        whole = follow.followed(source, tree.receiver(whole) if isinstance(whole, ast.Call) else whole.value)
    return ""


def _overlaps(source: Source, term: ast.expr, hops: int = 2) -> Iterator[tuple[Source, ast.expr]]:
    """`(2 * intersection + eps) / (a.sum() + b.sum() + eps)` as the whole of a term, here or in the function it calls."""
    term = follow.followed(source, term)
    while follow.method(term) in ("mean", "sum"):
        term = follow.followed(source, tree.receiver(term))  # type: ignore[arg-type]  # method says that it is a call
    if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Div):
        above, below = ({tree.dotted(one).lower() for one in ast.walk(side)} for side in (term.left, term.right))
        named = any(re.match(r"^(inter|intersection|overlap|intersect)(_?sum)?$", one) for one in above)
        hits = any(_HITS.match(one) for one in above & below)  # tp / (tp + fp + fn)
        if named or hits or _is_dice(source, term):
            yield source, term
    inner = origin.behind(source, term) if isinstance(term, ast.Call) and hops else None
    for given in calls.returned(inner) if inner is not None else ():
        yield from _overlaps(inner.source, given, hops - 1) if inner is not None else ()


def _is_dice(source: Source, ratio: ast.BinOp) -> bool:
    """`2 * (p * m).sum() / (p + m).sum()`: twice a sum of products over sums of the same two."""
    above, below = follow.followed(source, ratio.left), follow.followed(source, ratio.right)
    twice = [one for one in ast.walk(above) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult)]
    doubled = any(tree.literal(one.left) in (2, 2.0) or tree.literal(one.right) in (2, 2.0) for one in twice)
    pairs = [one for one in twice if isinstance(one.left, ast.Name) and isinstance(one.right, ast.Name)]
    names = {one.id for one in ast.walk(below) if isinstance(one, ast.Name)}
    return doubled and any({one.left.id, one.right.id} <= names for one in pairs)  # type: ignore[attr-defined]  # Names, see above


def _is_log_prob(source: Source, node: ast.expr) -> bool:
    """A call of `log_prob`, or a name or list that holds what one gave."""
    whole = follow.followed(source, node)
    inside = [one for one in ast.walk(whole) if isinstance(one, ast.Call)]
    if any(follow.method(one) == "log_prob" for one in inside):
        return True
    named = re.match(r"^(saved_|old_)?log_?prob", follow.base(node)) or re.match(r"^log_?prob", follow.base(whole))
    return bool(named) and any(source.methods("log_prob"))


def _reversed(source: Source, node: ast.expr) -> bool:
    """`values - returns`: the sign is turned already."""
    whole = follow.followed(source, node)
    turned = isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Sub) and "val" in source.code(whole.left).lower()
    return turned or (isinstance(whole, ast.UnaryOp) and isinstance(whole.op, ast.USub))


def _judged_actor(source: Source, term: ast.expr) -> str:
    """`critic(s, actor(s))` of a critic that is itself trained to predict a value; also the smaller one of two critics."""
    both = follow.followed(source, term)
    if isinstance(both, ast.Call) and source.name(both.func) in ("torch.min", "torch.minimum") and len(both.args) == 2:
        first = follow.followed(source, both.args[0])
        return _judged_actor(source, first) if isinstance(first, ast.Call) and not source.name(first.func) else ""
    if not isinstance(term, ast.Call) or not _CRITIC.match(follow.base(term.func)) or not _is_net(source, term):
        return ""
    given = [part for arg in term.args for part in ast.walk(_made(source, arg)) if isinstance(part, ast.Call)]
    acted = any(
        _ACTOR.search(name) for one in given for name in (follow.base(one.func), *tree.dotted(one.func).split("."))
    )
    return f"`{source.code(term)}`" if acted and _is_regressed(source, term) else ""


def _made(source: Source, node: ast.expr) -> ast.expr:
    """The expression behind a name, also `pi.sample(s)` behind `a` of `a, logp = pi.sample(s)`."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    value = bound[0].value if len(bound) == 1 and bound[0].how == "assign" else None
    return value if value is not None and bound[0].path else follow.followed(source, node)


def _is_net(source: Source, call: ast.Call) -> bool:
    return values.maybe(source, call.func, "module") or not values.kind(source, call.func)


def _is_regressed(source: Source, call: ast.Call) -> bool:
    critic = identity.identity(source, call.func)
    given = [one.input for one in losses.loss_calls(source, *_REGRESSION) if one.input is not None]
    calls = [one for value in given for one in terms.reached(source, value)]
    return critic is not None and any(identity.identity(source, one.func) == critic for one in calls)

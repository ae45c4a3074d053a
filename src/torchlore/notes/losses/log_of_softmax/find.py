"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, edits, flow, follow, scopes, tree, values
from torchlore.check.activation import unactivated
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_BETTER = {"torch.softmax": "torch.log_softmax", "torch.nn.functional.softmax": "{}.log_softmax",
           "torch.sigmoid": "torch.nn.functional.logsigmoid", "torch.nn.functional.sigmoid": "{}.logsigmoid"}  # fmt: skip
_DRAWS = regex(
    r"(?:^|_)(?:generate|sample|sampling|search|greedy|beam)(?:_|$)|decode_to_pred"
)  # of what was drawn or is best
_ACTION = regex(r"(?:^|_)acts?(?:ions?)?(?:_|$)|^a$")  # a policy drew it
_WARM = regex(r"(^|[._])(temperature|temp|tau|T)$")
_SAME_NUMBERS = {
    "gather",
    "squeeze",
    "unsqueeze",
    "view",
    "reshape",
    "flatten",
    "detach",
    "contiguous",
    "permute",
    "transpose",
}
_PICKS = ("torch.gather", "torch.squeeze", "torch.reshape", "torch.flatten")
WORDS = ("log",)


def find(source: Source) -> Iterator[Hit]:
    for call in (*source.calls("torch.log"), *source.methods("log")):
        plain = source.name(call.func) == "torch.log"
        inner = call.args[0] if plain and call.args else None if plain or call.args else tree.receiver(call)
        given = values.state(source, inner) if inner is not None and not unactivated(source, inner) else None
        if inner is None or given is None or given.state not in ("probs", "sigmoid") or _guarded(source, inner):
            continue
        if tree.is_statement(source, call) or follow.in_test(source, call):
            continue  # a cell of a notebook that shows it, a test that compares
        if isinstance(inner, ast.Name) and follow.written_into(source, inner):
            continue  # `probs[:, k] *= 2` in between: no softmax any more
        if isinstance(given.node, ast.Call) and "gumbel" in tree.dotted(given.node.func):
            continue  # drawn, there is no logarithm of it to ask for
        inside = (
            follow.followed(source, given.node.args[0])
            if isinstance(given.node, ast.Call) and given.node.args
            else None
        )
        if isinstance(inside, ast.Call) and source.name(inside.func) in ("torch.arange", "torch.linspace"):
            continue  # a table of known numbers
        clamped = (tree.receiver(one) for one in source.methods("clamp_", "clip_") if one.lineno < call.lineno)
        if any(tree.dotted(one).removesuffix(".data") == (tree.dotted(inner) or "?") for one in clamped):
            continue
        first, better = ("softmax", "log_softmax") if given.state == "probs" else ("sigmoid", "logsigmoid")
        message = f"the logarithm of a {first} is -inf for a score far below the best: write `F.{better}`"
        fixed = _fixed(source, inner)
        home = tree.function(source, call)
        lesson = home is None and all(tree.function(source, one) is not None for one in source.methods("backward"))
        quiet = (
            lesson
            or (home is not None and (_DRAWS.search(home.name) or "beam_" in source.code(home)))
            or _bounded(source, inner)
            or _drawn(source, inner)
        )
        fix = [edits.replace(source, call, fixed)] if fixed else []
        yield source.hit(call, message, *fix, severity="hint" if quiet else None)


def _drawn(source: Source, inner: ast.expr) -> bool:
    """`probs[torch.multinomial(probs, 1)]`, `policy(x).gather(1, actions)`: what was drawn has a probability above 0."""
    index = inner.slice if isinstance(inner, ast.Subscript) else None
    bound = scopes.reaching(source, inner) if isinstance(inner, ast.Name) else []
    made = bound[0].value if len(bound) == 1 and bound[0].path else None
    if isinstance(made, ast.Call) and _DRAWS.search(tree.dotted(made.func).rpartition(".")[2]):
        return True  # `action, p = sample_action(policy, x)`
    inner = follow.followed(source, inner)
    if follow.method(inner) == "gather" and isinstance(inner, ast.Call) and (inner.args or inner.keywords):
        index = tree.argument(inner, len(inner.args) - 1, "index")
        if index is not None and _ACTION.search(follow.base(index)):
            return True
    made = follow.followed(source, index) if index is not None else None
    while isinstance(made, ast.Call) and follow.method(made) in ("item", "squeeze", "unsqueeze", "view"):
        made = follow.followed(source, tree.receiver(made))
    return isinstance(made, ast.Call) and follow.method(made) in ("multinomial", "sample")


def _bounded(source: Source, inner: ast.expr) -> bool:
    """Scores that cannot lie far apart: normalised, or cosines over a temperature."""
    applied = follow.followed(source, inner)
    if not isinstance(applied, ast.Call):
        return False
    gap = applied.args[0] if applied.args else tree.receiver(applied) if follow.method(applied) else None
    if isinstance(gap, ast.BinOp) and isinstance(gap.op, ast.Div):
        return _WARM.search(tree.dotted(gap.right)) is not None
    parts = [one for one in ast.walk(gap) if isinstance(one, ast.Name)] if gap is not None else []
    made = [part for one in parts for part in scopes.reaching(source, one)[:1]]
    return any(isinstance(one.value, ast.Call) and _scaled(source, one.value) for one in made)


def _scaled(source: Source, call: ast.Call) -> bool:
    """`normalize(x)`, `cosine_similarity(x, y)`, or parts of it: `a, b = torch.split(normalize(x), 1)`."""
    names = {source.name(call.func).rpartition(".")[2], tree.dotted(call.func).rpartition(".")[2]}
    if (
        "normalize" in names
        or "cosine_similarity" in names
        or values.made_by(source, call.func, "torch.nn.CosineSimilarity")
    ):
        return True
    first = follow.followed(source, call.args[0]) if "split" in names and call.args else None
    return isinstance(first, ast.Call) and tree.dotted(first.func).rpartition(".")[2] == "normalize"


def _guarded(source: Source, node: ast.expr, hops: int = 4) -> bool:
    """`p.clamp(min=eps)` and `torch.clamp(p, eps)` never reach zero, nor does a name for one, nor what is picked from one."""
    node = follow.followed(source, node)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        picked = isinstance(node, ast.Subscript) and hops > 0
        return picked and isinstance(node, ast.Subscript) and _guarded(source, node.value, hops - 1)
    if node.func.attr.startswith(("clamp", "clip")):
        return True
    inside = flow.called(source, node) if hops else None
    if inside is not None and (back := calls.returned(inside)):
        return all(_guarded(inside.source, one, hops - 1) for one in back)
    inner = node.args[0] if source.name(node.func) in _PICKS and node.args else tree.receiver(node)
    return node.func.attr in _SAME_NUMBERS and hops > 0 and _guarded(source, inner, hops - 1)


def _fixed(source: Source, inner: ast.expr) -> str:
    """`F.log_softmax(x, dim=1)` for `F.softmax(x, dim=1)`; "" where it is another expression."""
    name = source.name(inner.func) if isinstance(inner, ast.Call) else ""
    if name not in _BETTER or not isinstance(inner, ast.Call):
        return ""
    home = source.code(inner.func).rpartition(".")[0]
    arguments = source.code(inner)[len(source.code(inner.func)) :]
    return _BETTER[name].format(home) + arguments if home else ""

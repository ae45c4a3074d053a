"""The rule of bce-on-logits."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, losses, tree, values
from torchlore.check.origin import origin
from torchlore.check.source import Hit, Source

_SAME = ("view", "squeeze", "reshape", "flatten", "float", "unsqueeze")
WORDS = (losses.SAID,)


def find(source: Source) -> Iterator[Hit]:
    for loss in losses.loss_calls(source, "BCELoss", "binary_cross_entropy"):
        given = values.state(source, loss.input) if loss.input is not None else None
        if loss.input is not None and given is not None and given.state == "logits":
            better = "BCEWithLogitsLoss" if loss.made is not None else "binary_cross_entropy_with_logits"
            message = f"`{source.code(loss.input)}` is a raw output and no probability: use {better}"
            yield source.hit(loss.call, message)
        elif loss.input is not None and (cut := _clamped(source, loss.input)) is not None:
            told = "a raw output cut to [0, 1] has no gradient outside it and is no probability: apply a sigmoid"
            yield source.hit(cut, told)


def _clamped(source: Source, given: ast.expr) -> ast.expr | None:
    """`clamp(fc(x), 0, 1)` of this file: what a layer gives, cut to what looks like a probability."""
    home, made = origin(source, given)
    while isinstance(made, ast.Call) and follow.method(made) in _SAME:
        home, made = origin(home, tree.receiver(made))
    if (
        home is not source
        or not isinstance(made, ast.Call)
        or follow.method(made) not in ("clamp", "clip", "clamp_", "hardtanh")
    ):
        return None
    plain = source.name(made.func).startswith("torch")
    inner = made.args[0] if plain and made.args else tree.receiver(made)
    bounds = [tree.literal(one) for one in made.args[1 if plain else 0 :]]
    bounds += [tree.literal(one.value) for one in made.keywords]
    numbers = [one for one in bounds if isinstance(one, int | float)]
    raw = values.state(source, inner) if len(numbers) == 2 and min(numbers) >= 0 and max(numbers) <= 1 else None
    return made if raw is not None and raw.state == "logits" and _is_deep(source, inner) else None


def _is_deep(source: Source, inner: ast.expr) -> bool:
    """Whether the layer stands behind an activation: alone it may mix what are probabilities already."""
    call = follow.followed(source, inner)
    given = values.state(source, call.args[0]) if isinstance(call, ast.Call) and len(call.args) == 1 else None
    nets = source.values(call.func) if isinstance(call, ast.Call) else ()
    many = any(one.kind == "sequential" and len(one.items) > 2 for one in nets)
    return many or (given is not None and given.state not in ("", "logits", "probs", "sigmoid"))

"""The rule of ema-decay-swapped."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import averages, follow, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_MEASURES = ("mean", "std", "var", "sum", "sqrt", "norm", "median", "max", "min", "quantile", "amax")
_AVERAGE = regex(r"ema|shadow|averag|avg|teacher|target|slow|moving|running|momentum|key_enc|_k\b", re.IGNORECASE)
WORDS = ("zip|*ema*|*shadow*|*averag*|*avg*|*teacher*|*target*|*slow*|*moving*|*running*|*momentum*|*key_enc*|*_k*",)


def find(source: Source) -> Iterator[Hit]:
    told: set[int] = set()
    moved = list(averages.averages(source)) if "zip(" in source.text else []
    yield from _overwritten(source, moved) if moved and "load_state_dict" in source.text else ()
    for one in moved:
        share = averages.number(source, one.takes) if one.takes is not None else None
        if share is not None and 0.9 <= share < 1:
            told.add(one.update.lineno)
            yield source.hit(one.update, _swapped(source, share, one.average))
    kept = _kept_decay(source) if "self.decay" in source.text or "_decay" in source.text else ()
    others = [*_mixed(source, told), *_driven_away(source), *_other_way(source), *kept]
    shared = others and any(
        word in source.text for word in ("1 -", "1. -", "1.0 -", "1-", "0.99", "sub_", "add_", "lerp_")
    )
    yield from others if shared else ()


def _mixed(source: Source, told: set[int]) -> Iterator[Hit]:
    """`ema = 0.01 * ema + 0.99 * weight`, also by `mul_` and `add_`."""
    for mix in averages.mixes(source):
        named = _AVERAGE.search(f"{source.code(mix.update)} {_around(source, mix.update)}")
        share = averages.number(source, mix.takes) if named and mix.update.lineno not in told else None
        if share is not None and 0.9 <= share < 1 and not _of_this_turn(source, mix) and not _looks_ahead(source, mix):
            yield source.hit(mix.update, _swapped(source, share, mix.average))


def _looks_ahead(source: Source, mix: averages.Mix) -> bool:
    """Nesterov's `grad.lerp_(buffer, momentum)`: what is moved is the gradient, towards the average."""
    call = mix.update.value if isinstance(mix.update, ast.Expr) else None
    new = source.code(call.args[0]) if isinstance(call, ast.Call) and follow.method(call) == "lerp_" else ""
    return bool(new) and (_AVERAGE.search(new) is not None or "buf" in new or "grad" in source.code(mix.average))


def _of_this_turn(source: Source, mix: averages.Mix) -> bool:
    """`mu = batch.mean(0)` above `mu = 0.95 * old_mu + 0.05 * mu`: the name is the new part here, and the other one the average."""
    own = [one for one in ast.walk(mix.update) if isinstance(one, ast.Name) and one.id == tree.dotted(mix.average)]
    reads = [one for one in own if isinstance(one.ctx, ast.Load)]
    bound = [one for name in reads for one in scopes.reaching(source, name)]
    return bool(bound) and all(
        one.how == "assign"
        and tree.loops(source, one.statement) == tree.loops(source, mix.update)
        and isinstance(one.value, ast.Call)
        and follow.word(source, one.value) in _MEASURES
        for one in bound
    )


def _overwritten(source: Source, moved: list[averages.Average]) -> Iterator[Hit]:
    """An average that is moved a little, and in the same function gets the net's weights as they are."""
    for one in moved:
        if not re.search(r"\*|lerp|add_|mul_", source.code(one.update)):
            continue  # a copy: nothing is averaged
        home = tree.function(source, one.loop)
        for load in source.methods("load_state_dict"):
            given = load.args[0] if load.args else None
            state = given if isinstance(given, ast.Call) and follow.method(given) == "state_dict" else None
            here = tree.function(source, load) is home and tree.loops(source, load) == tree.loops(source, one.loop)
            if state is None or not here or tree.conditions(source, load) != tree.conditions(source, one.loop):
                continue
            same = source.code(tree.receiver(load)) == source.code(one.average)
            if same and home is not None and source.code(tree.receiver(state)) == source.code(one.model):
                code = source.code(one.average)
                yield source.hit(
                    load,
                    f"this puts the newest weights into `{code}`, and the average of line {one.update.lineno} is gone: copy the buffers alone",
                )


def _swapped(source: Source, share: float, average: ast.expr) -> str:
    code = source.code(average)
    return f"this takes {share:g} of the newest weights, so `{code}` averages nothing: swap the two shares"


def _around(source: Source, node: ast.AST) -> str:
    """The names of the function and the class around it, and the nets whose weights the loops there walk over."""
    home, owner = tree.function(source, node), tree.class_of(source, node)
    loops = [source.code(one.iter) for one in tree.loops(source, node) if isinstance(one, ast.For)]
    walked = " ".join(one for one in loops if any(word in one for word in ("parameters", "state_dict", "buffers")))
    return f"{home.name if home else ''} {owner.name if owner else ''} {walked}"


def _driven_away(source: Source) -> Iterator[Hit]:
    """`s.add_((s - p) * share)` in a loop over pairs of weights."""
    for call in source.methods("add_"):
        over = next((one.iter for one in tree.loops(source, call)[:1] if isinstance(one, ast.For)), None)
        if over is None or "zip" not in source.code(over) or len(call.args) != 1 or not tree.is_statement(source, call):
            continue
        gap = _gap(source, call.args[0])
        average = tree.receiver(call)
        if gap is None or ast.unparse(gap.left) != ast.unparse(average):
            continue
        if _AVERAGE.search(f"{source.code(call)} {source.code(over)} {_around(source, call)}"):
            code = source.code(average)
            yield source.hit(
                call, f"this adds `{source.code(gap)}`, which drives `{code}` away from the weights: use `sub_`"
            )


def _gap(source: Source, node: ast.expr) -> ast.BinOp | None:
    """The difference in `gap * share`, `share * (s - p)` or `(s - p)`, where nothing turns its sign."""
    parts = [node]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        parts = [node.left, node.right]
    if any(isinstance(part, ast.UnaryOp) or "-" in str(tree.literal(part)) for part in parts):
        return None
    found = [follow.followed(source, part) for part in parts]
    gaps = [one for one in found if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub)]
    apart = [one for one in gaps if tree.literal(one.left) != 1]
    return apart[0] if len(apart) == 1 else None


def _other_way(source: Source) -> Iterator[Hit]:
    """`slow` follows `online` in its parameters, and `online` follows `slow` in its buffers."""
    if "buffers()" not in source.text or "zip(" not in source.text:
        return
    moved = [(one, source.code(one.average), source.code(one.model)) for one in averages.averages(source)]
    for one in averages.averages(source, ("buffers", "named_buffers")):
        taken, given = source.code(one.average), source.code(one.model)
        home = tree.function(source, one.loop)
        pairs = [(a, m) for way, a, m in moved if tree.function(source, way.loop) is home]
        if (given, taken) in pairs and (taken, given) not in pairs:
            told = f"`{given}` follows `{taken}` in its weights, and here `{taken}` gets the buffers of `{given}`: turn it round"
            yield source.hit(one.update, told)
            return


def _kept_decay(source: Source) -> Iterator[Hit]:
    """`self.decay = min(self.decay, ramp)` in the update: what was asked for is lost after the first step."""
    for assign in uses.assigns(source, ast.Attribute):
        name = tree.dotted(assign.targets[0])
        home = tree.function(source, assign)
        if not name.startswith("self.") or "decay" not in name or home is None or home.name == "__init__":
            continue
        for call in tree.under(source, assign.value, ast.Call):
            ends = source.name(call.func) in ("min", "max") and len(call.args) == 2
            counts = [one for one in call.args if tree.dotted(one) != name]
            steps = len(counts) == 1 and isinstance(follow.followed(source, counts[0]), ast.BinOp)
            if ends and steps and _AVERAGE.search(f"{source.code(home)} {_around(source, assign)}"):
                told = f"`{name}` is overwritten by its own warm-up, and the next step starts from that: keep it in a local name"
                yield source.hit(assign, told)
                break

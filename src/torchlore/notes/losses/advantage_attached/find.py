"""The rule of advantage-attached."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, follow, losses, project, scopes, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_LOG_PROB = regex(r"log_?p(rob|i)?s?(_|$|\d)|^ratios?$", re.IGNORECASE)
_REGRESSION = ("MSELoss", "mse_loss", "SmoothL1Loss", "smooth_l1_loss", "HuberLoss", "huber_loss")
WORDS = ("backward",)


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")) or not any(word in source.text for word in ("logp", "log_p", "ratio")):
        return
    if not any(source.methods("log_prob")) and not any(map(_LOG_PROB.search, uses.identifiers(source))):
        return
    seen: set[ast.AST] = set()
    later = {tree.receiver(call): _next_pass(source, call) for call in source.methods("backward")}
    totals = [*later]
    totals += [one.value for one in source.all(ast.Return) if isinstance(one.value, ast.BinOp | ast.Name)]
    totals += list(_added_by_callers(source))
    for total in totals:
        parts = _inside(source, total)
        products = [one for one in parts if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult)]
        whole = [*parts, *(part for one in later.get(total, ()) for part in _inside(source, one))] if products else []
        fitted = {name for node in whole for name in _fitted(source, node)}
        for product in products if fitted else ():
            for weight, other in ((product.left, product.right), (product.right, product.left)):
                taken = _difference(source, weight)
                value = taken.right if taken is not None else None
                if taken is None or not isinstance(value, ast.Name) or value.id not in fitted or taken in seen:
                    continue
                if _is_log_prob(source, other) and values.attached(source, value) is not False:
                    seen.add(taken)
                    name = _bare(weight)
                    both = isinstance(name, ast.Name) and _fits_itself(source, name, parts)
                    place, cut = (weight, source.code(weight)) if both else (taken, value.id)
                    told = f"the policy's loss moves the critic through `{source.code(taken)}`: write `{cut}.detach()`"
                    yield source.hit(place, told)


def _next_pass(source: Source, call: ast.Call) -> list[ast.expr]:
    """The losses differentiated behind this one before anything is zeroed: one step takes the gradients of all of them."""
    held = tree.statement(source, call)
    block: list[ast.stmt] = getattr(source.parents[held], "body", [])
    found: list[ast.expr] = []
    for one in block[block.index(held) + 1 :] if held in block else ():
        made = one.value if isinstance(one, ast.Expr) else None
        if follow.method(made) == "zero_grad" if made is not None else False:
            return []
        if isinstance(made, ast.Call) and follow.method(made) == "backward":
            found.append(tree.receiver(made))
    return found


def _added_by_callers(source: Source) -> Iterator[ast.expr]:
    """`return actor, critic` of a function whose caller takes both into the loss it differentiates."""
    passes = [tree.receiver(call) for call in source.methods("backward")]
    for back in (one for one in source.all(ast.Return) if isinstance(one.value, ast.Tuple)):
        home = tree.function(source, back)
        for other, call, _ in calls.callers(project.as_function(source, home)) if home is not None else ():
            held = other.parents.get(call)
            target = held.targets[0] if isinstance(held, ast.Assign) and other is source else None
            names = {one.id for one in getattr(target, "elts", ()) if isinstance(one, ast.Name)}
            for loss in passes if len(names) > 1 else ():
                same = tree.function(source, loss) is tree.function(source, call)
                met = {one.id for one in _inside(source, loss) if isinstance(one, ast.Name)} if same else set()
                if len(met & names) > 1 and back.value is not None:
                    yield back.value


def _fits_itself(source: Source, weight: ast.Name, parts: list[ast.AST]) -> bool:
    """Whether the square of the same difference is what the critic learns from: that one keeps its graph."""
    squares = [one for one in (_squared(source, part) for part in parts) if isinstance(one, ast.Name)]
    return any(one.id == weight.id for one in squares)


def _inside(source: Source, node: ast.expr) -> list[ast.AST]:
    """Everything a loss is made of in this function: through names, without what is detached."""
    found: list[ast.AST] = []
    todo: list[ast.AST] = [node]
    names: set[ast.AST] = set()
    while todo and len(found) < 400:
        one = todo.pop()
        found.append(one)
        if isinstance(one, ast.Name):
            bound = (b for b in scopes.reaching(source, one) if b.how in ("assign", "aug") and not b.path and b.value)
            new = [b for b in bound if b.node not in names]
            names |= {b.node for b in new}
            todo += [b.value for b in new if b.value is not None]
        elif not (isinstance(one, ast.Call) and follow.method(one) in ("detach", "item")):
            todo += list(ast.iter_child_nodes(one))
    return found


def _fitted(source: Source, node: ast.AST) -> Iterator[str]:
    """The values that a regression in the same loss fits to the returns."""
    if isinstance(node, ast.Call):
        known = next((one for one in losses.loss_calls(source, *_REGRESSION) if one.call is node), None)
        for given in (known.input, known.target) if known is not None else ():
            base = given
            while isinstance(base, ast.Call) and follow.method(base) in ("squeeze", "view", "reshape", "flatten"):
                base = tree.receiver(base)
            if isinstance(base, ast.Name):
                yield base.id
    squared = _squared(source, node)
    taken = _difference(source, squared) if squared is not None else None
    for side in (taken.left, taken.right) if taken is not None else ():
        if isinstance(side, ast.Name) and values.attached(source, side) is not False:
            yield side.id


def _squared(source: Source, node: ast.AST) -> ast.expr | None:
    """What `x ** 2`, `x.pow(2)` or `torch.square(x)` is the square of."""
    if isinstance(node, ast.BinOp):
        return node.left if isinstance(node.op, ast.Pow) and tree.literal(node.right) == 2 else None
    if not isinstance(node, ast.Call):
        return None
    full, given = source.name(node.func), node.args
    if full in ("torch.pow", "torch.square") and given:
        return given[0] if full == "torch.square" or (len(given) > 1 and tree.literal(given[1]) == 2) else None
    own = follow.method(node) == "square" or (follow.method(node) == "pow" and given and tree.literal(given[0]) == 2)
    return tree.receiver(node) if own and not full else None


def _bare(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Call) and follow.method(node) in ("squeeze", "view", "reshape", "flatten", "unsqueeze"):
        node = tree.receiver(node)
    return node


def _difference(source: Source, node: ast.expr) -> ast.BinOp | None:
    """`returns - values`, as it stands or behind a name."""
    whole = follow.followed(source, _bare(node))
    return whole if isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Sub) else None


def _is_log_prob(source: Source, node: ast.expr) -> bool:
    """A log-probability, or the ratio of two."""
    whole = [node, follow.followed(source, node)]
    inner = [part for one in whole for part in ast.walk(one)]
    named = any(isinstance(one, ast.Name) and _LOG_PROB.search(one.id) for one in inner)
    return named or any(isinstance(one, ast.Call) and follow.method(one) == "log_prob" for one in inner)

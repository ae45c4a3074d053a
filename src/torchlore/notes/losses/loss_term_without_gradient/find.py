"""The rule of loss-term-without-gradient."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlore.check import api, calls, follow, losses, scopes, terms, tree, values
from torchlore.check.origin import behind
from torchlore.check.pattern import regex
from torchlore.check.project import Function
from torchlore.check.source import Hit, Source
from torchlore.check.tensors import no_grad_around

_CUTS = {"item", "detach", "numpy", "tolist", "argmax", "argmin"}
_NEW = ("torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor")
_SETTING = regex(r"^(self\.)?(args?|opts?|cfg|config|conf|hparams|hps?|flags)(\.\w+)+$", re.IGNORECASE)
_TARGET = regex(r"(^|_)(gt|y|true|targets?|labels?|masks?|truth)(_|$)", re.IGNORECASE)
_GOAL = regex(r"(^|_|\.)(t|teacher|targets?|tgt|goal|expected|td|y)(_|$|\d)")
_TWIN = regex(r"quant|z_?q|code|emb_?q")
_DISTANCES = ("MSELoss", "mse_loss", "SmoothL1Loss", "smooth_l1_loss", "HuberLoss", "huber_loss", "L1Loss", "l1_loss")
Part = tuple[Source, ast.expr]
WORDS = ("backward",)


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    yield from _wrong_side(source)
    seen: set[ast.AST] = set()
    for call in source.methods("backward"):
        for parts in _sums(source, tree.receiver(call)):
            fixed = [node for home, node in parts if _constant(home, node)]
            alive = any(_may_learn(home, node) for home, node in parts if node not in fixed)
            for home, node in parts if alive else ():
                cut = _hardened(home, node) if node in fixed and home is source else None
                cut = cut or (
                    _cut(home, node) or _teacher_only(home, node) if node in fixed and home is source else None
                )
                if cut is None or cut in seen or _trick(source, cut):
                    continue
                seen.add(cut)
                yield source.hit(cut, _told(source, cut, node))


def _wrong_side(source: Source) -> Iterator[Hit]:
    """`mse_loss(value.detach(), target)`: what is to learn is cut, and the target is not."""
    for loss in losses.loss_calls(source, *_DISTANCES) if any(source.methods("detach")) else ():
        made, goal = loss.input, loss.target
        if not isinstance(made, ast.Call) or follow.method(made) != "detach" or goal is None:
            continue
        named = _GOAL.search(follow.base(goal)) is not None and _GOAL.search(follow.base(made)) is None
        both = follow.method(goal) == "detach" or _TWIN.search(follow.base(tree.receiver(made)))
        run = follow.followed(source, tree.receiver(made))
        learns = isinstance(run, ast.Call) and values.sure(source, run.func, "module", weak=True)
        if named and learns and not both and not _also_attached(source, loss.call, made):
            told = f"`{source.code(made)}` learns nothing from this, and it is what should follow `{source.code(goal)}`: detach that one"
            yield source.hit(made, told, severity="warning")


def _also_attached(source: Source, call: ast.Call, made: ast.Call) -> bool:
    """Whether the same two are compared the other way round as well: each is pulled by its own weight."""
    inner = ast.unparse(tree.receiver(made))
    home = tree.function(source, call)
    near = (one for one in losses.loss_calls(source, *_DISTANCES) if tree.function(source, one.call) is home)
    others = (one for one in near if one.call is not call)
    sides = (side for one in others for side in (one.input, one.target) if side is not None)
    return any(ast.unparse(side) == inner for side in sides)


def _told(source: Source, cut: ast.AST, node: ast.expr) -> str:
    code, by = source.code(node), source.code(cut) if isinstance(cut, ast.expr) else "no_grad"
    if isinstance(cut, ast.Assign):
        return f"`{source.code(cut.targets[0])}` was made under no_grad, so `{code}` is a constant in the loss: no weight learns from it"
    what = f"`{code}`" if len(code) < 60 else "this summand"
    how = "" if code == by else f", cut from its graph by `{by}`" if len(by) < 60 else ", cut from its graph here"
    return f"{what} is a constant in the loss{how}: no weight learns from it"


def _sums(source: Source, loss: ast.expr, hops: int = 4) -> Iterator[list[Part]]:
    """The sums a loss is made of: its own summands, and those of the project's functions that give a summand."""
    own = [(source, node) for node, _ in terms.terms(source, loss)]
    if len(own) > 1:
        yield own
    for _, node in own if hops else ():
        if isinstance(node, ast.Name):
            for home, part in _unpacked(source, node):
                yield from _sums(home, part, hops - 1)
        for call in _calls(node):
            inner = behind(source, call)
            for given in calls.returned(inner) if inner is not None else ():
                yield from _sums(inner.source, given, hops - 1) if inner is not None else ()


def _unpacked(source: Source, name: ast.Name) -> Iterator[Part]:
    """What the project's function returns at the place where `loss, parts = f(x)` takes the name from."""
    for one in scopes.reaching(source, name):
        inner = behind(source, one.value) if isinstance(one.value, ast.Call) and len(one.path) == 1 else None
        for given in calls.returned(inner) if inner is not None else ():
            index = one.path[0]
            if isinstance(given, ast.Tuple) and isinstance(index, int) and index < len(given.elts):
                yield (inner.source if inner is not None else source), given.elts[index]


def _calls(node: ast.expr) -> Iterator[ast.Call]:
    """The calls that a product is made of."""
    if isinstance(node, ast.Call):
        yield node
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        yield from (*_calls(node.left), *_calls(node.right))


def _may_learn(source: Source, node: ast.expr) -> bool:
    """A summand with a graph, or a computation of which nothing is known."""
    alive = values.attached(source, node)
    return alive is True or (alive is None and isinstance(node, ast.Call | ast.BinOp))


def _constant(source: Source, node: ast.expr) -> bool:
    """Whether a summand surely has no graph: a tensor without one, or the number of one."""
    if isinstance(node, ast.Name) and _sum_so_far(source, node):
        return False
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if _SETTING.search(source.code(one)):
                return _constant(source, other)
    if isinstance(node, ast.Call) and any(_holds_graph(source, one) for one in node.args) and _shut(source, node):
        return True
    if _hardened(source, node) is not None:
        return True
    found = values.values(source, node)
    numbers = bool(found) and all(value.kind == "number" for value in found)
    return numbers or (
        bool(found)
        and all(value.kind == "tensor" and (value.attached is False or value.name in _NEW) for value in found)
    )


def _hardened(source: Source, node: ast.expr, hops: int = 4) -> ast.AST | None:
    """Where a function of the file makes zeros and ones of the prediction a summand hands it, before it does anything else."""
    if isinstance(node, ast.Name):
        value = follow.binding(source, node) if hops else None
        return _hardened(source, value, hops - 1) if value is not None else None
    if isinstance(node, ast.BinOp):
        sides = [one for one in (node.left, node.right) if not isinstance(one, ast.Constant | ast.Attribute)]
        return _hardened(source, sides[0], hops) if len(sides) == 1 else None
    inner = behind(source, node) if isinstance(node, ast.Call) and len(node.args) == 2 else None
    taken = tree.parameters(inner.node)[1 if inner.owner is not None else 0 :] if inner is not None else []
    if inner is None or inner.source is not source or len(taken) != 2 or not _TARGET.search(taken[1].arg):
        return None
    name = taken[0].arg
    for one in inner.node.body:
        made = one.value if isinstance(one, ast.Assign) and tree.dotted(one.targets[0]) == name else None
        if made is not None and _is_hard(made, name):
            return made
        used = any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(one))
        if used and (made is None or values.attached(source, made) is False):
            return None  # it is used as it came
    return None


def _is_hard(made: ast.expr, name: str) -> bool:
    """`(p > 0.5).float()`, `torch.round(p)`."""
    inner = (
        tree.receiver(made)
        if isinstance(made, ast.Call) and follow.method(made) in ("float", "long", "int", "to")
        else made
    )
    read = any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(made))
    return read and isinstance(inner, ast.Compare)


def _sum_so_far(source: Source, name: ast.Name) -> bool:
    """`total` of `total = total + loss` in a loop: what earlier turns added has its graph."""
    bound = [one for one in scopes.reaching(source, name) if one.value is not None]
    added = (one.value for one in bound if one.how == "aug")
    return any(tree.inside(source, name, one.statement) for one in bound) or any(
        not _constant(source, one) for one in added if one is not None
    )


def _cut(source: Source, node: ast.AST, hops: int = 8, alive: frozenset[str] = frozenset()) -> ast.AST | None:
    """Where what a summand is made of loses its graph, in this file; None where it never had one (`alive`: parameters with one)."""
    if hops == 0:
        return None
    if isinstance(node, ast.Name):
        known: dict[ast.AST, ast.AST | None] = source.memo.setdefault(
            "loss_term.cut", {}
        )  # names that go round in circles
        if node not in known:
            known[node] = None
            bound = [scopes.part(one) for one in scopes.reaching(source, node) if one.how in ("assign", "aug")]
            bound += [part for home, part in _unpacked(source, node) if home is source]
            cuts = (_cut(source, value, hops - 1, alive) for value in bound if value is not None)
            known[node] = _made_quietly(source, node) or next((cut for cut in cuts if cut is not None), None)
        return known[node]
    if isinstance(node, ast.Attribute) and node.attr == "data" and _has_graph(source, node.value, alive):
        return node
    if isinstance(node, ast.Compare) and _has_graph(source, node.left):
        return node  # `sigmoid(logits) > 0.5` counts
    if isinstance(node, ast.Call):
        cut = _at_call(source, node, hops, alive)
        if cut is not None:
            return cut
    inner = (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr | ast.keyword | ast.comprehension))
    return next((cut for one in inner if (cut := _cut(source, one, hops, alive)) is not None), None)


def _made_quietly(source: Source, name: ast.Name) -> ast.AST | None:
    """The assignment under `no_grad` that gives a name its value, where what it is made of has a graph."""
    bound = scopes.reaching(source, name)
    one = bound[0] if len(bound) == 1 and bound[0].how == "assign" else None
    if one is None or one.value is None or no_grad_around(source, name) or not no_grad_around(source, one.statement):
        return None
    given = [part for part in tree.under(source, one.value, ast.Name) if isinstance(part.ctx, ast.Load)]
    return one.statement if any(_has_graph(source, part) for part in given) else None


def _given_graphs(source: Source, inner: Function, call: ast.Call) -> frozenset[str]:
    """The parameters of the project's function that this call gives a tensor with a graph."""
    skip = 1 if inner.owner is not None else 0
    handed = ((arg.arg, calls.given_argument(inner, call, arg, skip)) for arg in tree.parameters(inner.node)[skip:])
    return frozenset(name for name, one in handed if one is not None and _holds_graph(source, one))


def _at_call(source: Source, call: ast.Call, hops: int, alive: frozenset[str]) -> ast.AST | None:
    full = source.name(call.func)
    given = [one for one in call.args if not isinstance(one, ast.Starred)]
    method = call.func.attr if isinstance(call.func, ast.Attribute) and not full else ""
    counted = full in ("torch.argmax", "torch.argmin") and given and _has_graph(source, given[0])
    if (method in _CUTS and _has_graph(source, tree.receiver(call), alive)) or counted:
        return call
    if full in _NEW and given and (taken := _lost_in_box(source, call, given[0])) is not None:
        return taken
    inner = behind(source, call)
    if inner is None or inner.source is not source:
        return None
    if any(_holds_graph(source, one) for one in given) and (block := _shut(source, call)) is not None:
        return block
    if no_grad_around(source, inner.node.body[0]) and any(_holds_graph(source, one) for one in given):
        return inner.node
    handed = _given_graphs(source, inner, call)
    return next(
        (cut for one in calls.returned(inner) if (cut := _cut(source, one, hops - 1, handed)) is not None), None
    )


def _lost_in_box(source: Source, new: ast.Call, box: ast.expr) -> ast.AST | None:
    """`torch.tensor(losses)` of tensors with a graph; `value.item()` of `values.append(value.item())`, made a tensor again."""
    if _holds_graph(source, box):
        return new
    home = tree.function(source, box)
    for call in source.methods("append") if isinstance(box, ast.Name) else ():
        given = call.args[0] if call.args else None
        same = tree.dotted(tree.receiver(call)) == tree.dotted(box) and tree.function(source, call) is home
        number = isinstance(given, ast.Call) and follow.method(given) in ("item", "detach")
        if same and number and isinstance(given, ast.Call) and _has_graph(source, tree.receiver(given)):
            return given
    return None


def _shut(source: Source, call: ast.Call) -> ast.With | None:
    """The `with no_grad()` in the project's function behind a call, where all it does with what it is given stands in it."""
    inner = behind(source, call)
    if inner is None or "no_grad" not in inner.source.text:
        return None
    home, given = inner.source, {arg.arg for arg in tree.parameters(inner.node)} - {"self"}
    uses = [one for one in tree.under(home, inner.node, ast.Name) if one.id in given and isinstance(one.ctx, ast.Load)]
    blocks = {_block(home, one, inner) for one in uses}
    block = blocks.pop() if len(blocks) == 1 else None
    if block is None:
        return None
    open_calls = [one for one in tree.under(home, inner.node, ast.Call) if not tree.inside(home, one, block)]
    learns = (values.kind(home, one.func) for one in open_calls)
    held = any(api.is_kind(kind, "module") and kind != "loss" for kinds in learns for kind in kinds)
    return None if held else block


def _block(source: Source, node: ast.AST, inner: Function) -> ast.With | None:
    for up in tree.ancestors(source, node):
        if up is inner.node:
            break
        if isinstance(up, ast.With) and any(_no_grad(source, item.context_expr) for item in up.items):
            return up
    return None


def _no_grad(source: Source, context: ast.expr) -> bool:
    name = source.name(context.func) if isinstance(context, ast.Call) else ""
    return name in ("torch.no_grad", "torch.inference_mode")


def _teacher_only(source: Source, node: ast.expr, hops: int = 4) -> ast.AST | None:
    """The prediction of a loss both sides of which were made under `no_grad`: the wrong name was written."""
    if isinstance(node, ast.Name):
        value = follow.binding(source, node) if hops else None
        return _teacher_only(source, value, hops - 1) if value is not None else None
    if isinstance(node, ast.BinOp):
        return _teacher_only(source, node.left, hops) or _teacher_only(source, node.right, hops)
    if (
        not isinstance(node, ast.Call)
        or len(node.args) < 2
        or not any(node is one.call for one in losses.loss_calls(source))
    ):
        return None
    given = node.args[0]
    made = [one.statement for one in scopes.reaching(source, given)] if isinstance(given, ast.Name) else []
    return (made[0] if len(made) == 1 else node) if _under_no_grad(source, given) else None


def _under_no_grad(source: Source, node: ast.expr, hops: int = 4) -> bool:
    """Whether a name that an expression is made of gets its value under `no_grad`."""
    for one in tree.under(source, node, ast.Name) if hops else ():
        bound = [
            binding for binding in scopes.reaching(source, one) if binding.how == "assign" and binding.value is not None
        ]
        if any(
            no_grad_around(source, one.statement) or _under_no_grad(source, one.value, hops - 1)
            for one in bound
            if one.value
        ):
            return True
    return False


def _has_graph(source: Source, node: ast.expr, alive: frozenset[str] = frozenset()) -> bool:
    """A graph surely hangs on it; `penalty-on-data` speaks of parameters."""
    known = values.attached(source, node)
    if known is None and alive:
        names = (one for one in tree.under(source, node, ast.Name) if one.id in alive)
        return any(bound.how == "parameter" for one in names for bound in scopes.reaching(source, one))
    if known is None and (made := values.state(source, node)) is not None and made.state == "loss":
        return True  # of what some net gives
    return known is True and not values.maybe(source, node, "parameter")


def _holds_graph(source: Source, node: ast.expr) -> bool:
    """Whether a tensor, or the tensors of a list, have a graph."""
    for value in values.values(source, node):
        inner = [one for group in value.items for one in group] if value.kind in ("list", "tuple") else [value]
        if inner and all(one.attached or (one.attached is None and one.state == "loss") for one in inner):
            return True
    return False


def _trick(source: Source, cut: ast.AST) -> bool:
    """`x - x.detach() + value` in the same function: the value of one and the gradient of another, on purpose."""
    home = tree.function(source, cut) or tree.statement(source, cut)
    taken = (one.right for one in ast.walk(home) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub))
    return any(
        follow.method(one) == "detach" or (isinstance(one, ast.Attribute) and one.attr == "data") for one in taken
    )

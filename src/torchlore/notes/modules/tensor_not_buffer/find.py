"""The static rule of tensor-not-buffer."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, edits, flow, follow, tree, uses, values
from torchlore.check.classes import Attribute
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

_MADE = {f"torch.{name}" for name in ("zeros", "ones", "rand", "randn", "arange", "linspace", "eye", "full", "tensor",
         "FloatTensor", "Tensor", "from_numpy", "empty", "logspace", "tril", "triu", "LongTensor", "as_tensor",
         "randperm", "randint")}  # fmt: skip
_RANDOM = {"torch.rand", "torch.randn", "torch.randperm", "torch.randint"}
_ROWS = {"torch.linspace", "torch.arange", "torch.logspace"}
_MOVES = {"to", "cuda", "type_as", "cpu", "device", "requires_grad_", "new_tensor", "numpy", "item", "tolist"}
_STATISTICS = {
    "mean",
    "std",
    "var",
    "var_mean",
    "std_mean",
    "median",
    "nanmean",
    "quantile",
    "min",
    "max",
    "amin",
    "amax",
}
_ASKS = {"shape", "size", "dim", "numel", "ndim", "dtype"}
WORDS = ("|".join(sorted(name.removeprefix("torch.") for name in _MADE)), "__init__")


def find(source: Source) -> Iterator[Hit]:
    makers = {tree.class_of(source, call) for call in source.calls(*_MADE)} - {None}
    for cls in classes.all_classes(source) if makers else ():
        if cls.node not in makers or not classes.is_module(cls):
            continue
        yield from _in_a_list(source, cls)
        if {"_apply", "to", "cuda"} & set(classes.methods(cls)):
            continue
        for name, found in classes.own_attributes(cls).items():
            one = found[0]
            if len(found) == 1 and one.method == "__init__" and one.how == "assign" and _plain(source, one):
                yield from _hit(source, cls, name, one)
            elif (
                len(found) > 1
                and one.method == "__init__"
                and one.how == "assign"
                and _plain(source, one)
                and (_running(source, name, found) or _fitted(source, cls, name, found[1:]))
            ):
                told = f"`self.{name}` is learned from the data and `state_dict()` does not hold it, so a loaded model starts from nothing: register it as a buffer"
                yield source.hit(one.node, told)
            elif len(found) == 1 and one.method == "__init__" and one.how == "assign" and _drawn(source, one.value):
                yield from _lost(source, cls, name, one)


def _running(source: Source, name: str, found: list[Attribute]) -> bool:
    """`self.mean = 0.9 * self.mean + ...` in a method: a statistic that is carried from call to call, and read in forward."""
    later = [one for one in found[1:] if one.method not in ("__init__", "reset", "reset_parameters")]
    moved = [
        one
        for one in later
        if isinstance(one.value, ast.BinOp) and not one.path and f"self.{name}" in source.code(one.value)
    ]
    reads = [one for one in uses.attributes(source, name) if isinstance(one.ctx, ast.Load)]
    homes = {getattr(tree.function(source, one), "name", "") for one in reads}
    shut = any(isinstance(up := source.parents[one], ast.Attribute) and up.attr in _MOVES for one in reads)
    return bool(moved) and len(moved) == len(later) and "forward" in homes and not shut


def _fitted(source: Source, cls: Class, name: str, later: list[Attribute]) -> bool:
    """`self.mean = x.mean(0)` in `fit(self, x)`, which forward reads and does not call, and nobody takes out to save it."""
    if {"state_dict", "get_extra_state", "_save_to_state_dict", "__getstate__"} & set(classes.methods(cls)):
        return False
    homes = {one.method for one in later}
    asked = {one: source.parents[one] for one in uses.attributes(source, name)}
    every = [one for one, up in asked.items() if not (isinstance(up, ast.Call) and up.func is one)]  # x.mean(0)
    own = all(tree.dotted(one) == f"self.{name}" for one in every)
    mine = (one for one in every if isinstance(one.ctx, ast.Load) and tree.inside(source, one, cls.node))
    reads = {getattr(tree.function(source, one), "name", "") for one in mine}
    forward = classes.methods(cls).get("forward")
    called = forward is not None and any(f"self.{home}(" in source.code(forward) for home in homes)
    fits = all(_statistic(source, one) for one in later) and not homes & {"__init__", "forward"}
    return fits and own and "forward" in reads and not called


def _statistic(source: Source, one: Attribute) -> bool:
    """Whether it is set to a mean, a deviation or a bound of what the method is given."""
    value = one.value.elts[one.path[0]] if isinstance(one.value, ast.Tuple) and one.path else one.value
    home = tree.function(source, one.node)
    given = {arg.arg for arg in tree.parameters(home)} - {"self"} if home is not None else set()
    calls = (node for node in ast.walk(value) if isinstance(node, ast.Call)) if value is not None else ()
    made = (node for node in calls if follow.method(node) in _STATISTICS)
    return one.how == "assign" and any(
        isinstance(part, ast.Name) and part.id in given for node in made for part in ast.walk(node)
    )


def _plain(source: Source, one: Attribute) -> bool:
    value = _scaled(source, one.value)
    shaped = (
        isinstance(value, ast.Call) and len(value.args) > 1 and follow.method(value) in ("view", "reshape", "expand")
    )
    value = tree.receiver(value) if shaped and isinstance(value, ast.Call) else value
    if not isinstance(value, ast.Call) or one.path or source.name(value.func) not in _MADE:
        return False
    moved = {"device", "requires_grad"} & {keyword.arg for keyword in value.keywords}
    full = source.name(value.func)
    listed = bool(value.args) and isinstance(value.args[0], ast.List | ast.Tuple | ast.ListComp)
    scalar = full.lower().endswith("tensor") and not listed  # a 0-dim tensor works with any device
    return not moved and (shaped or not scalar) and values.sure(source, value, "tensor")


def _scaled(source: Source, value: ast.expr | None) -> ast.expr | None:
    """`torch.randn(n)` of `torch.randn(n) * scale`, of `scale * torch.randn(n)` and of `torch.randn(n) / n`."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult | ast.Div):
        return value
    return next((one for one in (value.left, value.right) if _random(source, one)), value)


def _drawn(source: Source, value: ast.expr | None) -> bool:
    """Random numbers, moved to their device by hand: the next process draws others."""
    moved = False
    while isinstance(value, ast.Call) and follow.method(value) in ("to", "cuda") and not source.name(value.func):
        value, moved = tree.receiver(value), True
    if not isinstance(value, ast.Call) or source.name(value.func) not in ("torch.randn", "torch.rand"):
        return False
    given = {keyword.arg for keyword in value.keywords}
    return (moved or "device" in given) and not {"generator", "requires_grad"} & given


def _lost(source: Source, cls: Class, name: str, one: Attribute) -> Iterator[Hit]:
    reads = (
        use
        for use in uses.attributes(source, name)
        if tree.dotted(use) == f"self.{name}" and isinstance(use.ctx, ast.Load)
    )
    homes = {getattr(tree.function(source, use), "name", "") for use in reads if tree.inside(source, use, cls.node)}
    text = source.code(cls.node)
    if (
        "forward" in homes
        and "torch.manual_seed" not in text
        and not re.search(
            r"display|sampl|visual|preview",
            follow.comment(source, one.node) + source.code(tree.statement(source, one.node)),
        )
        and f"self.{name}." not in text.replace(f"self.{name}.T", "")
    ):
        message = f"`self.{name}` is drawn at random, never trained and not saved: make it an `nn.Parameter`, or a buffer if it is to stay"
        yield source.hit(one.node, message)


def _hit(source: Source, cls: Class, name: str, one: Attribute) -> Iterator[Hit]:
    read = learned = False
    for use in (one for one in uses.attributes(source, name) if isinstance(one.ctx, ast.Load)):
        up = source.parents[use]
        trained = isinstance(up, ast.Call) and follow.method(up).startswith(("xavier_", "kaiming_"))  # a parameter then
        if trained or (isinstance(up, ast.Attribute) and up.attr in _MOVES) or _moved_by_name(source, use):
            return
        if _moved_by_callee(source, use):
            return
        over = source.parents.get(up) if isinstance(up, ast.Call) else None
        wrapped = isinstance(up, ast.Call) and source.name(up.func).rpartition(".")[2] in ("Parameter", "Variable")
        if wrapped and isinstance(over, ast.Attribute) and over.attr in _MOVES:
            return  # nn.Parameter(self.table).to(x.device)
        if isinstance(up, ast.Call) and source.name(up.func).startswith("random."):
            return  # a bag that numbers are drawn from
        if isinstance(up, ast.Attribute) and up.attr == "data" and isinstance(up.ctx, ast.Store):
            return  # a place that is filled before it is read
        if _one_by_one(source, use) or _one_number(source, use, one.value):
            continue
        home = tree.function(source, use)
        on_self = tree.dotted(use) == f"self.{name}"
        learned = learned or (home is not None and home.name != "__init__" and _may_change(source, use))
        read = read or (on_self and home is not None and home.name != "__init__" and tree.inside(source, use, cls.node))
    if read and one.value is not None:
        fixed = f'self.register_buffer("{name}", {source.code(one.value)})'
        edit = edits.replace(source, tree.statement(source, one.node), fixed)
        message = f"`self.{name}` is a plain tensor that `.to()` does not move and `state_dict()` does not hold: write `{fixed}`"
        drawn = _random(source, _scaled(source, one.value)) and not _seeded(source, cls)
        if drawn and not learned:
            message = f"`self.{name}` is drawn at random and `state_dict()` does not hold it, so a loaded model has another one: write `{fixed}`"
        yield source.hit(one.node, message, edit, safe=False, severity=None if learned or drawn else "hint")


def _random(source: Source, value: ast.expr | None) -> bool:
    """`torch.randn(...)`, `torch.randperm(n)`: another process draws others."""
    return (
        isinstance(value, ast.Call)
        and source.name(value.func) in _RANDOM
        and not any(one.arg == "generator" for one in value.keywords)
    )


def _seeded(source: Source, cls: Class) -> bool:
    """A class that seeds for itself draws the same again."""
    return "manual_seed" in source.code(cls.node)


def _may_change(source: Source, use: ast.Attribute) -> bool:
    """`self.mean.lerp_(...)`, `self.seen[i] = x`: of a table that stays as it is torch says itself where it is."""
    up = source.parents[use]
    if isinstance(up, ast.Attribute):
        return up.attr.endswith("_") and not up.attr.endswith("__")
    stored = isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store)
    return stored or isinstance(up, ast.AugAssign)


def _one_number(source: Source, use: ast.Attribute, made: ast.expr | None) -> bool:
    """`self.rates[i]` of a row of numbers: a 0-dim tensor works with any device."""
    up = source.parents[use]
    index = up.slice if isinstance(up, ast.Subscript) and up.value is use else None
    first = made.args[0] if isinstance(made, ast.Call) and made.args else None
    listed = isinstance(first, ast.List | ast.Tuple) and not any(
        isinstance(x, ast.List | ast.Tuple) for x in first.elts
    )
    row = isinstance(made, ast.Call) and source.name(made.func) in _ROWS
    return index is not None and (listed or row) and values.sure(source, index, "number")


def _one_by_one(source: Source, use: ast.expr) -> bool:
    """`for one in self.sizes`, `enumerate(self.mask)`, `int(self.sizes[0])`: single numbers, which work on any device."""
    up = source.parents[use]
    if isinstance(up, ast.Call) and source.name(up.func) in ("enumerate", "zip", "len", "list", "range"):
        return True
    if isinstance(up, ast.Attribute) and up.attr in _ASKS:
        return True  # its size alone
    looped = isinstance(up, ast.For | ast.comprehension) and up.iter is use
    over = source.parents[up] if isinstance(up, ast.Subscript) else None
    return looped or (isinstance(over, ast.Call) and source.name(over.func) in ("int", "float", "bool"))


def _moved_by_name(source: Source, use: ast.Attribute) -> bool:
    """`t = self.steps[i]` or `t = self.steps if t is None else t`, and then `t.to(x.device)`."""
    statement = tree.statement(source, use)
    up = source.parents[use]
    part = isinstance(up, ast.IfExp | ast.BoolOp) or (isinstance(up, ast.Subscript) and up.value is use)
    whole = up is statement or (part and source.parents[up] is statement)
    name = statement.targets[0] if isinstance(statement, ast.Assign) and whole else None
    home = tree.function(source, use)
    if not isinstance(name, ast.Name) or home is None:
        return False
    moves = (one for one in tree.body_nodes(home) if isinstance(one, ast.Attribute) and one.attr in _MOVES)
    return any(isinstance(one.value, ast.Name) and one.value.id == name.id for one in moves)


def _moved_by_callee(source: Source, use: ast.Attribute) -> bool:
    """`scale(x, self.table)`, where `scale` writes `table.to(x.device)`."""
    up = source.parents[use]
    call = source.parents[up] if isinstance(up, ast.keyword) else up
    inner = flow.called(source, call) if isinstance(call, ast.Call) and call.func is not use else None
    if inner is None or not isinstance(call, ast.Call):
        return False
    args = [*inner.node.args.posonlyargs, *inner.node.args.args][1 if inner.owner else 0 :]
    at = call.args.index(use) if use in call.args else -1
    name = up.arg if isinstance(up, ast.keyword) else args[at].arg if 0 <= at < len(args) else None
    moves = (one for one in tree.body_nodes(inner.node) if isinstance(one, ast.Attribute) and one.attr in _MOVES)
    return any(isinstance(one.value, ast.Name) and one.value.id == name for one in moves)


def _in_a_list(source: Source, cls: Class) -> Iterator[Hit]:
    """`self.scale.append(torch.ones(n))` in `__init__`, and `s.mul_(0.9)` over that list in `forward`."""
    forward, start = (next((one for one in cls.node.body if isinstance(one, ast.FunctionDef) and one.name == name), None)
                      for name in ("forward", "__init__"))  # fmt: skip
    if forward is None or start is None:
        return
    for call in source.methods("append"):
        held = tree.dotted(tree.receiver(call))
        made = call.args[0] if len(call.args) == 1 else None
        if not held.startswith("self.") or tree.function(source, call) is not start or not isinstance(made, ast.Call):
            continue
        if source.name(made.func) in _MADE and any(
            _changes(source, loop, held) for loop in tree.under(source, forward, ast.For)
        ):
            told = f"the tensors in `{held}` are learned from the data and `state_dict()` holds none of them: register each as a buffer"
            yield source.hit(call, told)


def _changes(source: Source, loop: ast.For, held: str) -> bool:
    """Whether a loop over the list changes its tensors in place."""
    if f"{held}" not in [tree.dotted(one) for one in ast.walk(loop.iter) if isinstance(one, ast.Attribute)]:
        return False
    names = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    for node in (one for part in loop.body for one in ast.walk(part)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
            at = node.func.value
            while isinstance(at, ast.Call):
                at = tree.receiver(at)
            if isinstance(at, ast.Name) and at.id in names and not node.func.attr.startswith("requires"):
                return source.name(at) == ""
    return False

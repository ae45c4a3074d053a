"""The rule of best-state-never-restored."""

import ast
from collections.abc import Iterator

from torchlore.check import flow, follow, tree, uses
from torchlore.check.source import Hit, Source

WORDS = ("load|state_dict", "save|*deepcopy*|*clone*", "*best*|state_dict")


def find(source: Source) -> Iterator[Hit]:
    yield from _last_file(source) if "best" in source.text and any(source.calls("torch.save")) else ()
    kept = "deepcopy(" in source.text or "clone()" in source.text
    if not kept or not any(source.methods("state_dict")):
        return
    for held in (*uses.assigns(source, ast.Name, ast.Call), *uses.assigns(source, ast.Name, ast.DictComp)):
        target, net = held.targets[0], _copied(held.value)
        if net is None or not isinstance(target, ast.Name) or not tree.loops(source, held):
            continue
        if not flow.may_train(source):
            return
        home = tree.function(source, held)
        names = tree.under(source, home, ast.Name) if home is not None else []
        seen = [one for one in names if one.id == target.id and isinstance(one.ctx, ast.Load)]
        asked = [test for test, _ in tree.conditions(source, held)]
        if home is not None and asked and not seen and not _declared(home, target.id):
            code = source.code(net)
            told = f"nobody reads `{target.id}`, so `{code}` goes on with its last weights: `{code}.load_state_dict({target.id})`"
            yield source.hit(held, told)


def _last_file(source: Source) -> Iterator[Hit]:
    """`torch.load(f"{epoch}.pt")` behind the loop that wrote one file an epoch and found out `best_epoch`."""
    for load in source.calls("torch.load"):
        home = tree.function(source, load) or source.tree
        read = {one.id for one in tree.under(source, load, ast.Name)}
        for loop in tree.under(source, home, ast.For):
            turn = loop.target.id if isinstance(loop.target, ast.Name) else ""
            if (
                turn not in read
                or tree.inside(source, load, loop)
                or load.lineno < loop.lineno
                or _bound_after(source, loop, load, turn)
            ):
                continue
            writes = [one for one in source.calls("torch.save") if tree.inside(source, one, loop)]
            named = any(part.id == turn for one in writes for part in tree.under(source, one, ast.Name))
            best = [name for name in _best(source, loop, turn) if name not in read]
            if named and best and not tree.loops(source, load):
                told = f"`{turn}` is the last one here: the best file is that of `{best[0]}`"
                yield source.hit(load, told)


def _bound_after(source: Source, loop: ast.For, load: ast.Call, turn: str) -> bool:
    """Whether another loop or line gives the name a new value before the file is read."""
    home = tree.function(source, loop) or source.tree
    names = (one for one in tree.under(source, home, ast.Name) if one.id == turn and isinstance(one.ctx, ast.Store))
    return any((loop.end_lineno or 0) < one.lineno <= load.lineno for one in names)


def _best(source: Source, loop: ast.For, turn: str) -> list[str]:
    """`best_epoch` of `best_epoch = epoch`, alone or with a score beside it."""
    found: list[str] = []
    for held in tree.under(source, loop, ast.Assign):
        target, given = held.targets[0], held.value
        pairs = [(target, given)]
        if isinstance(target, ast.Tuple) and isinstance(given, ast.Tuple) and len(target.elts) == len(given.elts):
            pairs = list(zip(target.elts, given.elts, strict=True))
        found += [
            one.id
            for one, value in pairs
            if isinstance(one, ast.Name) and "best" in one.id and tree.dotted(value) == turn
        ]
    return found


def _copied(value: ast.expr) -> ast.expr | None:
    """The net of `copy.deepcopy(net.state_dict())` and of `{k: v.clone() for k, v in net.state_dict().items()}`."""
    inner = (
        value.args[0]
        if isinstance(value, ast.Call) and tree.dotted(value.func).endswith("deepcopy") and value.args
        else None
    )
    walked = value.generators[0].iter if isinstance(value, ast.DictComp) else None
    if isinstance(walked, ast.Call) and follow.method(walked) == "items":
        inner = tree.receiver(walked)
    asked = isinstance(inner, ast.Call) and follow.method(inner) == "state_dict"
    return tree.receiver(inner) if asked and isinstance(inner, ast.Call) else None


def _declared(home: tree.FunctionNode, name: str) -> bool:
    """`global best` or `nonlocal best`: others read it."""
    return any(isinstance(one, ast.Global | ast.Nonlocal) and name in one.names for one in ast.walk(home))

"""One spelling for what is written in several ways, so that a rule need not know them all: the tree a rule sees has it."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, Any, cast

from torchlore.check import settings
from torchlore.check.tree import dotted

if TYPE_CHECKING:
    from torchlore.check.source import Source

Nodes = dict[type, list[ast.AST]]
Parents = dict[ast.AST, ast.AST]
_LEADING = {"params", "optimizer", "input", "tensors", "dataset", "parameters", "obj", "module", "model", "data", "state_dict",
            "outputs", "sequences", "seed"}  # fmt: skip
_LEADING_OF = {"squeeze": "dim", "unsqueeze": "dim", "transpose": "dim0", "requires_grad_": "requires_grad",
               "set_grad_enabled": "mode", "load_state_dict": "state_dict", "manual_seed": "seed"}  # fmt: skip
_MAYBE_LEADING = _LEADING | {*_LEADING_OF.values()}
_VIEWS = {"parameters", "state_dict", "detach"}  # run nothing, and give what is there already
_SIMPLE = (ast.Assign, ast.Expr, ast.Return, ast.AugAssign, ast.AnnAssign)
_SCOPES = {ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module}


def spell(nodes: Nodes, parents: Parents) -> bool:
    """Change the tree to the one spelling; whether anything was changed, so that it must be indexed again."""
    changed = [
        _put_constants(nodes, parents),
        settings.put(nodes, parents),
        _qualify(nodes),
        _augment(nodes, parents),
        _unpack(nodes),
        _write_out(nodes, parents),
        _call_forward(nodes),
    ]
    return any(changed)


def place_leading(source: Source) -> None:
    """`SGD(params=p)` as `SGD(p)` and `mse_loss(input=x, target=y)` as `mse_loss(x, y)`."""
    for keyword in cast("list[ast.keyword]", source.nodes.get(ast.keyword, ())):
        if keyword.arg not in _MAYBE_LEADING:
            continue
        call: Any = source.parents[keyword]
        if call.__class__ is not ast.Call or call.args or call.keywords[0] is not keyword:
            continue
        method = _LEADING_OF.get(getattr(call.func, "attr", ""))
        if method == keyword.arg or (keyword.arg in _LEADING and source.names.of(call.func).startswith("torch.")):
            paired = [one.arg for one in call.keywords[1:2]] in (["target"], ["dim1"])
            given, call.keywords = call.keywords[: 1 + paired], call.keywords[1 + paired :]
            call.args = [one.value for one in given]
            source.parents.update({one.value: call for one in given})


def _put_constants(nodes: Nodes, parents: Parents) -> bool:
    """`DataLoader(data, shuffle=SHUFFLE)` as `shuffle=True` after `SHUFFLE = True` at the top of the file."""
    known: dict[str, ast.Constant] = {}
    for one in cast("list[Any]", nodes.get(ast.Assign, ())):
        plain = one.value.__class__ is ast.Constant and one.targets[0].__class__ is ast.Name
        if plain and one.targets[0].id.isupper() and parents[one].__class__ is ast.Module and len(one.targets) == 1:
            known[one.targets[0].id] = one.value
    reads = [one for one in cast("list[ast.Name]", nodes.get(ast.Name, ())) if one.id in known] if known else []
    bound = [one.id for one in reads if one.ctx.__class__ is not ast.Load]
    changed = False
    for one in reads:
        up: Any = parents[one]
        if one.ctx.__class__ is not ast.Load or bound.count(one.id) != 1:
            continue
        if up.__class__ is ast.keyword:
            up.value = ast.copy_location(ast.Constant(known[one.id].value), one)
            changed = True
        elif up.__class__ is ast.Call and one in up.args and dotted(up.func).rpartition(".")[2][:1].isupper():
            up.args[up.args.index(one)] = ast.copy_location(ast.Constant(known[one.id].value), one)
            changed = True
    return changed


def _qualify(nodes: Nodes) -> bool:
    """`sqrt(x)` after `from torch import sqrt` as `torch.sqrt(x)`; the root is a name that nobody can bind, `torch.`."""
    origins: dict[str, tuple[str, str]] = {}
    for node in cast("list[ast.ImportFrom]", nodes.get(ast.ImportFrom, ())):
        if node.module and not node.level and (node.module == "torch" or node.module.startswith("torch.")):
            origins.update(
                {one.asname or one.name: (node.module, one.name) for one in node.names if one.name[0].islower()}
            )
    if not origins:
        return False
    calls = [
        one
        for one in cast("list[Any]", nodes.get(ast.Call, ()))
        if one.func.__class__ is ast.Name and one.func.id in origins
    ]
    if not calls:
        return False
    taken = {one.id for one in cast("list[ast.Name]", nodes.get(ast.Name, ())) if one.ctx.__class__ is not ast.Load}
    taken |= {one.arg for one in cast("list[ast.arg]", nodes.get(ast.arg, ()))}
    taken |= {one.name for kind in (ast.FunctionDef, ast.ClassDef) for one in cast("list[Any]", nodes.get(kind, ()))}
    for call in calls:
        if call.func.id not in taken:
            module, name = origins[call.func.id]
            root = ast.copy_location(ast.Name(f"{module}.", ast.Load()), call.func)
            call.func = ast.copy_location(ast.Attribute(root, name, ast.Load()), call.func)
    return True


def _call_forward(nodes: Nodes) -> bool:
    """`net.forward(x)` as `net(x)`, in files where only modules have a method `forward`; `model.forward()` is none of theirs."""
    calls = [one for one in cast("list[Any]", nodes.get(ast.Call, ())) if getattr(one.func, "attr", "") == "forward"]
    outer = [one for one in calls if _is_object(one.func.value) and (one.args or one.keywords)]
    plain = (one for one in cast("list[ast.ClassDef]", nodes.get(ast.ClassDef, ())) if not one.bases) if outer else ()
    if not outer or any(getattr(part, "name", "") == "forward" for one in plain for part in one.body):
        return False
    for call in outer:
        call.func = call.func.value
    return True


def _is_object(node: ast.expr) -> bool:
    """Neither `self`, whose own method it is, nor a class, nor what a call gives (`super()`)."""
    name = dotted(node).rpartition(".")[2] or ("x" if isinstance(node, ast.Subscript) else "")
    return bool(name) and name not in ("self", "cls") and not name[0].isupper()


def _augment(nodes: Nodes, parents: Parents) -> bool:
    """`total = total + x` as `total += x`, where the same function (for `self.total`: the file) makes it a number."""
    assigns = cast("list[Any]", nodes.get(ast.Assign, ()))
    added = [
        one
        for one in assigns
        if one.value.__class__ is ast.BinOp and one.value.left.__class__ is one.targets[0].__class__
    ]
    added = [one for one in added if (name := dotted(one.targets[0])) and name == dotted(one.value.left)]
    numbers = {_place(parents, one, name) for one in assigns for name in _numbers(one)} if added else set()
    changed = False
    for one in added:
        if isinstance(one.value.op, ast.Add | ast.Sub) and _place(parents, one, dotted(one.targets[0])) in numbers:
            block = _block(parents, one)
            new = ast.AugAssign(one.targets[0], one.value.op, one.value.right)
            block[block.index(one)] = ast.copy_location(new, one)
            changed = True
    return changed


def _place(parents: Parents, node: ast.AST, name: str) -> tuple[ast.AST | None, str]:
    """A name with the scope it stands in; an attribute belongs to the file."""
    return (None if "." in name else _scope(parents, node)), name


def _scope(parents: Parents, node: ast.AST) -> ast.AST:
    node = parents[node]
    while node.__class__ not in _SCOPES:
        node = parents[node]
    return node


def _block(parents: Parents, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements in which this one stands."""
    up = parents[statement]
    blocks = (getattr(up, field, None) for field in ("body", "orelse", "finalbody"))
    return next(block for block in blocks if isinstance(block, list) and statement in block)


def _numbers(assign: ast.Assign) -> list[str]:
    """The names that are given a number: `total = 0`, `total = count = 0`, `total, right = 0.0, 0`."""
    if _is_number(assign.value):
        return [dotted(one) for one in assign.targets]
    target, value = assign.targets[0], assign.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return []
    return [dotted(one) for one, given in zip(target.elts, value.elts, strict=True) if _is_number(given)]


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value.__class__ in (int, float)


def _unpack(nodes: Nodes) -> bool:
    """`for batch in loader:` and `x, y = batch` as `for x, y in loader:`, where that is the only use of the batch."""
    changed = False
    for loop in cast("list[ast.For]", nodes.get(ast.For, ())):
        counted = isinstance(loop.target, ast.Tuple) and len(loop.target.elts) == 2
        batch = loop.target.elts[1] if isinstance(loop.target, ast.Tuple) and counted else loop.target
        _gather(loop, dotted(batch))
        first: Any = loop.body[0]
        if first.__class__ is not ast.Assign or first.value.__class__ is not ast.Name or len(loop.body) < 2:
            continue
        same = isinstance(batch, ast.Name) and batch.id == first.value.id and isinstance(first.targets[0], ast.Tuple)
        if same and sum(isinstance(one, ast.Name) and one.id == first.value.id for one in ast.walk(loop)) == 2:
            del loop.body[0]
            changed = True
            if isinstance(loop.target, ast.Tuple):
                loop.target.elts[1] = first.targets[0]
            else:
                loop.target = first.targets[0]
    return changed


def _gather(loop: ast.For, batch: str) -> None:
    """`x = batch[0]` and `y = batch[1]` at the start of a loop as `x, y = batch`, where nothing else reads the batch."""
    parts: list[Any] = []
    for one in loop.body:
        if not _is_part(one, batch, len(parts)):
            break
        parts.append(one)
    reads = sum(isinstance(one, ast.Name) and one.id == batch for one in ast.walk(loop)) if len(parts) > 1 else 0
    if reads != len(parts) + 1 or len(parts) == len(loop.body):
        return
    target = ast.copy_location(ast.Tuple([one.targets[0] for one in parts], ast.Store()), parts[0].targets[0])
    loop.body[: len(parts)] = [ast.copy_location(ast.Assign([target], parts[0].value.value), parts[0])]


def _is_part(node: Any, batch: str, index: int) -> bool:
    """`y = batch[1]`, for this index."""
    if node.__class__ is not ast.Assign or node.value.__class__ is not ast.Subscript or len(node.targets) != 1:
        return False
    place, named = node.value.slice, node.targets[0].__class__ is ast.Name and node.value.value.__class__ is ast.Name
    return named and dotted(node.value.value) == batch and isinstance(place, ast.Constant) and place.value == index


def _write_out(nodes: Nodes, parents: Parents) -> bool:
    """`params = net.parameters()` and `SGD(params)` as `SGD(net.parameters())`, where that is the only use of the name."""
    views = [
        one for one in cast("list[Any]", nodes.get(ast.Assign, ())) if one.value.__class__ is ast.Call and _is_view(one)
    ]
    changed = False
    for view in views:
        name = view.targets[0].id
        same = [one for one in cast("list[ast.Name]", nodes[ast.Name]) if one.id == name]
        home = _scope(parents, view)
        near = [one for one in same if home.__class__ is ast.Module or _within(parents, one, home)]
        block = _block(parents, view) if len(near) == 2 else []
        changed |= bool(block) and _put(view, name, block[block.index(view) + 1 :])
    return changed


def _within(parents: Parents, node: ast.AST, outer: ast.AST) -> bool:
    up: ast.AST | None = node
    while up is not None and up is not outer:
        up = parents.get(up)
    return up is outer


def _is_view(assign: Any) -> bool:
    """`params = net.parameters()`."""
    call = assign.value
    return (
        call.func.__class__ is ast.Attribute
        and call.func.attr in _VIEWS
        and not call.args
        and not call.keywords
        and assign.targets[0].__class__ is ast.Name
    )


def _put(assign: Any, name: str, later: list[ast.stmt]) -> bool:
    """Put the value in the place of the name, in a call that runs once after it, where nothing of it is bound anew before."""
    parts = {one.id for one in ast.walk(assign.value) if isinstance(one, ast.Name)}
    for statement in later[:1] if assign.value.func.attr == "state_dict" else later:  # the object may be made anew
        once: Any = statement if isinstance(statement, _SIMPLE) else getattr(statement, "iter", None)
        for call in ast.walk(once) if once is not None else ():
            for place, arg in enumerate(call.args if isinstance(call, ast.Call) else ()):
                if isinstance(arg, ast.Name) and arg.id == name:
                    cast("ast.Call", call).args[place] = copy.deepcopy(assign.value)
                    return True
        names = (one for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        if any(one.id in parts for one in names):
            return False
    return False

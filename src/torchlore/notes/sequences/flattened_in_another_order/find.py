"""The rule of flattened-in-another-order."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, follow, losses, origin, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.project import Function
from torchlore.check.source import Hit, Source

_LOSSES = ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss")
_RNNS = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
_TURNS = regex(r"transpose|permute|swapaxes|movedim|\.t\(\)|\.T\b|rearrange|batch_first")

WORDS = ("view|reshape|flatten",)


def find(source: Source) -> Iterator[Hit]:
    views = list(source.methods("view", "reshape", "flatten"))
    if not all(any(_flattened(one, axes) is not None for one in views) for axes in (1, 2)):
        return
    for loss in losses.loss_calls(source, *_LOSSES):
        scores = _flattened(follow.followed(source, loss.input, 1), 2) if loss.input is not None else None
        labels = _flattened(follow.followed(source, loss.target, 1), 1) if loss.target is not None else None
        made = follow.binding(source, scores) if isinstance(scores, ast.Name) else scores
        if not isinstance(labels, ast.Name) or not isinstance(made, ast.Call):
            continue
        inner = origin.behind(source, made)
        given, turned = _batch_first(inner) if inner is not None and inner.source is source else (None, False)
        if inner is None or given is None or not _goes_with(source, labels, _fed(made, inner, given, turned)):
            continue
        told = f"`{source.code(made)}` gives (time, batch, classes) and `{labels.id}` is (batch, time), so flattened they do not belong together"
        yield source.hit(loss.call, f"{told}: transpose one of them first")


def _flattened(node: ast.expr, axes: int) -> ast.expr | None:
    """`x` of `x.view(-1, classes)` and `x.flatten(0, 1)`, `y` of `y.view(-1)` and `y.flatten()`."""
    word = follow.method(node)
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    given = [tree.literal(one) for one in node.args]
    reshaped = word in ("view", "reshape") and len(given) == axes and given[0] == -1
    flat = word == "flatten" and given in ([[], [0]] if axes == 1 else [[0, 1]])
    return tree.receiver(node) if reshaped or flat else None


def _batch_first(function: Function) -> tuple[ast.arg | None, bool]:
    """The parameter that a result with the time first is made of, and whether the function turned it round."""
    source, node = function.source, function.node
    back = calls.returned(function)
    taken = {one.arg: one for one in tree.parameters(node)}
    whole = (
        back[0].elts[0]
        if len(back) == 1 and isinstance(back[0], ast.Tuple) and back[0].elts
        else back[0]
        if len(back) == 1
        else None
    )
    last = _through(source, whole) if whole is not None else None
    if last is None:
        return None, False
    if isinstance(last, ast.Call) and source.name(last.func) == "torch.stack" and last.args:
        dim = tree.argument(last, 1, "dim")
        first = tree.lacks(last, 1, "dim") or (dim is not None and tree.literal(dim) == 0)
        name = _stepped(source, node, tree.dotted(last.args[0])) if first else ""
        return taken.get(name), True
    if isinstance(last, ast.Call) and last.args and values.made_by(source, last.func, *_RNNS) is not None:
        made = values.made_by(source, last.func, *_RNNS)
        layer = made.node if made is not None and isinstance(made.node, ast.Call) else None
        name, turned = _turned(source, last.args[0])
        return (taken.get(name), turned) if layer is not None and tree.lacks(layer, 4, "batch_first") else (None, False)
    return None, False


def _through(source: Source, node: ast.expr, hops: int = 8) -> ast.expr | None:
    """What a result was made of, back through layers that keep the order of dimensions."""
    for _ in range(hops):
        if isinstance(node, ast.Name):
            bound = scopes.reaching(source, node)
            one = bound[0] if len(bound) == 1 and bound[0].how == "assign" else None
            if one is None or one.value is None or one.path not in ((), (0,)):
                return None
            node = one.value
            if one.path == (0,):
                return node if isinstance(node, ast.Call) else None
        elif isinstance(node, ast.Subscript) and tree.literal(node.slice) == 0:
            return node.value if isinstance(node.value, ast.Call) else None
        elif isinstance(node, ast.Call) and source.name(node.func) == "torch.stack":
            return node
        elif isinstance(node, ast.Call) and node.args and _keeps(source, node):
            node = node.args[0]
        else:
            return None
    return None


def _keeps(source: Source, call: ast.Call) -> bool:
    kept = ("torch.nn.Linear", "torch.nn.Dropout", "torch.nn.LayerNorm", "torch.nn.ReLU", "torch.nn.Tanh")
    layer = values.made_by(source, call.func, *kept) is not None
    return layer or source.name(call.func) in ("torch.nn.functional.dropout", "torch.relu", "torch.tanh")


def _stepped(source: Source, home: ast.AST, outputs: str) -> str:
    """`words` of `for t in range(n): ...; outputs.append(...); word = words[:, t]`."""
    for call in tree.under(source, home, ast.Call):
        if follow.method(call) != "append" or tree.dotted(tree.receiver(call)) != outputs:
            continue
        loop = next((one for one in tree.loops(source, call) if isinstance(one, ast.For)), None)
        step = loop.target.id if loop is not None and isinstance(loop.target, ast.Name) else ""
        for cut in tree.under(source, loop, ast.Subscript) if loop is not None else ():
            parts = cut.slice.elts if isinstance(cut.slice, ast.Tuple) else []
            whole = len(parts) >= 2 and isinstance(parts[0], ast.Slice) and parts[0].lower is parts[0].upper is None
            if whole and step and any(isinstance(one, ast.Name) and one.id == step for one in ast.walk(parts[1])):
                return tree.dotted(cut.value)
    return ""


def _turned(source: Source, node: ast.expr, hops: int = 6) -> tuple[str, bool]:
    """`ids` of `self.emb(ids).transpose(0, 1)`, through names and layers, and whether time and batch were exchanged."""
    turned = False
    for _ in range(hops):
        value = follow.binding(source, node)
        if value is not None:
            node = value
        elif isinstance(node, ast.Name):
            return node.id, turned
        elif _turns(node) and isinstance(node, ast.Call):
            turned, node = not turned, tree.receiver(node)
        elif isinstance(node, ast.Call) and len(node.args) == 1 and values.sure(source, node.func, "module"):
            node = node.args[0]
        else:
            break
    return "", False


def _turns(node: ast.expr) -> bool:
    """`x.t()`, `x.transpose(0, 1)`, `x.permute(1, 0, 2)`."""
    given = [tree.literal(one) for one in node.args] if isinstance(node, ast.Call) else []
    known: dict[str, list[list[int]]] = {"t": [[]], "transpose": [[0, 1], [1, 0]], "permute": [[1, 0], [1, 0, 2]]}
    return given in known.get(follow.method(node), [])


def _fed(made: ast.Call, inner: Function, arg: ast.arg, turned: bool) -> ast.expr | None:
    """What the model was given with the batch first, where that is seen."""
    given = calls.given_argument(inner, made, arg, 1 if inner.owner else 0)
    outside = given is not None and _turns(given)
    if given is None or turned == outside:
        return None
    return tree.receiver(given) if outside and isinstance(given, ast.Call) else given


def _goes_with(source: Source, labels: ast.Name, given: ast.expr | None) -> bool:
    """Whether the labels have the batch first as well: they are what the model was given, or came with it."""
    if not isinstance(given, ast.Name):
        return False
    mine, its = scopes.reaching(source, labels), scopes.reaching(source, given)
    if len(mine) != 1 or len(its) != 1 or (mine[0].value is not None and _TURNS.search(source.code(mine[0].value))):
        return False
    together = mine[0].statement is its[0].statement and bool(mine[0].path) and bool(its[0].path)
    return mine[0].node is its[0].node or together

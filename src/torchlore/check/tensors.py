"""Tensors through torch's functions, methods and layers: activation, graph and shape."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from torchlore.check import api, shapes
from torchlore.check.follow import takes_packed
from torchlore.check.tree import argument, contexts, dotted, function, literal, parameters, spread
from torchlore.check.uses import names
from torchlore.check.values import UNKNOWN, Shape, Value, Values, values

if TYPE_CHECKING:
    from torchlore.check.source import Source

_NO_GRAD = {"torch.no_grad", "torch.inference_mode"}
_SAME_SHAPE = api.SAME_LAYOUT | {
    "softmax", "log_softmax", "sigmoid", "relu", "tanh", "exp", "log", "clamp", "abs", "dropout", "sqrt", "pow",
    "round", "gelu", "silu", "zeros_like", "ones_like", "rand_like", "randn_like", "masked_fill", "neg", "sin", "cos",
    "square", "log1p", "sign", "floor", "tan", "softplus", "long", "int", "float", "bool",
}  # fmt: skip
_REDUCE = {"sum", "mean", "argmax", "argmin", "prod", "any", "all", "logsumexp", "norm", "std", "var", "amax", "amin"}
_JOIN = {"cat", "concat", "concatenate", "stack", "vstack", "hstack"}
_WRAP = {"tensor", "as_tensor", "from_numpy", "FloatTensor", "LongTensor", "Tensor"}
_MAKE = {"zeros", "ones", "rand", "randn", "empty"}
_KEEP_STATE = api.SAME_LAYOUT | api.RESHAPES | {"dropout", "clamp", "clamp_", "cat", "stack", "squeeze", "flatten"}
_EACH = {"mse_loss", "MSELoss", "l1_loss", "L1Loss", "smooth_l1_loss", "SmoothL1Loss", "huber_loss", "HuberLoss",
         "binary_cross_entropy", "BCELoss", "binary_cross_entropy_with_logits", "BCEWithLogitsLoss"}  # fmt: skip
_HEADS = {"fc", "classifier", "head", "heads"}


def no_grad_around(source: Source, node: ast.AST) -> bool:
    """Whether the node runs under `no_grad` or `inference_mode`, by a `with` (or is one, and all of its function) or a decorator."""
    whole = isinstance(node, ast.With) and node is getattr(source.parents[node], "body", [None])[-1]
    own = [item.context_expr for item in node.items] if whole and isinstance(node, ast.With) else []
    for context in own + contexts(source, node):
        func = context.func if isinstance(context, ast.Call) else context
        name = source.name(func)
        last = (name or dotted(func)).rpartition(".")[2]
        if name in _NO_GRAD or "no_grad" in last or last.endswith("_inference_mode"):
            return True  # also a decorator of the project's own: `@smart_inference_mode()`, `@no_grad_wrapper`
        if name == "torch.set_grad_enabled" and isinstance(context, ast.Call) and context.args:
            return literal(context.args[0]) is False
    return False


def function_result(source: Source, call: ast.Call, full: str) -> Values:
    """What a function of torch that makes tensors gives."""
    last = full.rpartition(".")[2]
    first = call.args[0] if call.args else argument(call, 0, "input")
    given = values(source, first) if first is not None and not isinstance(first, ast.Starred) else ()
    if full in api.LOSS_FUNCTIONS:
        return (loss_value(source, call, full),)
    if _coordinates(call, last, 1):
        return _many(source, call, full, last, False, 1)
    if last in api.FRESH or full == "torch.autograd.Variable":
        grad = literal(argument(call, None, "requires_grad"))
        size = _made_shape(source, call, last, given)
        return (Value("tensor", full, call, source, attached=grad is True, shape=size),)
    graph = _graph(source, call)
    if last in api.TUPLES and last != "where":
        return _many(source, call, full, last, graph, 1)
    found: Values = ()
    for value in (_joined(given) if last in _JOIN else given) or (UNKNOWN,):
        state, node, maker = _state(value, last, call, full)
        size = _shape(source, value, call, last, 1) if last not in _JOIN else None
        found += (Value("tensor", maker, node or call, _home(value, node, source), state, graph, size),)
    return found


def _joined(given: Values) -> Values:
    """The tensors in what `torch.cat` is given: of a list that is written out, built by a comprehension or by `append`."""
    found: Values = ()
    for value in given:
        inner = sum(value.items, ()) if value.kind in ("list", "tuple", "iterator") else ()
        if value.kind == "list" and value.source is not None and isinstance(value.node, ast.List):
            inner += _appended(value.source, value.node)
        found += inner[:16] or (UNKNOWN,)
    return found


def _appended(source: Source, box: ast.List) -> Values:
    """What is appended to a list under its first name, in the same function."""
    held = source.parents.get(box)
    target = _first_name(source, box, held)
    if target is None:
        return () if isinstance(held, ast.Call) else (UNKNOWN,)
    home, found = function(source, box), cast("Values", ())
    for one in names(source, target.id):
        up = source.parents[one]
        if function(source, one) is not home or not isinstance(up, ast.Attribute | ast.AugAssign):
            continue
        call = source.parents[up]
        alone = (
            isinstance(up, ast.Attribute) and up.attr == "append" and isinstance(call, ast.Call) and len(call.args) == 1
        )
        found += values(source, cast("ast.Call", call).args[0]) if alone else (UNKNOWN,)
    return found


def _first_name(source: Source, box: ast.List, held: ast.AST | None) -> ast.Name | None:
    """`a` of `a = []`, and `b` of `a, b = [], []`."""
    whole = source.parents.get(held) if isinstance(held, ast.Tuple) else held
    target = whole.targets[0] if isinstance(whole, ast.Assign) and len(whole.targets) == 1 else None
    if isinstance(held, ast.Tuple) and isinstance(target, ast.Tuple) and len(target.elts) == len(held.elts):
        target = target.elts[held.elts.index(box)]
    return target if isinstance(target, ast.Name) else None


def method_result(source: Source, value: Value, call: ast.Call, name: str) -> Values:
    """What a method of a tensor gives."""
    if name in api.NO_TENSOR_METHODS and not (name == "type" and call.args):
        kind = api.NO_TENSOR_METHODS[name]
        if name == "size" and call.args:
            kind = "number"
        return (Value(kind, f"tensor.{name}", call, source, weak=value.weak),)
    if name == "type" and not call.args:
        return (Value("string"),)
    if _coordinates(call, name, 0):
        return _many(source, call, f"torch.{name}", name, False, 0)
    graph = value.attached
    if name in ("detach", "detach_", "argmax", "argmin", "argsort") or name.startswith("new_") or name in api.FRESH:
        graph = False
    elif name == "requires_grad_":
        graph = literal(argument(call, 0, "requires_grad")) is not False
    elif graph is not True and no_grad_around(source, call):
        graph = False
    elif graph is False and call.args:
        graph = _graph(source, call, (False,))
    if name in api.TUPLES and name != "where":
        return _many(source, call, f"torch.{name}", name, graph, 0)
    state, node, maker = _state(value, name, call, f"torch.Tensor.{name}")
    size = _shape(source, value, call, name, 0)
    return (Value("tensor", maker, node or call, _home(value, node, source), state, graph, size, weak=value.weak),)


def _home(value: Value, node: ast.AST | None, source: Source) -> Source | None:
    return value.source if node is not None and node is value.node else source


def _state(value: Value, name: str, call: ast.Call, full: str) -> tuple[str, ast.AST | None, str]:
    """State after an operation, the node that gave it, and its maker."""
    if name in api.STATE_OF:
        return api.STATE_OF[name], call, full
    if name in _KEEP_STATE and value.state and not (value.state == "logits" and _into_unit(call, name)):
        return value.state, value.node, value.name
    if name == "log" and value.state in ("probs", "sigmoid"):
        return ("logprobs" if value.state == "probs" else "logsigmoid"), call, full
    if name == "exp" and value.state in ("logprobs", "logsigmoid"):
        return ("probs" if value.state == "logprobs" else "sigmoid"), call, full
    return "", None, full


def activation_by_hand(source: Source, share: ast.BinOp) -> str:
    """`probs` of `e / e.sum(1)` where `e` is an exponential, `sigmoid` of `1 / (1 + torch.exp(-x))`."""
    whole = share.right
    if literal(share.left) == 1 and isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Add):
        other = whole.right if literal(whole.left) == 1 else whole.left if literal(whole.right) == 1 else None
        return "sigmoid" if isinstance(other, ast.Call) and _exponential(source, other, negative=True) else ""
    if not (isinstance(whole, ast.Call) and isinstance(whole.func, ast.Attribute) and whole.func.attr == "sum"):
        return ""
    summed = whole.args[0] if source.name(whole.func) == "torch.sum" and whole.args else whole.func.value
    along = argument(whole, 0 if summed is whole.func.value else 1, "dim")
    same = along is not None and source.code(summed) == source.code(share.left)
    return "probs" if same and _exponential(source, share.left) else ""


def _exponential(source: Source, node: ast.expr, *, negative: bool = False) -> bool:
    """Whether this is `torch.exp(x)` or `x.exp()`, of a `-x` where asked."""
    found = values(source, node)
    if not found or any(one.name not in ("torch.exp", "torch.Tensor.exp") for one in found):
        return False
    made = found[0].node
    if not negative or not isinstance(made, ast.Call):
        return not negative
    inner = made.args[0] if made.args else cast("ast.Attribute", made.func).value
    return isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.USub)


def _into_unit(call: ast.Call, name: str) -> bool:
    """`clamp(x, 0, 1)`: what comes out can be read as a probability, whatever went in."""
    bounds = [literal(one) for one in (*call.args, *(keyword.value for keyword in call.keywords))]
    numbers = [one for one in bounds if isinstance(one, int | float)]
    return name.startswith("clamp") and len(numbers) == 2 and all(0 <= one <= 1 for one in numbers)


def _graph(source: Source, call: ast.Call, start: tuple[bool | None, ...] = ()) -> bool | None:
    if no_grad_around(source, call):
        return False
    seen: set[bool | None] = set(start)
    for arg in (*call.args, *(keyword.value for keyword in call.keywords)):
        if isinstance(arg, ast.Starred):
            seen.add(None)
            continue
        for value in values(source, arg):
            inner = list(_joined((value,))) if value.kind in ("list", "tuple") else [value]
            tensors = [one for one in inner if api.is_kind(one.kind, "tensor") or not one.kind]
            seen.update(one.attached for one in tensors)
    return True if True in seen else None if None in seen else False


def _coordinates(call: ast.Call, name: str, skip: int) -> bool:
    """Whether this gives one tensor of coordinates for each dimension: `nonzero(as_tuple=True)`, `where(mask)`."""
    if name == "where":
        return skip == 1 and len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)
    as_tuple = argument(call, None, "as_tuple")
    return name == "nonzero" and as_tuple is not None and literal(as_tuple) is not False


def loss_value(source: Source, call: ast.Call, full: str) -> Value:
    """The tensor a loss gives: a scalar unless `reduction="none"`."""
    size = () if _is_scalar(call) else _each_shape(source, call, call, full)
    return Value("tensor", full, call, source, "loss", _graph(source, call), size)


def _each_shape(source: Source, made: ast.Call, call: ast.Call, full: str) -> Shape | None:
    """The shape of losses that `reduction="none"` leaves alone: that of the predictions, of the classes for one class each."""
    last = full.rpartition(".")[2]
    of_classes = last in ("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss")
    if literal(argument(made, None, "reduction")) != "none" or not (of_classes or last in _EACH):
        return None
    given = [argument(call, 0, "input"), argument(call, 1, "target")]
    found = [shapes.common({one.shape for one in values(source, side)}) for side in given if side is not None]
    if len(found) != 2:
        return None
    if of_classes:
        return found[1] if found[1] is not None and len(found[1]) == 1 else None
    return found[0] if found[1] is None or len(found[0] or ()) == len(found[1]) else None


def _is_scalar(made: ast.Call) -> bool:
    """Whether a loss that is called or built so gives one number: no `reduction="none"`, no `reduce=False`, no `**options`."""
    reduction = argument(made, None, "reduction")
    kept = literal(argument(made, None, "reduce")) is False or any(one.arg is None for one in made.keywords)
    return not kept and (reduction is None or literal(reduction) in ("mean", "sum", "batchmean"))


def _many(source: Source, call: ast.Call, full: str, name: str, graph: bool | None, skip: int) -> Values:
    size = _piece(source, call) if name in ("split", "chunk") and skip == 0 else None
    part = (Value("tensor", full, call, source, attached=graph, shape=size),)
    index = (Value("tensor", f"{full}.indices", call, source, attached=False),)
    if name in ("max", "min", "median"):
        reduced = len(call.args) > skip or any(keyword.arg == "dim" for keyword in call.keywords)
        return (Value("tuple", full, call, source, items=(part, index)),) if reduced else part
    if name in ("topk", "sort", "kthvalue", "mode", "cummax", "cummin"):
        return (Value("tuple", full, call, source, items=(part, index)),)
    if name in ("unique", "unique_consecutive") and not any(
        k.arg and k.arg.startswith("return") for k in call.keywords
    ):
        return part
    return (Value("list", full, call, source, items=(part,)),)


def _piece(source: Source, call: ast.Call) -> Shape | None:
    """The shape of the pieces of `x.split(32)`, along the first dimension."""
    given = values(source, cast("ast.Attribute", call.func).value)
    return shapes.sampled(given[0].shape) if len(given) == 1 and len(call.args) == 1 and not call.keywords else None


def layer_output(source: Source, value: Value, call: ast.Call) -> Values:
    """What a layer of torch, a Sequential or a ready-made network gives."""
    graph: bool | None = not no_grad_around(source, call)
    last = value.name.rpartition(".")[2]
    if value.kind == "loss":
        made = value.node if isinstance(value.node, ast.Call) and not _is_scalar(value.node) else None
        size = _each_shape(source, made, call, value.name) if made is not None else ()
        return (Value("tensor", value.name, call, source, "loss", _graph(source, call), size),)
    if value.kind == "sequential":
        return _through(source, value, call, graph)
    if value.name.startswith("torchvision.models."):
        plain = value.name.count(".") == 2
        state = "logits" if plain and not _has_other_head(source, call) else ""
        return (Value("tensor" if plain else "", value.name, call, source, state, graph),)
    if not value.name.startswith("torch.nn.") or value.name == "torch.nn.Module":
        return (UNKNOWN,)
    if last in ("LSTM", "GRU", "RNN", "MultiheadAttention", "AdaptiveLogSoftmaxWithLoss"):
        packed = takes_packed(source, call)
        part = (UNKNOWN if packed else Value("tensor", value.name, call, source, attached=graph),)
        return (Value("tuple", value.name, call, source, items=(part, (UNKNOWN,))),)
    given = values(source, call.args[0]) if call.args and not isinstance(call.args[0], ast.Starred) else (UNKNOWN,)
    return tuple(_layer(source, value, one, call, graph) for one in given) or (UNKNOWN,)


def _has_other_head(source: Source, call: ast.Call) -> bool:
    """`net.classifier = nn.Sequential(...)`: what the network gives is up to that; a linear layer gives logits still."""
    for assign in source.all(ast.Assign):
        target = assign.targets[0]
        while isinstance(target, ast.Subscript):
            target = target.value
        if isinstance(target, ast.Attribute) and target.attr in _HEADS and dotted(target.value) == dotted(call.func):
            return not (isinstance(assign.value, ast.Call) and source.name(assign.value.func) == "torch.nn.Linear")
    return False


def _layer(source: Source, layer: Value, given: Value, call: ast.AST, graph: bool | None) -> Value:
    last = layer.name.rpartition(".")[2]
    if last in api.KEEPS_STATE:
        kept = given._replace(kind="tensor", attached=given.attached, shape=given.shape if "Drop" in last else None)
        return kept if given.kind else Value("tensor", layer.name, call, source, attached=given.attached)
    weighted = last in ("Conv3d", "Embedding", "BatchNorm1d", "BatchNorm2d", "LayerNorm", "PReLU")
    if not weighted and api.STATE_OF.get(last) != "logits":
        graph = given.attached if given.attached is not None and last in api.STATE_OF else graph
    node = layer.node if last in api.STATE_OF and api.STATE_OF[last] != "logits" else call
    home = layer.source if node is layer.node else source
    return Value("tensor", layer.name, node, home, api.STATE_OF.get(last, ""), graph, _layer_shape(layer, last, given))


def _layer_shape(layer: Value, last: str, given: Value) -> Shape | None:
    if last in ("Linear", "LazyLinear") and isinstance(layer.node, ast.Call) and layer.source:
        size = argument(layer.node, 1 if last == "Linear" else 0, "out_features")
        if size is not None:
            known = literal(size)
            out = known if isinstance(known, int) else 1 if _is_one(layer.source, size) else layer.source.code(size)
            return (*given.shape[:-1], out) if given.shape else (None, out)
    return given.shape if last in api.STATE_OF and last not in ("Conv1d", "Conv2d", "Conv3d") else None


def _is_one(source: Source, size: ast.expr) -> bool:
    """Whether a parameter of the constructor is 1 for every call of it: `pred_len=1`, which nobody changes."""
    from torchlore.check import calls, project

    home = function(source, size) if isinstance(size, ast.Name) else None
    arg = next((one for one in parameters(home) if one.arg == size.id), None) if home is not None else None  # type: ignore[attr-defined]  # a name
    if (
        home is None
        or arg is None
        or home.name != "__init__"
        or any(one.ctx.__class__ is ast.Store for one in names(source, arg.arg) if function(source, one) is home)
    ):
        return False
    made = project.as_function(source, home)
    default = calls.default_of(made, arg)
    found = [
        calls.given_argument(made, call, arg, skip) or (default if not spread(call) else None)
        for _, call, skip in calls.callers(made)
    ]
    return bool(found) and all(one is not None and literal(one) == 1 for one in found)


def _through(source: Source, value: Value, call: ast.Call, graph: bool | None) -> Values:
    """The last layers of a Sequential decide: activation and shape are theirs."""
    current = Value("tensor", value.name, call, source, attached=graph)
    shape: Shape | None = None
    for layer in value.items:
        one = layer[0] if len(layer) == 1 else UNKNOWN
        if one.kind == "sequential" and one.items:
            inner = _through(source, one, call, graph)[0]
            current, shape = inner, inner.shape
        elif one.name.startswith("torch.nn.") and one.kind != "loss":
            current = _layer(source, one, current._replace(shape=shape), call, graph)
            shape = current.shape
        else:
            current, shape = Value("tensor", one.name or value.name, call, source, attached=graph), None
    return (current._replace(attached=graph),)


def _made_shape(source: Source, call: ast.Call, name: str, given: Values) -> Shape | None:
    if name.endswith("_like"):
        return given[0].shape if given else None
    sizes = call.args
    if name in _WRAP and len(sizes) == 1:
        return (1,) if _one_number(source, sizes[0]) else None
    if name == "randint":
        size = argument(call, 2 if len(call.args) > 2 else 1, "size")
        sizes = size.elts if isinstance(size, ast.Tuple | ast.List) else []
    elif name in ("randperm", "arange") and len(sizes) == 1:
        return _sizes(source, sizes)
    elif name in ("linspace", "logspace"):
        steps = argument(call, 2, "steps")
        return _sizes(source, [steps]) if steps is not None else None
    elif name not in _MAKE:
        return None
    elif len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
        sizes = sizes[0].elts
    elif len(sizes) == 1 and (model := _as_large(sizes[0])) is not None:
        return shapes.common({one.shape for one in values(source, model)} or {None})
    elif len(sizes) == 1 and any(one.kind in ("shape", "tuple", "list") for one in values(source, sizes[0])):
        return None
    return _sizes(source, sizes) if sizes else None


def _as_large(size: ast.expr) -> ast.expr | None:
    """The tensor whose own size is given: `p.shape`, `p.size()`."""
    asked = isinstance(size, ast.Call) and not size.args and dotted(size.func).endswith(".size")
    whole = size.func if isinstance(size, ast.Call) and asked else size
    return whole.value if isinstance(whole, ast.Attribute) and (asked or whole.attr == "shape") else None


def _one_number(source: Source, node: ast.expr) -> bool:
    """`[0.5]`, `np.array([label])`."""
    if isinstance(node, ast.Call) and source.name(node.func) in ("numpy.array", "numpy.asarray") and node.args:
        node = node.args[0]
    alone = node.elts[0] if isinstance(node, ast.List) and len(node.elts) == 1 else None
    found = values(source, alone) if alone is not None else ()
    return bool(found) and all(one.kind in ("number", "bool") for one in found)


def _sizes(source: Source, nodes: list[ast.expr]) -> Shape | None:
    if any(isinstance(node, ast.Starred) for node in nodes):
        return None
    known = [literal(node) for node in nodes]
    return tuple(one if isinstance(one, int) else source.code(node) for one, node in zip(known, nodes, strict=True))


def _shape(source: Source, value: Value, call: ast.Call, name: str, skip: int) -> Shape | None:
    """Shape after an operation; `skip` is 1 where the first argument is the tensor."""
    args = call.args[skip:]
    if name in _SAME_SHAPE:
        return value.shape
    if name in ("view", "reshape"):
        inner = args[0].elts if len(args) == 1 and isinstance(args[0], ast.Tuple | ast.List) else args
        return _sizes(source, list(inner))
    if value.shape is None:
        return None
    if name == "where" and skip:
        others = [one for arg in args for one in values(source, arg)]
        return value.shape if all(one.kind == "number" or one.shape == value.shape for one in others) else None
    dim = literal(argument(call, skip, "dim"))
    if name in ("squeeze", "unsqueeze", "squeeze_", "unsqueeze_"):
        return _squeezed(value.shape, name.rstrip("_"), dim if isinstance(dim, int) else None)
    if name in ("transpose", "swapaxes") and len(args) == 2:
        return _swapped(value.shape, literal(args[0]), literal(args[1]))
    if name in _REDUCE:
        keep = literal(argument(call, skip + 1, "keepdim")) is True
        return _reduced(
            value.shape, dim if isinstance(dim, int) else None, keep=keep, whole=not args and not call.keywords
        )
    return None


def _squeezed(shape: Shape, name: str, dim: int | None) -> Shape | None:
    open_ended = bool(shape) and shape[0] is None
    if dim is None:
        return None
    if name == "unsqueeze":
        if dim == -1:
            return (*shape, 1)
        return (*shape[:dim], 1, *shape[dim:]) if dim >= 0 and not open_ended else None
    known = shape[1:] if open_ended else shape
    if dim < 0 and -dim <= len(known):
        index = len(shape) + dim
        return shape[:index] + shape[index + 1 :] if shape[index] == 1 else shape
    if dim >= 0 and not open_ended and dim < len(shape):
        return shape[:dim] + shape[dim + 1 :] if shape[dim] == 1 else shape
    return None


def _swapped(shape: Shape, one: object, other: object) -> Shape | None:
    if not isinstance(one, int) or not isinstance(other, int) or (shape and shape[0] is None):
        return None
    sizes = list(shape)
    if max(one, other) >= len(sizes) or min(one, other) < -len(sizes):
        return None
    sizes[one], sizes[other] = sizes[other], sizes[one]
    return tuple(sizes)


def _reduced(shape: Shape, dim: int | None, *, keep: bool, whole: bool) -> Shape | None:
    if whole:
        return ()
    open_ended = bool(shape) and shape[0] is None
    if dim is None or (open_ended and dim >= 0) or not -len(shape) <= dim < len(shape):
        return None
    index = dim % len(shape)
    return (*shape[:index], *((1,) if keep else ()), *shape[index + 1 :])

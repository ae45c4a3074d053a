"""How many dimensions a tensor or an array has: through datasets, loaders, functions and the arithmetic between them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from torchlore.check import calls, classes, flow, follow, iteration, origin, project, scopes, tables, tree, uses, values

if TYPE_CHECKING:
    from torchlore.check.source import Source
    from torchlore.check.values import Value

_MAKE = {"zeros", "ones", "rand", "randn", "empty", "standard_normal", "random"}
_SIZED = {"normal", "uniform", "integers", "randint", "full", "choice", "random", "standard_normal", "bernoulli"}
_LINES = {"arange", "linspace", "randperm", "logspace", "permutation", "bincount"}
_WRAPS = {"tensor", "as_tensor", "from_numpy", "array", "asarray", "FloatTensor", "LongTensor", "Tensor", "Variable"}
_KEEP = {"float", "double", "half", "long", "int", "bool", "to", "cuda", "cpu", "clone", "detach", "numpy", "astype", "copy",
         "contiguous", "type", "type_as", "abs", "sin", "cos", "exp", "log", "sqrt", "tanh", "sigmoid", "relu", "sign", "pow",
         "clamp", "clip", "round", "neg", "square", "cumsum", "softmax", "log_softmax", "requires_grad_", "pin_memory",
         "normal_", "uniform_", "zero_", "mul", "div", "flip", "roll", "masked_fill", "where", "zeros_like", "ones_like",
         "randn_like", "rand_like", "full_like", "log1p", "argsort", "atan", "sinh", "cosh", "clamp_", "heaviside"}  # fmt: skip
_REDUCE = {
    "sum",
    "mean",
    "std",
    "var",
    "prod",
    "norm",
    "argmax",
    "argmin",
    "any",
    "all",
    "amax",
    "amin",
    "logsumexp",
    "median",
}
_SCALARS = {"float", "int", "len", "bool", "round", "sum", "math.sin", "math.cos", "math.exp"}
_PARTS = {"torch.utils.data.Subset", "torch.utils.data.random_split"}
_LAYERS = {f"torch.nn.{name}" for name in ("Linear", "ReLU", "Dropout", "LayerNorm", "BatchNorm1d", "Tanh", "Sigmoid", "GELU",
           "LeakyReLU", "ELU", "SiLU", "Softplus", "Identity")}  # fmt: skip
_HOPS = 30
_CIRCLE = -1  # asked for while it is being looked for: a loop that updates its own variable


def dims(source: Source, node: ast.expr | None, hops: int = _HOPS) -> int | None:
    """The number of dimensions, None where it cannot be told; a number has 0, a list of numbers 1.

    A tensor with a single element in one dimension counts as unknown: it goes with everything.
    """
    if node is None or hops <= 0:
        return None
    memo = cast("dict[ast.expr, int | None]", source.memo.setdefault("dims", {}))
    if node not in memo:
        memo[node] = _CIRCLE
        memo[node] = _dims(source, node, hops - 1)
        if memo[node] == _CIRCLE:
            memo[node] = None
    return memo[node]


def _dims(source: Source, node: ast.expr, hops: int) -> int | None:
    if isinstance(node, ast.Constant):
        return 0 if isinstance(node.value, int | float) else None
    if isinstance(node, ast.Name):
        return _same([_bound(source, one, hops) for one in scopes.reaching(source, node)])
    if isinstance(node, ast.BinOp):
        left, right = dims(source, node.left, hops), dims(source, node.right, hops)
        return _product(left, right) if isinstance(node.op, ast.MatMult) else _widest([left, right])
    if isinstance(node, ast.Compare):
        return _widest([dims(source, one, hops) for one in (node.left, *node.comparators)])
    if isinstance(node, ast.UnaryOp):
        return dims(source, node.operand, hops)
    if isinstance(node, ast.IfExp):
        return _same([dims(source, one, hops) for one in (node.body, node.orelse)])
    if isinstance(node, ast.List | ast.Tuple):
        return _more(_same([dims(source, one, hops) for one in node.elts])) if len(node.elts) > 1 else None
    if isinstance(node, ast.ListComp):
        return _more(dims(source, node.elt, hops))
    if isinstance(node, ast.Subscript):
        return _part(source, node, hops)
    if isinstance(node, ast.Attribute):
        return _attribute(source, node, hops)
    return _call(source, node, hops) if isinstance(node, ast.Call) else None


def _same(found: list[int | None]) -> int | None:
    told = [one for one in found if one != _CIRCLE]
    if found and not told:
        return _CIRCLE
    return told[0] if told and all(one == told[0] for one in told) else None


def _widest(found: list[int | None]) -> int | None:
    known = [one for one in found if one is not None]
    return max(known) if known and len(known) == len(found) else None


def _more(inner: int | None) -> int | None:
    return inner + 1 if inner is not None and inner != _CIRCLE else inner


def _product(left: int | None, right: int | None) -> int | None:
    if left is None or right is None or left < 1 or right < 1:
        return None
    return max(left, right) if min(left, right) > 1 else left + right - 2


def _bound(source: Source, one: scopes.Binding, hops: int) -> int | None:
    """What a binding gives its name."""
    if one.how == "assign" and one.value is not None:
        value, path = one.value, one.path
        while path and isinstance(value, ast.Tuple) and 0 <= path[0] < len(value.elts):
            value, path = value.elts[path[0]], path[1:]
        if isinstance(value, ast.List) and not value.elts and isinstance(one.node, ast.Name):
            return _appended(source, one.node, hops)
        return _unpacked(source, value, path, hops)
    if one.how == "aug" and isinstance(one.statement, ast.AugAssign) and isinstance(one.node, ast.Name):
        before = dims(source, one.node, hops)  # two of them in one loop reach each other
        return before if before == _CIRCLE else _widest([before, dims(source, one.statement.value, hops)])
    if one.how in ("for", "comprehension") and one.value is not None:
        return _turn(source, one.value, one.path, hops)
    return _given(source, cast("ast.arg", one.node), hops) if one.how == "parameter" else None


def _given(source: Source, arg: ast.arg, hops: int) -> int | None:
    """What the callers give to a parameter; the index of a dataset is a number."""
    home = source.parents[source.parents[arg]]
    if not isinstance(home, tree.FunctionNode):
        return None
    if home.name == "__getitem__" and [one.arg for one in tree.parameters(home)][1:2] == [arg.arg]:
        return 0
    if (promised := tables.promised(source, arg)) is not None:
        return promised
    function = project.as_function(source, home)
    found = [
        (caller, calls.given_argument(function, call, arg, skip) or _left_out(function, call, arg))
        for caller, call, skip in calls.callers(function)
    ]
    return _same([dims(caller, one, hops) for caller, one in found])


def _left_out(function: project.Function, call: ast.Call, arg: ast.arg) -> ast.expr | None:
    """The number that a parameter has where the call says nothing."""
    default = calls.default_of(function, arg) if not tree.spread(call) else None
    return default if isinstance(default, ast.Constant) else None


def _appended(source: Source, name: ast.Name, hops: int) -> int | None:
    """A list that is filled by `append` or `insert` in the same function."""
    home, found = tree.function(source, name), list[int | None]()
    for one in uses.names(source, name.id):
        up = source.parents[one]
        call = source.parents[up] if isinstance(up, ast.Attribute) and tree.function(source, one) is home else None
        if isinstance(call, ast.Call) and follow.method(call) in ("append", "insert") and call.args:
            found.append(dims(source, call.args[-1], hops))
    return _more(_same(found))


def _unpacked(source: Source, value: ast.expr, path: tuple[int, ...], hops: int) -> int | None:
    """`y` of `x, y = make(n)`, through functions of the project."""
    if not path:
        return dims(source, value, hops)
    if isinstance(value, ast.Tuple | ast.List):
        inside = 0 <= path[0] < len(value.elts)
        return _unpacked(source, value.elts[path[0]], path[1:], hops) if inside else None
    if isinstance(value, ast.Name):
        return _unpacked(source, follow.followed(source, value), path, hops) if follow.binding(source, value) else None
    if isinstance(value, ast.Call) and tables.is_split(source, value) and path[0] // 2 < len(value.args):
        return _unpacked(source, value.args[path[0] // 2], path[1:], hops)
    if isinstance(value, ast.Call) and len(path) == 1 and (known := tables.drawn(source, value, path[0])) is not None:
        return known
    made = flow.called(source, value) if isinstance(value, ast.Call) and hops else None
    if made is not None:
        return _same([_unpacked(made.source, one, path, hops - 1) for one in calls.returned(made)])
    return None


def _turn(source: Source, walked: ast.expr, path: tuple[int, ...], hops: int) -> int | None:
    """What a turn of a loop hands out: a number of `range`, a part of a loader's batch."""
    if isinstance(walked, ast.Call) and source.name(walked.func) in ("range", "tqdm.trange"):
        return 0
    if isinstance(walked, ast.Call) and source.name(walked.func) == "enumerate" and walked.args and path:
        return 0 if path[0] == 0 else _turn(source, walked.args[0], path[1:], hops)
    inner = iteration.unwrapped(source, walked)
    made = source.values(inner)
    if made and all(one.kind == "loader" for one in made):
        return _same([batch(source, one, path[0] if len(path) == 1 else "", hops) for one in made])
    whole = dims(source, inner, hops) if not path and not isinstance(inner, ast.Call) else None
    return whole - 1 if whole is not None and whole > 0 else None


def batch(source: Source, loader: values.Value, key: int | str, hops: int = _HOPS) -> int | None:
    """The dimensions of one part of a loader's batches, by its place or its key."""
    call, home = loader.node, loader.source or source
    function = iteration.collate(source, loader) if hops > 0 else None
    if function is not None:
        return _same([_put_together(function.source, one, key, hops - 1) for one in calls.returned(function)])
    plain = isinstance(call, ast.Call) and all(
        tree.keyword(call, one) is None for one in ("collate_fn", "batch_sampler")
    )
    given = tree.argument(call, 0, "dataset") if plain and isinstance(call, ast.Call) else None
    if (
        given is None
        or key == ""
        or (isinstance(call, ast.Call) and tree.literal(tree.argument(call, 1, "batch_size")) is None)
    ):
        return None
    return _item(home, given, key, hops)


def _put_together(source: Source, back: ast.expr, key: int | str, hops: int) -> int | None:
    """One part of what a `collate_fn` gives back."""
    if isinstance(key, int):
        return _unpacked(source, back, (key,), hops)
    made = follow.followed(source, back)
    pairs = zip(made.keys, made.values, strict=True) if isinstance(made, ast.Dict) else ()
    return dims(source, next((v for k, v in pairs if tree.literal(k) == key), None), hops)


def _item(source: Source, data: ast.expr, key: int | str, hops: int) -> int | None:
    """One part of what a dataset gives, with the dimension of the batch."""
    if hops <= 0:
        return None
    found = [one for one in source.values(data) if one.kind != "none"]
    bound = scopes.reaching(source, data) if isinstance(data, ast.Name) else []
    split = bound[0].value if len(bound) == 1 and bound[0].path else None
    if isinstance(split, ast.Call) and source.name(split.func) in _PARTS and split.args:
        return _item(source, split.args[0], key, hops - 1)
    answers = list[int | None]()
    for one in found:
        made, home = one.node, one.source or source
        if isinstance(made, ast.Call) and one.name == "torch.utils.data.TensorDataset" and isinstance(key, int):
            answers.append(_column(home, made.args, key, hops))
        elif isinstance(made, ast.Call) and one.name in _PARTS and made.args:
            answers.append(_item(home, made.args[0], key, hops - 1))
        else:
            answers.append(_own_item(source, one, key, hops))
    return _same(answers)


def _column(source: Source, given: list[ast.expr], key: int, hops: int) -> int | None:
    """One tensor of `TensorDataset(x, y)` or `TensorDataset(*make(500))`."""
    if len(given) == 1 and isinstance(given[0], ast.Starred):
        return _unpacked(source, given[0].value, (key,), hops)
    starred = any(isinstance(one, ast.Starred) for one in given[: key + 1])
    return dims(source, given[key], hops) if key < len(given) and not starred else None


def _own_item(source: Source, data: values.Value, key: int | str, hops: int) -> int | None:
    owner = classes.class_behind(source, data)
    method = source.project.method(owner, "__getitem__") if owner is not None else None
    answers = list[int | None]()
    for one in calls.returned(method) if method is not None else ():
        value = follow.followed(method.source, one) if method is not None else one
        part: ast.expr | None = None
        if isinstance(value, ast.Tuple) and isinstance(key, int) and key < len(value.elts):
            part = value.elts[key]
        elif isinstance(value, ast.Dict):
            part = next((v for k, v in zip(value.keys, value.values, strict=True) if tree.literal(k) == key), None)
        answers.append(dims(method.source, part, hops) if method is not None else None)
    return _more(_same(answers))


def _part(source: Source, node: ast.Subscript, hops: int) -> int | None:
    """`x[:, 0]`, `x[i]`, `x[mask]`, `batch["y"]`."""
    key = tree.literal(follow.followed(source, node.slice))
    if isinstance(key, str) and dims(source, node.value, hops) == tables.FRAME:
        return 1
    if tables.is_columns(source, node.slice):
        return dims(source, node.value, hops)
    if isinstance(key, str) and isinstance(node.value, ast.Name):
        bound = scopes.reaching(source, node.value)
        walked = bound[0].value if len(bound) == 1 and bound[0].how == "for" else None
        made = source.values(iteration.unwrapped(source, walked)) if walked is not None else ()
        return _same([batch(source, one, key, hops) for one in made if one.kind == "loader"])
    size = dims(source, node.value, hops)
    if size is None or size == _CIRCLE:
        return size
    for one in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
        if isinstance(one, ast.Slice) or tree.literal(one) is Ellipsis:
            continue
        if tree.literal(one) is None:
            size += 1
            continue
        inner = dims(source, one, hops)
        if inner not in (0, 1):
            return None
        size -= 1 - inner
    return size if size >= 0 else None


def _attribute(source: Source, node: ast.Attribute, hops: int) -> int | None:
    if (known := tables.member(source, node)) is not None:
        return known
    if node.attr in ("T", "data", "real", "values", "iloc", "loc"):
        return dims(source, node.value, hops)
    owners = [classes.class_behind(source, one) for one in source.values(node.value)]
    found = [one for owner in owners if owner is not None for one in classes.assigned(owner, node.attr)]
    if not found or None in owners or any(one.how == "aug" for one in found):
        return None
    return _same([_unpacked(one.source, one.value, one.path, hops) if one.value is not None else None for one in found])


def _call(source: Source, call: ast.Call, hops: int) -> int | None:
    name = source.name(call.func)
    if name in _SCALARS or (follow.method(call) in ("item", "numel", "size") and not name):
        return 0
    if tables.is_frame(name):
        return tables.FRAME
    last = name.rpartition(".")[2]
    if name.startswith(("torch.", "numpy.")) and not name.startswith(("torch.nn.Mod", "torch.utils")):
        return _function(source, call, last, hops)
    layers = source.values(call.func)
    if layers and call.args and all(_keeps(one) for one in layers):
        return dims(source, call.args[0], hops)
    if layers and call.args and all(one.name == "torch.nn.Embedding" for one in layers):
        return _more(dims(source, call.args[0], hops))
    made = origin.behind(source, call)
    if made is not None and made.node.name == "forward" and call.args and dims(source, call.args[0], hops) is None:
        return None  # what others give it says nothing of this call
    if made is not None and hops:
        return _same([dims(made.source, one, hops - 1) for one in calls.returned(made)])
    return _method(source, call, hops) if isinstance(call.func, ast.Attribute) else None


def _keeps(layer: Value) -> bool:
    """A layer that gives as many dimensions as it gets, and a chain of such."""
    if layer.kind == "sequential":
        return bool(layer.items) and all(one.name in _LAYERS for part in layer.items for one in part)
    return layer.name in _LAYERS


def _function(source: Source, call: ast.Call, last: str, hops: int) -> int | None:
    first = call.args[0] if call.args else None
    if last in _LINES:
        return 1
    if (last in _MAKE or last in _SIZED) and (known := _sized(source, call, last)) is not None:
        return known
    if last == "stack" and first is not None:
        return dims(source, first, hops)  # the list has one more than its tensors, and so has the result
    if last in ("cat", "concat", "concatenate") and first is not None:
        inner = dims(source, first, hops)
        return inner - 1 if inner and inner > 1 else None
    if last in ("maximum", "minimum", "where", "pow") and len(call.args) > 1:
        return _widest([dims(source, one, hops) for one in call.args])
    if last in _REDUCE and first is not None:
        return _reduced(call, dims(source, first, hops), 1)
    if last in _KEEP or last in _WRAPS:
        return dims(source, first, hops) if not (last == "Tensor" and len(call.args) > 1) else len(call.args)
    return None


def _sized(source: Source, call: ast.Call, last: str) -> int | None:
    """The sizes that a tensor is made with; a single 1 goes with everything."""
    size = tree.argument(call, None, "size") or tree.argument(call, None, "shape")
    if size is None and last in _MAKE:
        size = call.args[0] if len(call.args) == 1 else None
        if size is None and call.args and not any(isinstance(one, ast.Starred) for one in call.args):
            return len(call.args)
    elif size is None:
        tuples = [one for one in call.args if isinstance(one, ast.Tuple | ast.List)]
        size = tuples[0] if tuples else call.args[2] if len(call.args) == 3 else None
    if size is None:
        return None
    size = follow.followed(source, size)
    if isinstance(size, ast.Attribute) and size.attr == "shape":
        return dims(source, size.value)  # as large as another one
    if isinstance(size, ast.Call) and not size.args and follow.method(size) == "size":
        return dims(source, tree.receiver(size))
    if isinstance(size, ast.Tuple | ast.List):
        sizes = [tree.literal(one) for one in size.elts]
        return None if sizes == [1] or any(isinstance(one, ast.Starred) for one in size.elts) else len(sizes)
    whole = tree.literal(size)
    number = (
        (isinstance(whole, int) and whole != 1) or values.sure(source, size, "number") or isinstance(size, ast.Name)
    )
    return 1 if number else None


def _method(source: Source, call: ast.Call, hops: int) -> int | None:
    name, owner = follow.method(call), tree.receiver(call)
    drawn = values.maybe(source, owner, "nprng", weak=False) or tree.dotted(owner) in ("rng", "self.rng")
    if drawn and (name in _SIZED or name in _MAKE):
        return _sized(source, call, name)
    given = call.args[0].elts if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple | ast.List) else call.args
    if name in ("view", "reshape", "permute", "repeat", "expand", "tile"):
        return len(given) if given and not any(isinstance(one, ast.Starred) for one in given) else None
    if name in ("flatten", "ravel"):
        return 1 if not call.args else None
    if name in ("view_as", "expand_as", "reshape_as"):
        return dims(source, call.args[0], hops) if call.args else None
    if name in tables.TRANSFORMS and call.args:
        return dims(source, call.args[0], hops)
    size = dims(source, owner, hops)
    if size is None or size == _CIRCLE or name in tables.KEEP:
        return size
    if name in ("unsqueeze", "unfold"):
        return size + 1
    if name == "squeeze" and size > 1 and call.args and tree.literal(call.args[0]) in (-1, size - 1):
        return size - 1 if (values.shape(source, owner) or ())[-1:] == (1,) else None
    if name in _REDUCE:
        return _reduced(call, size, 0)
    same = name in _KEEP or name in ("t", "transpose", "gather", "index_select") or name.endswith("_")
    return size if same and name not in ("unsqueeze_", "squeeze_") else None


def _reduced(call: ast.Call, size: int | None, skip: int) -> int | None:
    """After a sum, a mean and so on over all, one or several dimensions."""
    dim = tree.argument(call, skip, "dim") or tree.argument(call, None, "axis")
    keeps = tree.keyword(call, "keepdim") or tree.keyword(call, "keepdims") or len(call.args) > skip + 1
    if size is not None and isinstance(keeps, ast.keyword) and tree.literal(keeps.value) is True:
        return size
    if dim is None or size is None or keeps:
        return 0 if dim is None and not keeps else None
    known = tree.literal(dim)
    lost = len(known) if isinstance(known, tuple | list) else 1 if isinstance(known, int) else None
    return size - lost if lost is not None and size >= lost else None

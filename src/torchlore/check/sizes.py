"""The sizes of a tensor as the user names them, through views, swaps, products and `b, n, d = x.shape`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from torchlore.check import calls, classes, flow, follow, project, scopes, tree, uses, values
from torchlore.check.project import as_function

if TYPE_CHECKING:
    from torchlore.check.source import Source

Sizes = tuple[str, ...]  # the user's own text for each dimension; () where it is not known
_KEEPS = {"contiguous", "clone", "float", "half", "bfloat16", "to", "cuda", "cpu", "detach", "double", "type_as",
          "softmax", "relu", "tanh", "sigmoid", "dropout", "masked_fill", "astype", "copy"}  # fmt: skip
_KEEPING = {f"torch.{name}" for name in ("softmax", "relu", "tanh", "sigmoid", "nn.functional.softmax",
            "nn.functional.dropout", "nn.functional.relu", "nn.functional.gelu", "nn.functional.normalize")}  # fmt: skip
PICTURE = ("height", "width", "3")  # as it is read
_READS_BGR = {"None", "1", "cv2.IMREAD_COLOR"}
_SWAPS = {"transpose", "swapaxes", "swapdims", "permute"}
PLACES = ("batch", "channels", "places")  # a picture whose places were made one row: `x.flatten(2)`
_LAYERS = {f"torch.nn.{name}" for name in ("LayerNorm", "Dropout", "Identity", "GELU", "ReLU", "TransformerEncoderLayer",
           "TransformerEncoder")}  # fmt: skip


def asked(source: Source, call: ast.Call) -> Sizes:
    """The sizes that a view or reshape asks for."""
    parts = _parts(call)
    return () if any(isinstance(part, ast.Starred) for part in parts) else tuple(source.code(part) for part in parts)


def sizes(source: Source, node: ast.expr, hops: int = 16) -> Sizes:
    """The sizes of a tensor, () where they cannot be told."""
    if hops == 0:
        return ()
    if isinstance(node, ast.Name):
        value = follow.binding(source, node)
        found = sizes(source, value, hops - 1) if value is not None else _part(source, node, hops - 1)
        named = _unpacked(source, node) if not found or found == PICTURE else ()  # `h, w, c = img.shape` knows better
        return named or found
    if isinstance(node, ast.Subscript) and tree.literal(node.slice) == 0 and isinstance(node.value, ast.Call):
        return _attended(source, node.value, hops - 1)
    if isinstance(node, ast.Subscript) and (isinstance(tree.literal(node.slice), int) or _is_place(source, node.slice)):
        return sizes(source, node.value, hops - 1)[1:]  # `q` of `qkv[0]`
    if isinstance(node, ast.Attribute):
        return _kept(source, node, hops - 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        left, right = sizes(source, node.left, hops - 1), sizes(source, node.right, hops - 1)
        flat = follow.method(node.right) == "t" or (isinstance(node.right, ast.Attribute) and node.right.attr == "T")
        right = right or (("features",) if flat else ())  # `x @ table.t()`: a matrix, and no vector
        return (*left[:-1], right[-1]) if left and right else ()
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div) and _is_scalar(node.right):
        return sizes(source, node.left, hops - 1)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _of_call(source, node, node.func, hops - 1) or _through(source, node, hops - 1)
    return _through(source, node, hops - 1) if isinstance(node, ast.Call) else ()


_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def _is_place(source: Source, index: ast.expr) -> bool:
    """Whether an index is the number that a data set is asked for."""
    found = scopes.reaching(source, index) if isinstance(index, ast.Name) else []
    home = tree.function(source, index)
    return home is not None and home.name == "__getitem__" and [one.how for one in found] == ["parameter"]


def _kept(source: Source, node: ast.Attribute, hops: int) -> Sizes:
    """Sizes of `self.images`, made once in this class; names of the method that made it mean nothing here."""
    cls = project.enclosing_class(source, node) if tree.dotted(node.value) == "self" else None
    made = classes.own_attributes(cls).get(node.attr, []) if cls is not None else []
    value = made[0].value if len(made) == 1 and made[0].how == "assign" and not made[0].path else None
    found = sizes(source, value, hops) if value is not None else ()
    return tuple(one if one.isdigit() else f"self.{node.attr}.{place}" for place, one in enumerate(found))


def _through(source: Source, call: ast.Call, hops: int) -> Sizes:
    """Sizes of what a function of the project gives back in one place, `self.split(q)`, in the names of its caller."""
    inner = flow.called(source, call) if hops > 4 and not tree.spread(call) else None
    back = calls.returned(inner) if inner is not None else []
    if inner is None or len(back) != 1 or inner.node.name in ("__init__", "forward"):
        return ()
    found = sizes(inner.source, back[0], hops // 2)
    skip = 1 if inner.owner is not None and tree.dotted(call.func).startswith("self.") else 0
    known = {"self": "self"} if skip else {}
    free = (
        inner.owner is None and tree.function(source, inner.node) is not None if inner.node in source.parents else False
    )
    for arg in tree.parameters(inner.node)[skip:] if found else ():
        given = calls.given_argument(inner, call, arg, skip)
        known |= {arg.arg: source.code(given)} if isinstance(given, ast.Name | ast.Attribute | ast.Constant) else {}
        names = next((sized for name, sized in _unpackings(inner.source) if _is_arg(inner.source, name, arg)), ())
        outer = sizes(source, given, hops // 2) if names and given is not None else ()
        known |= dict(zip(names, outer, strict=True)) if len(names) == len(outer) else {}
    words = {word for size in found for word in _WORD.findall(size)} - {"features", "channels"}
    if not free and not words <= known.keys():
        return ()
    return tuple(_WORD.sub(lambda word: known.get(word[0], word[0]), size) for size in found)


def _is_arg(source: Source, name: ast.Name, arg: ast.arg) -> bool:
    """Whether a name still is what the function was given."""
    return name.id == arg.arg and [one.node for one in scopes.reaching(source, name)] == [arg]


def _of_call(source: Source, call: ast.Call, func: ast.Attribute, hops: int) -> Sizes:
    if made := _made(source, call, hops) or _picture(source, call, func, hops):
        return made
    if source.name(call.func) in _KEEPING:
        return sizes(source, call.args[0], hops) if call.args else ()
    if source.name(call.func) in ("torch.matmul", "torch.bmm") and len(call.args) == 2:
        left, right = sizes(source, call.args[0], hops), sizes(source, call.args[1], hops)
        return (*left[:-1], right[-1]) if left and right else ()
    if source.name(call.func) == "torch.nn.functional.scaled_dot_product_attention" and len(call.args) > 2:
        query, value = sizes(source, call.args[0], hops), sizes(source, call.args[2], hops)
        return (*query[:-1], value[-1]) if query and value else ()
    if source.name(call.func) in ("torch.cat", "torch.concat"):
        return _joined(source, call, hops)
    if func.attr in {"view", "reshape"}:
        return asked(source, call)
    if func.attr == "flatten" and [tree.literal(one) for one in call.args] == [2] and not call.keywords:
        return PLACES
    if func.attr == "squeeze" and len(call.args) == 1:
        whole, out = sizes(source, func.value, hops), tree.literal(call.args[0])
        inside = isinstance(out, int) and -len(whole) <= out < len(whole)
        return (
            tuple(one for place, one in enumerate(whole) if not inside or place != out % len(whole)) if inside else ()
        )  # type: ignore[operator]  # a number
    known = sizes(source, func.value, hops) if func.attr in _KEEPS | _SWAPS else ()
    if func.attr not in _SWAPS or not known:
        return known
    dims = [tree.literal(part) for part in _parts(call)]
    return _moved(known, dims, swap=func.attr != "permute")


def _joined(source: Source, call: ast.Call, hops: int) -> Sizes:
    """Sizes of several tensors behind each other: those of the first, with more rows."""
    parts = call.args[0].elts if call.args and isinstance(call.args[0], ast.List | ast.Tuple) else []
    behind = tree.lacks(call, 1, "dim") or tree.literal(tree.argument(call, 1, "dim")) == 0
    one = sizes(source, parts[0], hops) if parts and behind and not isinstance(parts[0], ast.Starred) else ()
    return (f"{one[0]} * {len(parts)}", *one[1:]) if len(one) > 1 else ()


_MAKES = {f"{room}.{name}" for room in ("torch", "numpy", "numpy.random") for name in
          ("zeros", "ones", "empty", "rand", "randn", "random")}  # fmt: skip
_DRAWS = {"numpy.random.randint", "numpy.random.uniform", "numpy.random.normal"}
_CONVOLUTIONS = ("torch.nn.Conv1d", "torch.nn.Conv2d", "torch.nn.Conv3d")
_TAKES = {"torch.from_numpy", "torch.tensor", "torch.as_tensor", "numpy.array", "numpy.asarray", "numpy.float32"}


def _made(source: Source, call: ast.Call, hops: int) -> Sizes:
    """Sizes of a tensor or array where it is made; those of a linear layer's output but for the last."""
    full = source.name(call.func)
    if full in _MAKES:
        first = call.args[0] if call.args else None
        parts = first.elts if isinstance(first, ast.Tuple | ast.List) else call.args
        return (
            () if any(isinstance(part, ast.Starred) for part in parts) else tuple(source.code(part) for part in parts)
        )
    if full in _DRAWS:
        drawn = tree.argument(call, 2, "size")
        return tuple(source.code(part) for part in drawn.elts) if isinstance(drawn, ast.Tuple) else ()
    if full in _TAKES:
        return sizes(source, call.args[0], hops) if call.args else ()
    before = sizes(source, call.args[0], hops) if len(call.args) == 1 and not full else ()
    if not before or values.made_by(source, call.func, *_LAYERS) is not None:
        return before
    if (made := values.made_by(source, call.func, "torch.nn.Linear", "torch.nn.Embedding")) is not None:
        return (*before, "features") if made.name == "torch.nn.Embedding" else (*before[:-1], "features")
    made = values.made_by(source, call.func, *_CONVOLUTIONS) if len(before) > 2 else None
    return (before[0], "channels", *before[2:]) if made is not None and _keeps_places(made.node) else ()


def _keeps_places(made: ast.AST | None) -> bool:
    """Whether a convolution gives as many places as it gets: `Conv2d(3, 8, 5, padding=2)`."""
    if not isinstance(made, ast.Call) or not tree.lacks(made, 3, "stride") or not tree.lacks(made, 5, "dilation"):
        return False
    kernel, padding = (
        tree.literal(tree.argument(made, place, name)) for place, name in ((2, "kernel_size"), (4, "padding"))
    )
    return padding == "same" or (isinstance(kernel, int) and kernel % 2 == 1 and (padding or 0) == kernel // 2)


def _picture(source: Source, call: ast.Call, func: ast.Attribute, hops: int) -> Sizes:
    """Sizes of a picture in colours as OpenCV or PIL read and resize it; both take (width, height) and give (height, width, 3)."""
    full = source.name(func)
    if full == "cv2.imread":
        flag = tree.argument(call, 1, "flags")
        return PICTURE if (source.code(flag) if flag is not None else "None") in _READS_BGR else ()
    if full == "cv2.cvtColor" and len(call.args) == 2 and source.code(call.args[1]).endswith(("BGR2RGB", "RGB2BGR")):
        return sizes(source, call.args[0], hops)
    if not full and func.attr == "convert" and call.args and tree.literal(call.args[0]) == "RGB":
        return (*sizes(source, func.value, hops)[:2], "3") if sizes(source, func.value, hops) else PICTURE
    if func.attr != "resize" or (full and full != "cv2.resize"):
        return ()
    image, new = (
        (func.value, call.args[:1]) if not full else (call.args[0], call.args[1:2]) if call.args else (None, [])
    )
    known = sizes(source, image, hops) if image is not None else ()
    asked_for = new[0].elts if new and isinstance(new[0], ast.Tuple) and len(new[0].elts) == 2 else []
    return (source.code(asked_for[1]), source.code(asked_for[0]), "3") if asked_for and known[2:] == ("3",) else ()


def _attended(source: Source, call: ast.Call, hops: int) -> Sizes:
    """Sizes of what an attention gives first: those of its queries."""
    made = values.made_by(source, call.func, "torch.nn.MultiheadAttention") if call.args else None
    return sizes(source, call.args[0], hops) if made is not None else ()


def _part(source: Source, name: ast.Name, hops: int) -> Sizes:
    """Sizes of `k` in `q, k, v = qkv.chunk(3, dim=-1)`, but for the last those of the whole, and of `t` in `t, _ = attention(t, t, t)`."""
    found = scopes.reaching(source, name)
    one = found[0] if len(found) == 1 else None
    if one is None or one.value is None or len(one.path) != (one.how != "comprehension"):
        return ()
    made = one.value
    if one.path == (0,) and isinstance(made, ast.Call) and (queries := _attended(source, made, hops)):
        return queries
    if isinstance(made, ast.GeneratorExp | ast.ListComp) and len(made.generators) == 1:
        return sizes(source, made.elt, hops)  # `q, k, v = (self.split(t) for t in qkv)`
    if isinstance(made, ast.Tuple | ast.List) and one.how == "comprehension":
        each = {sizes(source, part, hops) for part in made.elts}
        return each.pop() if len(each) == 1 else ()
    if follow.method(made) == "chunk" and isinstance(made, ast.Call):
        last = tree.literal(tree.argument(made, 1, "dim")) == -1
        whole = sizes(source, tree.receiver(made), hops) if last else ()
        return (*whole[:-1], "features") if whole else ()
    if follow.method(made) == "unbind" and isinstance(made, ast.Call):
        first = tree.lacks(made, 0, "dim") or tree.literal(tree.argument(made, 0, "dim")) == 0
        return sizes(source, tree.receiver(made), hops)[1:] if first else ()
    return sizes(source, made, hops)[1:] if isinstance(made, ast.Name) or follow.method(made) in _SWAPS else ()


def _parts(call: ast.Call) -> list[ast.expr]:
    one = call.args[0] if len(call.args) == 1 else None
    return one.elts if isinstance(one, ast.Tuple | ast.List) else call.args


def _is_scalar(node: ast.expr) -> bool:
    root = isinstance(node, ast.Call) and tree.dotted(node.func) in ("math.sqrt", "np.sqrt", "sqrt")
    return root or isinstance(node, ast.Constant) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow))


def _moved(known: Sizes, dims: list[Any], *, swap: bool) -> Sizes:
    if not all(isinstance(dim, int) and -len(known) <= dim < len(known) for dim in dims):
        return ()
    if not swap:
        return tuple(known[dim] for dim in dims) if len(dims) == len(known) else ()
    if len(dims) != 2:
        return ()
    moved = list(known)
    moved[dims[0]], moved[dims[1]] = moved[dims[1]], moved[dims[0]]
    return tuple(moved)


def _unpacked(source: Source, name: ast.Name) -> Sizes:
    """The names that `b, n, d = x.shape` gave to the sizes of this very `x`."""
    here = scopes.reaching(source, name)
    above = [one for one in _unpackings(source) if one[0].id == name.id and one[0].lineno < name.lineno]
    for owner, names in sorted(above, key=lambda one: -one[0].lineno):  # the nearest knows best
        if here and not follow.exclusive(source, owner, name) and scopes.reaching(source, owner) == here:
            return names
    return ()


def _unpackings(source: Source) -> list[tuple[ast.Name, Sizes]]:
    found: list[tuple[ast.Name, Sizes]] | None = source.memo.get("sizes.unpacked")
    if found is None:
        found = source.memo["sizes.unpacked"] = []
        for assign in uses.assigns(source, ast.Tuple):
            value, target = assign.value, assign.targets[0]
            value = value.func if isinstance(value, ast.Call) and not value.args else value
            if not isinstance(value, ast.Attribute) or value.attr not in {"shape", "size"}:
                continue
            names = (
                [part.id for part in target.elts if isinstance(part, ast.Name)] if isinstance(target, ast.Tuple) else []
            )
            names = [*names[:-1], "features"] if names[-1:] == ["_"] else names
            whole = isinstance(target, ast.Tuple) and len(names) == len(target.elts) and "_" not in names
            if whole and isinstance(value.value, ast.Name):
                found.append((value.value, tuple(names)))
    return found


def is_last_state(source: Source, node: ast.expr) -> bool:
    """Whether this is the last state of a recurrent net of several layers or directions, or its last two rows: (rows, batch, hidden)."""
    two = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and tree.literal(node.slice.lower) == -2
    found = _states(source, node.value if two and isinstance(node, ast.Subscript) else node, 3)
    return bool(found) and all(_is_deep(value, rows=two) for value in found)


def _states(source: Source, node: ast.expr, hops: int) -> values.Values:
    """The recurrent nets whose last state this is: `h` of `out, h = rnn(x)`, of `out, (h, c) = rnn(x)`, of `h, c = state`."""
    found = scopes.reaching(source, node) if isinstance(node, ast.Name) and hops else []
    one = found[0] if len(found) == 1 else None
    if one is not None and one.how == "parameter":
        return _given(source, node, one, hops)
    if one is None or one.value is None or one.how != "assign":
        return ()
    if isinstance(one.value, ast.Name):
        return _states(source, one.value, hops - 1) if len(one.path) < 2 else ()
    return values.values(source, one.value.func) if isinstance(one.value, ast.Call) and one.path[:1] == (1,) else ()


def _given(source: Source, node: ast.expr, one: scopes.Binding, hops: int) -> values.Values:
    """The same, of what the callers give to a parameter; nothing where one of them gives something else."""
    home = tree.function(source, node)
    if home is None or not isinstance(one.node, ast.arg):
        return ()
    inner = as_function(source, home)
    given = [(where, calls.given_argument(inner, call, one.node, skip)) for where, call, skip in calls.callers(inner)]
    found = [_states(where, arg, hops - 1) if arg is not None else () for where, arg in given]
    return tuple(value for part in found for value in part) if all(found) else ()


def _is_deep(value: values.Value, *, rows: bool) -> bool:
    if value.name not in {"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"} or not isinstance(value.node, ast.Call):
        return False
    layers = tree.literal(tree.argument(value.node, 2, "num_layers"))
    both = tree.literal(tree.argument(value.node, None, "bidirectional"))
    return rows or both is True or (isinstance(layers, int) and layers > 1)

"""The rule of discarded-tensor-op."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, grouped, lessons, tree, values
from torchlore.check.source import Hit, Source

_SHAPE = {"view", "reshape", "unsqueeze", "squeeze", "permute", "transpose", "flatten", "expand", "expand_as", "repeat",
          "contiguous", "t", "flip", "roll"}  # fmt: skip
_VALUE = {"clamp", "clip", "clamp_min", "clamp_max", "masked_fill", "index_fill", "masked_scatter", "scatter", "scatter_add",
          "index_add", "index_copy", "add", "sub", "mul", "div", "neg", "abs", "exp", "log", "sqrt", "pow", "round",
          "floor", "ceil", "relu", "sigmoid", "tanh", "softmax", "log_softmax", "tril", "triu", "nan_to_num", "fill_diagonal",
          "detach", "clone", "requires_grad", "normal", "lerp"}  # fmt: skip
_PURE = {"argmax", "argmin", "cat", "concat", "stack", "matmul", "bmm", "mm", "where", "gather", "einsum", "topk", "cumsum",
         "normalize", "one_hot", "interpolate", "pad", "dropout", "gelu"}  # fmt: skip  # as functions of torch
_INSTEAD = {
    "normalize",
    "interpolate",
    "pad",
    "dropout",
    "gelu",
}  # of these the result takes the place of what was given
_ALL = _SHAPE | _VALUE | _PURE
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_NEW_SETS = {"shuffle", "filter", "map", "select", "sort", "remove_columns", "rename_column", "rename_columns", "with_format",
             "with_transform", "cast", "cast_column", "class_encode_column", "flatten", "shard", "take", "skip"}  # fmt: skip
_LOADS = {"datasets.load_dataset", "datasets.load_from_disk"}
_PICTURES = {
    "numpy": {"flip", "fliplr", "flipud", "rot90", "roll", "transpose", "swapaxes", "moveaxis", "expand_dims", "squeeze",
              "reshape", "append", "insert", "delete", "pad", "tile", "repeat", "nan_to_num"},
    "cv2": {"flip", "rotate", "resize", "cvtColor", "GaussianBlur", "copyMakeBorder"},
    "torchvision.transforms.functional": {"hflip", "vflip", "rotate", "resize", "crop", "center_crop", "pad", "to_tensor"},
}  # fmt: skip  # none of them changes the array or picture it is given
_OF_PICTURES = {name for names in _PICTURES.values() for name in names}
_NO_TWIN = {"softmax", "log_softmax", "clone"}
_UNMISTAKABLE = {"unsqueeze", "masked_fill", "index_fill", "masked_scatter", "log_softmax", "clamp_min", "clamp_max"}


def _in_place(source: Source, call: ast.Call) -> bool:
    """`F.relu(x, True)`."""
    last = tree.literal(call.args[-1]) if len(call.args) > 1 else None
    return last is True and source.name(call.func).startswith("torch.nn.functional.")


def _divided(source: Source) -> Iterator[Hit]:
    """`p.grad / world` as a statement of its own."""
    for node in (one.value for one in source.all(ast.Expr)):
        if not isinstance(node, ast.BinOp) or not isinstance(node.left, ast.Name | ast.Attribute | ast.Subscript):
            continue
        named = isinstance(node.left, ast.Attribute) and source.code(node.left).endswith((".grad", ".grad.data"))
        sign = _SIGNS.get(type(node.op))
        plain = not tree.is_shown(source, node) and not follow.in_test(source, node) and "torch" in source.text
        plain = plain and not lessons.typed_in(source, node) and not lessons.again_and_again(source, node)
        if sign is None or not plain or not (named or values.sure(source, node.left, "tensor")):
            continue
        if not any(isinstance(up, ast.Try | ast.With) for up in tree.ancestors(source, node)):
            left, right = source.code(node.left), source.code(node.right)
            yield source.hit(
                node, f"the result of `{left} {sign} {right}` is thrown away: write `{left} {sign}= {right}`"
            )


def _of_datasets(source: Source) -> Iterator[Hit]:
    """`dataset.shuffle(seed=1)` of a Hugging Face data set, each of whose methods gives another one back."""
    for name, calls in grouped.alone(source).items():
        for call in calls if name in _NEW_SETS - {"map"} else ():  # a map may be there for what its function writes
            whole = tree.receiver(call)
            made = follow.followed(source, whole)
            while isinstance(made, ast.Subscript) or (isinstance(made, ast.Call) and follow.method(made) in _NEW_SETS):
                made = follow.followed(source, made.value if isinstance(made, ast.Subscript) else tree.receiver(made))
            loads = isinstance(made, ast.Call) and source.name(made.func) in _LOADS
            if (
                loads
                and isinstance(whole, ast.Name)
                and not tree.is_shown(source, call)
                and not follow.in_test(source, call)
            ):
                told = f"`{name}` gives back another data set and `{whole.id}` stays as it is: write `{whole.id} = {whole.id}.{name}(...)`"
                yield source.hit(call, told, severity="warning")


def find(source: Source) -> Iterator[Hit]:
    yield from (*_divided(source), *_pictures(source))
    yield from _of_datasets(source) if "load_dataset" in source.text or "load_from_disk" in source.text else ()
    for name, call in ((name, call) for name, calls in grouped.alone(source).items() if name in _ALL for call in calls):
        func, tensor = call.func, tree.receiver(call)
        if tree.keyword(call, "out") or tree.keyword(call, "inplace") or _in_place(source, call):
            continue
        if source.name(func) in {f"torch.{name}", f"torch.nn.functional.{name}"}:
            tensor = call.args[0] if call.args else tensor
        elif name in _PURE or not _is_tensor(source, tensor, name):
            continue
        if source.name(func) == "torch.normal" and tree.keyword(call, "generator"):
            continue  # drawn to move the generator on
        if tree.is_shown(source, call) or lessons.tried_out(source, call) or lessons.typed_in(source, call):
            continue
        if isinstance(tensor, ast.List | ast.Tuple) and len(tensor.elts) == 1:
            continue  # `torch.cat([x])` gives `x`
        if _done_again(source, call) or (name in _SHAPE and _shaped_again(source, call, tensor)):
            continue
        code = " ".join(source.code(call).split())  # one line, however it is written
        named = isinstance(tensor, ast.Name | ast.Attribute | ast.Subscript) and name not in _PURE - _INSTEAD
        named = named and source.name(tensor) != "torch"  # `torch.normal(mean=0, std=1)`
        twin = f", or `{name}_` to change it in place" if named and name in _VALUE - _NO_TWIN else ""
        name_it = source.code(tensor) if named else "result"
        told = f"the result of `{code}` is thrown away: write `{name_it} = {code}`{twin}"
        # where the order in memory matters, `view` raises
        severity = (
            "hint" if name == "contiguous" else "warning" if name in _SHAPE else None
        )  # the same numbers: they may broadcast
        yield source.hit(call, told, severity=severity)


def _pictures(source: Source) -> Iterator[Hit]:
    """`np.fliplr(img)` as a statement of its own."""
    lone = grouped.alone(source)
    for call in (one for name in _OF_PICTURES & lone.keys() for one in lone[name]):
        room, _, name = source.name(call.func).rpartition(".")
        if name not in _PICTURES.get(room, ()) or not call.args or tree.spread(call):
            continue
        kept = {one.arg for one in call.keywords} & {"out", "dst", "copy"} or (room == "cv2" and len(call.args) > 2)
        if kept or tree.is_shown(source, call) or lessons.tried_out(source, call) or lessons.typed_in(source, call):
            continue
        if not _done_again(source, call):
            code, first = " ".join(source.code(call).split()), source.code(call.args[0])
            told = f"the result of `{code}` is thrown away: write `{first} = {code}`"
            yield source.hit(call, told, severity="warning")


def _next(source: Source, call: ast.Call) -> list[ast.stmt]:
    """The statement behind that of the call."""
    held = tree.statement(source, call)
    block: list[ast.stmt] = getattr(source.parents[held], "body", [])
    return block[block.index(held) + 1 : block.index(held) + 2] if held in block else []


def _done_again(source: Source, call: ast.Call) -> bool:
    """`torch.stack(parts)`, and `self.mean = torch.stack(parts).detach()` on the next line: nothing is lost."""
    return any(source.code(call) in source.code(one) for one in _next(source, call) if isinstance(one, ast.Assign))


def _shaped_again(source: Source, call: ast.Call, tensor: ast.expr) -> bool:
    """`x.view(n, -1)`, and `x = x.view(b, t, -1)` on the next line: nothing is lost."""
    code, after = source.code(tensor), _next(source, call)
    same = [one for one in after if isinstance(one, ast.Assign) and source.code(one.targets[0]) == code]
    inner = (call for one in same for call in tree.under(source, one, ast.Call))
    return any(follow.method(one) in _SHAPE and source.code(tree.receiver(one)) == code for one in inner)


def _is_tensor(source: Source, node: ast.expr, name: str) -> bool:
    return values.sure(source, node, "tensor") or (name in _UNMISTAKABLE and not values.kind(source, node))

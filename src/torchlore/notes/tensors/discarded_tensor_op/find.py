"""The rule of discarded-tensor-op."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree, values
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
_NO_TWIN = {"softmax", "log_softmax", "clone"}
_UNMISTAKABLE = {"unsqueeze", "masked_fill", "index_fill", "masked_scatter", "log_softmax", "clamp_min", "clamp_max"}
_CLOCKS = {"time", "perf_counter", "synchronize", "Timer", "Event", "record", "timeit"}
_TESTS = ("raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "assertLogs", "FileCheck", "profile")


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods(*_SHAPE, *_VALUE, *_PURE):
        if not tree.is_statement(source, call) or tree.is_shown(source, call) or _on_purpose(source, call):
            continue
        if tree.function(source, call) is None and _shows_off(source):
            continue
        func, tensor = call.func, tree.receiver(call)
        name = func.attr if isinstance(func, ast.Attribute) else ""
        if tree.keyword(call, "out") or tree.keyword(call, "inplace"):
            continue
        if source.name(func) in {f"torch.{name}", f"torch.nn.functional.{name}"}:
            tensor = call.args[0] if call.args else tensor
        elif name in _PURE or not _is_tensor(source, tensor, name):
            continue
        code = source.code(call)
        named = isinstance(tensor, ast.Name | ast.Attribute | ast.Subscript) and name not in _PURE - _INSTEAD
        twin = f", or `{name}_` to change it in place" if named and name in _VALUE - _NO_TWIN else ""
        name_it = source.code(tensor) if named else "result"
        yield source.hit(call, f"the result of `{code}` is thrown away: write `{name_it} = {code}`{twin}")


def _is_tensor(source: Source, node: ast.expr, name: str) -> bool:
    return values.sure(source, node, "tensor") or (name in _UNMISTAKABLE and not values.kind(source, node))


def _shows_off(source: Source) -> bool:
    """A lesson that types one expression after the other, as into a console."""
    bare = [one.value for one in source.tree.body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    return (
        sum(follow.method(one) in _SHAPE | _VALUE | {"dim", "size", "mean", "sum", "numpy", "item"} for one in bare) > 2
    )


def _on_purpose(source: Source, call: ast.Call) -> bool:
    """Code that only wants to see whether the operation works, or how long it takes."""
    for up in tree.ancestors(source, call):
        if isinstance(up, ast.Try) or (isinstance(up, ast.FunctionDef) and up.name.startswith(("test", "bench"))):
            return True
        if isinstance(up, ast.With):
            names = (
                tree.dotted(item.context_expr.func) for item in up.items if isinstance(item.context_expr, ast.Call)
            )
            if any(name.rpartition(".")[2] in _TESTS for name in names):
                return True
    home = tree.function(source, call) or source.tree
    return any(follow.method(node) in _CLOCKS for node in tree.body_nodes(home))

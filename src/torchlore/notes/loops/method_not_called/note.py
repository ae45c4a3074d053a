"""`model.eval` without brackets is a look at the method, not a call: nothing happens.

The line runs, Python makes the bound method and throws it away. `optimizer.zero_grad` lets the gradients pile up,
`model.eval` leaves dropout on in validation, `loss.backward` and `optimizer.step` train nothing, `dist.barrier` waits
for nobody. `losses.append(loss.item)` fills the list with methods, and each of them holds its loss and the graph behind it. No tool that only looks for mistakes of syntax says a word.

Write the brackets: `model.eval()`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, tree, uses, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["training"] is True  # dropout stayed on
    assert good["training"] is False
    assert bad["outputs"] > 1
    assert good["outputs"] == 1


_ALWAYS = {"zero_grad", "backward"}
_METHODS = {
    "module": {
        "eval",
        "train",
        "cuda",
        "cpu",
        "half",
        "float",
        "double",
        "zero_grad",
        "share_memory",
        "requires_grad_",
    },
    "optimizer": {"step", "zero_grad"},
    "scheduler": {"step"},
    "scaler": {"update"},
    "tensor": {"backward", "detach_", "zero_", "cuda", "cpu", "item", "requires_grad_", "retain_grad"},
    "writer": {"flush", "close"},
}
_IN_PLACE = {"copy_", "fill_", "zero_", "normal_", "uniform_", "requires_grad_", "detach_", "mul_", "add_", "clamp_"}
_FUNCTIONS = {"torch.cuda.synchronize", "torch.cuda.empty_cache", "torch.distributed.barrier", "gc.collect",
              "torch.distributed.destroy_process_group", "torch.cuda.reset_peak_memory_stats"}  # fmt: skip


WORDS = (
    "|".join(sorted(_ALWAYS.union(_IN_PLACE, *_METHODS.values(), (one.rpartition(".")[2] for one in _FUNCTIONS)))),
)


def find(source: Source) -> Iterator[Hit]:
    for node in [one.value for one in source.all(ast.Expr) if isinstance(one.value, ast.Attribute)]:
        code = source.code(node)
        if _is_method(source, node) or source.name(node) in _FUNCTIONS:
            message = f"`{code}` without brackets calls nothing: write `{code}()`"
            yield source.hit(node, message, edits.append(source, node, "()"))
    for call in source.methods("append"):
        kept = call.args[0] if call.args else None
        if isinstance(kept, ast.Attribute) and kept.attr == "item" and _is_number(source, kept.value):
            told = f"`{source.code(kept)}` without brackets is a method that holds its tensor, and the graph behind it"
            yield source.hit(kept, f"{told}: write `{source.code(kept)}()`", edits.append(source, kept, "()"))
    for assign in uses.assigns(source, ast.Attribute):
        target = assign.targets[0]
        if (
            isinstance(target, ast.Attribute)
            and target.attr in _IN_PLACE
            and source.code(target.value) not in ("self", "cls")
            and not source.name(target.value).startswith("torch.")  # `init.normal_ = init.normal` for an old torch
        ):
            code, value = source.code(target), source.code(assign.value)
            told = f"this puts a value where the method `{code}` was, and changes no tensor: write `{code}({value})`"
            yield source.hit(assign, told, edits.replace(source, assign, f"{code}({value})"))


def _is_number(source: Source, node: ast.expr) -> bool:
    return values.sure(source, node, "tensor") or tree.dotted(node).endswith(("loss", "acc", "accuracy", "correct"))


def _is_method(source: Source, node: ast.Attribute) -> bool:
    if node.attr in _ALWAYS:
        return True
    for kind, methods in _METHODS.items():
        if node.attr in methods and values.sure(source, node.value, kind, weak=True):
            return True
    return False

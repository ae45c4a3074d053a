"""A test without its brackets, `if torch.cuda.is_available:`, is always true.

A function is an object, and an object is true. The branch for the missing GPU, the missing process group or the
disabled gradient is never taken: on a laptop the program then fails far away with "Found no NVIDIA driver", or quietly
does the wrong half of an `if`.

Call it: `torch.cuda.is_available()`, `dist.is_initialized()`, `torch.is_grad_enabled()`, `tensor.is_contiguous()`.
Passing the function on without calling it (`map(torch.is_tensor, xs)`) is of course fine. A few look like functions
and are properties: `tensor.is_cuda`, `tensor.is_leaf`, `tensor.requires_grad` take no brackets.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, follow, uses, values
from torchlore.check.source import Hit, Source

ROWS = ("env-cuda-available",)
SOURCES = ("003:40-43",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import torch

    assert bad["pinned"] is True  # whatever the machine has
    assert good["pinned"] is torch.cuda.is_available()
    assert bad["rank_zero_only"] is True
    assert good["rank_zero_only"] is False  # no process group was started
    assert bool(torch.cuda.is_available) is True
    assert isinstance(torch.ones(1).is_cuda, bool)  # a property: no brackets


_PREDICATES = {
    *(f"torch.{room}.is_available" for room in ("cuda", "xpu", "mps", "accelerator", "distributed", "backends.mps")),
    *(f"torch.backends.{room}.is_available" for room in ("cudnn", "mkldnn", "mkl", "openmp")),
    *(f"torch.backends.{room}.is_built" for room in ("cuda", "mps")),
    *(f"torch.cuda.{name}" for name in ("is_initialized", "is_bf16_supported", "is_current_stream_capturing")),
    *(f"torch.distributed.{name}" for name in ("is_initialized", "is_nccl_available", "is_torchelastic_launched")),
    *(f"torch.{name}" for name in ("is_grad_enabled", "is_inference_mode_enabled", "is_autocast_enabled")),
    *(f"torch.{name}" for name in ("are_deterministic_algorithms_enabled", "jit.is_scripting", "jit.is_tracing")),
    "torch.compiler.is_compiling",
}
_OF_TENSORS = {"is_contiguous", "is_floating_point", "is_complex", "is_pinned", "is_shared"}
_LAST = {full.rpartition(".")[2] for full in _PREDICATES} | _OF_TENSORS
_FLAGS = {"pin_memory", "enabled", "use_cuda", "fp16", "bf16", "cuda", "use_gpu", "disable"}

WORDS = ("|".join(sorted(_LAST)),)


def find(source: Source) -> Iterator[Hit]:
    names: list[ast.Attribute | ast.Name] = [*uses.any_attributes(source, _LAST)]
    imported = follow.may_be_spelled(source, _PREDICATES)
    spelled = (one for one in uses.identifiers(source) if one.startswith(("is_", "are_"))) if imported else ()
    names += [node for one in spelled for node in uses.names(source, one)]
    for node in names:
        up = source.parents[node]
        if not isinstance(node.ctx, ast.Load) or (isinstance(up, ast.Call) and up.func is node):
            continue
        asked = _is_truth(source, node) or (isinstance(up, ast.Assign) and _tested_later(source, up))
        if asked and _is_predicate(source, node):
            code = source.code(node)
            message = f"`{code}` without brackets is the function itself, which is always true: write `{code}()`"
            yield source.hit(node, message, edits.append(source, node, "()"))


def _is_predicate(source: Source, node: ast.Attribute | ast.Name) -> bool:
    last = node.attr if isinstance(node, ast.Attribute) else node.id
    if isinstance(node, ast.Attribute) and last in _OF_TENSORS:
        named = source.code(node.value).endswith("dtype")  # a dtype has properties of the same names
        return not named and values.sure(source, node.value, "tensor")
    return last.startswith(("is_", "are_")) and source.name(node) in _PREDICATES


def _is_truth(source: Source, node: ast.expr) -> bool:
    up = source.parents[node]
    if isinstance(up, ast.If | ast.While | ast.IfExp | ast.Assert):
        return up.test is node
    if isinstance(up, ast.Call):
        return source.name(up.func) == "bool"
    if isinstance(up, ast.keyword):
        return up.arg in _FLAGS
    if isinstance(up, ast.comprehension):
        return node in up.ifs
    return isinstance(up, ast.BoolOp) or (isinstance(up, ast.UnaryOp) and isinstance(up.op, ast.Not))


def _tested_later(source: Source, assign: ast.Assign) -> bool:
    target = assign.targets[0]
    if not isinstance(target, ast.Name):
        return False
    reads = [name for name in uses.names(source, target.id) if isinstance(name.ctx, ast.Load)]
    called = any(isinstance(up := source.parents[use], ast.Call) and up.func is use for use in reads)
    return not called and any(_is_truth(source, use) for use in reads)

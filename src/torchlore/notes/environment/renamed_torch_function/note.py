"""Names that still work and warn: nn.init without an underscore, memory_cached, F.upsample and others.

They run today, some with a warning that is printed once and scrolls away, some in silence. One day they are gone, as
`torch.symeig` is, and the code that breaks is code nobody has touched for years.

| old | write |
| --- | --- |
| `nn.init.xavier_uniform(w)` and the other fillers | the same with an underscore: `nn.init.xavier_uniform_(w)` |
| `nn.utils.clip_grad_norm` | `nn.utils.clip_grad_norm_` |
| `torch.cuda.memory_cached`, `max_memory_cached` | `memory_reserved`, `max_memory_reserved` |
| `torch.cuda.reset_max_memory_allocated` | `reset_peak_memory_stats` |
| `F.upsample`, `nn.Upsample*Nearest2d` and `Bilinear2d` | `F.interpolate(mode=...)`, `nn.Upsample(mode=...)` |
| `torch.range(0, n)` | `torch.arange(0, n + 1)`: the old one includes the end |
| `torch.ger`, `torch.chain_matmul`, `torch.lu` | `torch.outer`, `torch.linalg.multi_dot`, `torch.linalg.lu_factor` |
| `torch.triangular_solve(b, a)` | `torch.linalg.solve_triangular(a, b, upper=True)` |
| `torch.testing.assert_allclose` | `torch.testing.assert_close` |
| `nn.utils.weight_norm` | `nn.utils.parametrizations.weight_norm` |
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, follow
from torchlore.check.source import Hit, Source

ROWS = ("memory-cached-rename",)
SOURCES = ("004:110", "004:122-136", "https://github.com/pytorch/pytorch/pull/57732")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.notes.proof import warnings_of

    assert bad["warnings"] == 2
    assert good["warnings"] == 0
    assert bad["filled"] == good["filled"]
    assert any("renamed" in text for text in warnings_of(torch.cuda.memory_cached))
    assert torch.cuda.memory_reserved() >= 0
    assert torch.arange(0, 3 + 1, device=device).tolist() == [0, 1, 2, 3]
    said = warnings_of(lambda: torch.range(0, 3, device=device))
    assert any("deprecated" in text for text in said)


_FILLERS = ("uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform",
            "kaiming_normal", "orthogonal", "sparse")  # fmt: skip
_FUNCTORCH = ("vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "functionalize")
_RENAMED = {
    **{f"torch.nn.init.{name}": f"torch.nn.init.{name}_" for name in _FILLERS},
    "torch.nn.utils.clip_grad_norm": "torch.nn.utils.clip_grad_norm_",
    "torch.cuda.memory_cached": "torch.cuda.memory_reserved",
    "torch.cuda.max_memory_cached": "torch.cuda.max_memory_reserved",
    "torch.cuda.reset_max_memory_allocated": "torch.cuda.reset_peak_memory_stats",
    "torch.cuda.reset_max_memory_cached": "torch.cuda.reset_peak_memory_stats",
    "torch.nn.functional.upsample": "torch.nn.functional.interpolate",
    "torch.nn.functional.upsample_bilinear": 'torch.nn.functional.interpolate(mode="bilinear", align_corners=True)',
    "torch.nn.functional.upsample_nearest": "torch.nn.functional.interpolate",
    "torch.nn.UpsamplingBilinear2d": 'torch.nn.Upsample(mode="bilinear", align_corners=True)',
    "torch.nn.UpsamplingNearest2d": "torch.nn.Upsample",
    "torch.range": "torch.arange(start, end + 1)",
    "torch.ger": "torch.outer",
    "torch.chain_matmul": "torch.linalg.multi_dot([a, b, c])",
    "torch.lu": "torch.linalg.lu_factor",
    "torch.triangular_solve": "torch.linalg.solve_triangular(a, b, upper=True)",
    "torch.testing.assert_allclose": "torch.testing.assert_close",
    "torch.nn.utils.weight_norm": "torch.nn.utils.parametrizations.weight_norm",
    "torch.backends.cuda.sdp_kernel": "torch.nn.attention.sdpa_kernel",
    "torch.utils._pytree._register_pytree_node": "torch.utils._pytree.register_pytree_node",
    "torch.utils.data._utils.collate.default_collate": "torch.utils.data.default_collate",
    "torch.utils.data._utils.collate.default_convert": "torch.utils.data.default_convert",
    "torchvision.transforms.v2.ToTensor": "v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])",
    **{f"functorch.{name}": f"torch.func.{name}" for name in _FUNCTORCH},
}
_NEW_IN = {"torch.backends.cuda.sdp_kernel": "2.3", "torch.nn.utils.weight_norm": "2.1",
           "torchvision.transforms.v2.ToTensor": "2.1", **{f"functorch.{name}": "2.0" for name in _FUNCTORCH}}  # fmt: skip
_SAME = {*(f"torch.nn.init.{name}" for name in _FILLERS), "torch.nn.utils.clip_grad_norm", "torch.cuda.memory_cached",
         "torch.cuda.max_memory_cached", "torch.nn.functional.upsample", "torch.ger"}  # fmt: skip


_LAST = (one.rpartition(".")[2] for one in _RENAMED if not one.startswith("functorch."))

WORDS = ("|".join(("functorch", *_LAST)),)


def find(source: Source) -> Iterator[Hit]:
    for use, old in follow.named(source, _RENAMED):
        if follow.before(source, _NEW_IN.get(old, "1.13")):
            continue
        new, edit = _RENAMED[old], []
        if old in _SAME and isinstance(use, ast.Attribute):
            edit = [edits.rename(source, use, new.rpartition(".")[2])]
        code = old if isinstance(use, ast.alias) else source.code(use)
        call = source.parents.get(use)
        at = call if isinstance(call, ast.Call) and call.func is use else use
        yield source.hit(at, f"`{code}` is deprecated and will go: write `{new}`", *edit)

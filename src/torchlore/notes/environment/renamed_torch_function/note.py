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

from typing import Any

ROWS = ("memory-cached-rename",)
SOURCES = ("004:110", "004:122-136", "https://github.com/pytorch/pytorch/issues/70988")
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

"""Functions from old tutorials are gone: torch.symeig, torch.solve, torch.rfft and their kin raise.

Much code on the web was written before 1.9, some of it before 0.4. The linear algebra of that time left `torch` for
`torch.linalg`, often with the arguments the other way round or another default, and the Fourier transforms left for
`torch.fft`. Some of the names still exist only to raise; code that is rarely run hides them well.

| gone | write |
| --- | --- |
| `torch.symeig(a)` | `torch.linalg.eigh(a)` (`UPLO="L"` is the default now, it was upper) |
| `torch.solve(b, a)` | `torch.linalg.solve(a, b)`: the arguments are swapped |
| `torch.lstsq(b, a)` | `torch.linalg.lstsq(a, b).solution`: swapped too |
| `torch.eig`, `torch.matrix_rank` | `torch.linalg.eig`, `torch.linalg.matrix_rank` |
| `torch.qr`, `torch.cholesky` | `torch.linalg.qr`, `torch.linalg.cholesky` |
| `torch.rfft`, `torch.irfft` | `torch.fft.rfft`, `torch.fft.irfft`: complex numbers now |
| `torch.set_deterministic` | `torch.use_deterministic_algorithms` |
| `load_lua` | nothing: convert the file once with an old release |
"""

from typing import Any

ROWS = ("env-migration-guide",)
SOURCES = ("004:2-3", "https://github.com/pytorch/pytorch/issues/70988")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of

    assert "removed" in bad["error"]
    assert good["error"] == ""
    assert good["eigenvalues"] == [1.0, 3.0]

    a, b = torch.tensor([[2.0, 0.0], [0.0, 4.0]], device=device), torch.ones(2, 1, device=device)
    assert torch.linalg.solve(a, b).flatten().tolist() == [0.5, 0.25]
    for gone in ("solve", "lstsq", "eig", "matrix_rank", "rfft", "irfft", "set_deterministic"):
        assert error_of(lambda gone=gone: getattr(torch, gone)(b, a)) in {"RuntimeError", "AttributeError"}  # type: ignore[misc]  # a default binds the name
    assert torch.fft.rfft(torch.ones(4, device=device)).is_complex()

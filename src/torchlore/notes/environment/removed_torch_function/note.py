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

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, follow
from torchlore.check.source import Hit, Source

ROWS = ("env-migration-guide",)
SOURCES = ("004:2-3", "https://github.com/pytorch/pytorch/pull/70982")
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


_GONE = {
    "symeig": ("linalg.eigh", 'torch.linalg.eigh({0}, UPLO="U")'),
    "solve": ("linalg.solve", "torch.linalg.solve(a, b), with the arguments the other way round"),
    "lstsq": ("linalg.lstsq", "torch.linalg.lstsq(a, b).solution, with the arguments the other way round"),
    "eig": ("linalg.eig", "torch.linalg.eig({0})"),
    "matrix_rank": ("linalg.matrix_rank", "torch.linalg.matrix_rank({0})"),
    "qr": ("linalg.qr", "torch.linalg.qr({0})"),
    "cholesky": ("linalg.cholesky", "torch.linalg.cholesky({0})"),
    "rfft": ("fft.rfft", "torch.fft.rfft, which gives complex numbers"),
    "irfft": ("fft.irfft", "torch.fft.irfft, which takes complex numbers"),
    "ifft": ("fft.ifft", "torch.fft.ifft, which takes complex numbers"),
    "gels": ("linalg.lstsq", "torch.linalg.lstsq(a, b).solution"),
    "potrf": ("linalg.cholesky", "torch.linalg.cholesky({0})"),
    "btrifact": ("linalg.lu_factor", "torch.linalg.lu_factor({0})"),
    "set_deterministic": ("use_deterministic_algorithms", "torch.use_deterministic_algorithms({0})"),
    "is_deterministic": ("are_deterministic_algorithms_enabled", "torch.are_deterministic_algorithms_enabled()"),
}
_EXACT = {"symeig", "matrix_rank", "qr", "cholesky", "set_deterministic", "is_deterministic"}

_FULL = {f"torch.{name}" for name in _GONE}

WORDS = ("|".join(_GONE),)


def find(source: Source) -> Iterator[Hit]:
    if follow.before(source, "1.13"):
        return
    for use, full in follow.named(source, _FULL):
        if isinstance(use, ast.alias):
            yield source.hit(
                use, f"`{full}` was removed and raises: use `torch.{_GONE[full.removeprefix('torch.')][0]}`"
            )
    for call in source.calls(*_FULL):
        if follow.asks_version(source, call):
            continue
        old = source.name(call.func).removeprefix("torch.")
        first = source.code(call.args[0]) if call.args else ""
        write = _GONE[old][1].format(first)
        plain = len(call.args) <= 1 and not [kw for kw in call.keywords if kw.arg != "eigenvectors"]
        fix = old in _EXACT and plain and source.name(ast.Name("torch")) == "torch"
        edit = [edits.replace(source, call, write)] if fix else []
        yield source.hit(call, f"`torch.{old}` was removed and raises: write `{write}`", *edit)

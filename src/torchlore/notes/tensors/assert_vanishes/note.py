"""An assert about shapes is good help while debugging, and gone under python -O.

`assert x.shape == (n, 3, h, w)` at the top of `forward` finds more bugs than any comment. But Python drops every
`assert` when it is started with `-O` or with `PYTHONOPTIMIZE` set, as some containers do: a check that must hold in
production is then no check.

Keep asserts for what only your own mistake can break. For what comes from outside raise an error that names what came:
`raise ValueError(f"forward takes images (N, 3, H, W); got {tuple(x.shape)}")`. Inside a model that is compiled or
exported, `torch._check(x.shape[1] == 3)` stays and also tells the compiler. `torchlore.recipes.tensors.check_shape(x,
"N 3 H W")` does the first in one line; `jaxtyping` puts shapes into annotations.
"""

ROWS = ("tensor-assert-shape",)
SOURCES = ("003:675",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    import subprocess
    import sys

    import torch

    from torchlore.notes.proof import error_of
    from torchlore.recipes.tensors import check_shape

    def status(*flags: str) -> int:
        code = "assert (2, 3) == (2, 4), 'shapes differ'"
        return subprocess.run([sys.executable, "-S", *flags, "-c", code], capture_output=True, check=False).returncode

    assert status() == 1
    assert status("-O") == 0  # nobody looked
    x = torch.zeros(2, 3)
    assert check_shape(x, "N 3") == {"N": 2}
    assert error_of(lambda: check_shape(x, "N 4")) == "ValueError"
    assert error_of(lambda: torch._check(x.shape[1] == 4)) == "RuntimeError"  # noqa: SLF001 - the documented name

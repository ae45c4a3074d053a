"""torch.set_default_tensor_type is deprecated, and with a CUDA type it breaks later, elsewhere.

Setting `torch.FloatTensor` does nothing: float32 is the default already. Setting `torch.cuda.FloatTensor` moves every
tensor that any library makes to the GPU, and on a machine without one it is accepted and then each `torch.zeros(1)`
fails far from the cause.

Say which of the two you mean: `torch.set_default_dtype(torch.float32)` or `torch.set_default_device("cuda")`, and
better still write `device=` where the tensor is made; `with torch.device("cuda"):` covers a block.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, tree
from torchlore.check.source import Hit, Source

ROWS = ("tensor-default-type",)
SOURCES = ("003:71-73",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import torch

    assert bad["dtype"] == good["dtype"] == "torch.float64"
    assert any("deprecated" in text for text in bad["warnings"])
    assert good["warnings"] == []
    assert torch.get_default_dtype() == torch.float64  # the scripts ran in this process: it is global state
    torch.set_default_dtype(torch.float32)
    with torch.device("meta"):
        assert torch.zeros(1).is_meta
    assert not torch.zeros(1).is_meta


_DTYPES = {"FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16"}

WORDS = ("set_default_tensor_type",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.set_default_tensor_type"):
        given = call.args[0] if call.args else None
        kind = tree.literal(given) if isinstance(given, ast.Constant) else source.name(given)
        parts = str(kind).split(".")
        dtype = _DTYPES.get(parts[-1], "")
        on_cpu = len(parts) == 2 and dtype and isinstance(call.func, ast.Attribute)
        write = f"set_default_dtype(torch.{dtype})" if on_cpu else "set_default_dtype and torch.set_default_device"
        edit = [edits.replace(source, call, f"{source.code(call.func.value)}.{write}")] if on_cpu else []  # type: ignore[attr-defined]  # an Attribute
        yield source.hit(call, f"set_default_tensor_type is deprecated: write `torch.{write}`", *edit)

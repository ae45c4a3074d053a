"""In `key_padding_mask` True means ignore: a mask of the valid places attends to the padding alone.

`nn.MultiheadAttention` and the Transformer layers ignore where `key_padding_mask` (and `src_key_padding_mask`, ...) is True.
Hugging Face's `attention_mask` and a mask such as `positions < lengths` are True where there is a word. Passed as they are, the
model sees the padding only: it learns little, and its answer changes with what the padding holds. A sequence without padding
is then masked completely, which gives NaN.

```python
padding = ids == PAD                      # True: ignore
h = encoder(x, src_key_padding_mask=padding)
h = encoder(x, src_key_padding_mask=~valid)
```

`F.scaled_dot_product_attention` has it the other way round: in its boolean `attn_mask` True means attend.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, scopes
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/lucidrains/x-transformers/issues/253",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_MASKS = ("key_padding_mask", "src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn
    from torch.nn import functional as F

    assert bad["depends_on_padding"] > 0.01
    assert good["depends_on_padding"] < 1e-5
    x = torch.randn(1, 3, 4)
    attention = nn.MultiheadAttention(4, 2, batch_first=True)
    assert attention(x, x, x, key_padding_mask=torch.ones(1, 3, dtype=torch.bool))[0].isnan().all()
    keep = torch.tensor([[[True, False, False]]]).expand(1, 3, 3)
    assert torch.allclose(F.scaled_dot_product_attention(x, x, x, attn_mask=keep), x[:, :1].expand(1, 3, 4), atol=1e-5)


def find(source: Source) -> Iterator[Hit]:
    for keyword in source.all(ast.keyword):
        if keyword.arg in _MASKS and _valid(source, keyword.value):
            code = source.code(keyword.value)
            simple = isinstance(keyword.value, ast.Name | ast.Attribute | ast.Call)
            better = f"~{code}" if simple else f"~({code})"
            edit = edits.replace(source, keyword.value, better)
            message = f"`{code}` is True at the words, and True means ignore: write `{keyword.arg}={better}`"
            yield source.hit(keyword.value, message, edit, safe=False)


def _valid(source: Source, node: ast.expr, depth: int = 3) -> bool:
    """Whether the mask is True where there is something: `positions < lengths`, `ids != pad`."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right, op = source.code(node.left).lower(), source.code(node.comparators[0]).lower(), node.ops[0]
        if isinstance(op, ast.NotEq):
            return bool(re.search(r"(?:^|[^a-z])pad", f"{left} {right}"))
        lengths = re.compile(r"(?:^|[^a-z])(?:seq_?)?len(?:gths?|s)?(?:[^a-z]|$)")
        before, after = bool(lengths.search(left)), bool(lengths.search(right))
        smaller = isinstance(op, ast.Lt | ast.LtE)
        return before != after and (smaller == after) and isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("bool", "to"):
        return _valid(source, node.func.value, depth)
    if isinstance(node, ast.Name) and depth:
        found = scopes.reaching(source, node)
        made = [one.value for one in found if one.how == "assign" and not one.path and one.value is not None]
        return bool(made) and len(made) == len(found) and all(_valid(source, one, depth - 1) for one in made)
    return False

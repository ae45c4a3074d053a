"""`checkpoint(...)` without `use_reentrant=False` gives no gradient if no input requires one.

The old, re-entrant form runs the block without recording and does it again in the backward pass. It looks at the inputs only:
if none of them requires a gradient (the pictures themselves, or the output of a frozen part), the block's parameters get
none, with a warning. It also breaks `torch.autograd.grad`, keyword arguments and nested structures. The default is still the
old form, and torch asks that you say which one you want.

```python
x = checkpoint(block, x, use_reentrant=False)
```
"""

from collections.abc import Iterator

from torchlore.check import edits, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/65537", "https://github.com/pytorch/pytorch/pull/100551")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, bool], good: dict[str, bool]) -> None:
    assert not bad["block_learns"]
    assert good["block_learns"]


WORDS = ("checkpoint|checkpoint_sequential",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"):
        absent = tree.keyword(call, "use_reentrant") is None and all(one.arg for one in call.keywords)
        if absent:
            edit = edits.add_keyword(source, call, "use_reentrant", "False")
            message = (
                "the re-entrant form gives a block no gradient if no input requires one: add `use_reentrant=False`"
            )
            yield source.hit(call, message, edit)

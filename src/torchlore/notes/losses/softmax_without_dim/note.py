"""`softmax` without `dim` guesses one, and on a 3-D tensor it guesses the batch.

`F.softmax(x)` and `nn.Softmax()` choose dimension 0 for tensors of 0, 1 or 3 dimensions and dimension 1 for all others, with
a warning that is easily lost. An attention map of shape (batch, queries, keys) is then normalised over the batch: every
sample depends on its neighbours. `dim=0` on a batch does the same without any warning: the probabilities of one sample no
longer sum to one.

Say which dimension is the classes:

```python
p = F.softmax(scores, dim=-1)      # (N, C), (N, L, C)
p = F.softmax(maps, dim=1)         # (N, C, H, W)
```
"""

import ast
import re
from collections.abc import Iterator
from typing import Literal

from torchlore.check import edits, follow, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = (
    "https://github.com/svishwa/crowdcount-cascaded-mtl/issues/22",
    "https://github.com/perone/euclidesdb/issues/2",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_FUNCTIONS = tuple(f"torch.nn.functional.{name}" for name in ("softmax", "log_softmax", "softmin"))
_ROWS = re.compile(
    r"(?:view|reshape)\([^()]+(?:\([^()]*\))?, *-1\)|view\(-1, *[\w.]+\)|[Ff]latten\(|max\(.*, (?:dim=)?1\)"
)
_THREE = re.compile(r"bmm|matmul|einsum|permute|transpose| @ |batch_first|3-?[dD] tensor")
_PLAYS = re.compile(r"Categorical|\bgym(nasium)?\b|env\.step")
_MODULES = ("torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softmin")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    from torchlore.notes.proof import warnings_of

    assert bad["depends_on_neighbours"] > 0.01
    assert good["depends_on_neighbours"] < 1e-6
    for shape, chosen in (((3,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((2, 3, 4, 5), 1)):
        x, got = torch.randn(shape), list[torch.Tensor]()
        assert warnings_of(lambda x=x, got=got: got.append(F.softmax(x)))  # type: ignore[misc]  # bound now
        assert torch.equal(got[0], F.softmax(x, dim=chosen))


def find(source: Source) -> Iterator[Hit]:
    for position, names in ((1, _FUNCTIONS), (0, _MODULES)):
        for call in source.calls(*names):
            if tree.lacks(call, position, "dim"):
                edit = edits.add_keyword(source, call, "dim", "-1")
                message = f"`{source.code(call.func)}` without `dim` may pick the batch: add `dim=-1`"
                yield source.hit(call, message, edit, safe=False, severity=_severity(source, call))
    for call in (
        *source.calls(*_FUNCTIONS, "torch.softmax", "torch.log_softmax"),
        *source.methods("softmax", "log_softmax"),
    ):
        method = not source.name(call.func)
        given = tree.argument(call, 0 if method else 1, "dim")
        scores = tree.receiver(call) if method else tree.argument(call, 0, "input")
        if tree.literal(given) == 0 and scores is not None and given is not None and _batched(source, scores):
            edit = edits.replace(source, given, "-1")
            yield source.hit(
                call, "`dim=0` is the batch, the samples compete with each other: write `dim=-1`", edit, safe=False
            )


def _severity(source: Source, call: ast.Call) -> Literal["hint"] | None:
    """Of rows of scores torch picks the right dimension: deprecated, not wrong. With three dimensions it picks the first."""
    home = tree.class_of(source, call) or tree.function(source, call) or tree.statement(source, call)
    code = source.code(home)
    if call.args and re.search(
        r"\.(view|reshape)\(-1, [^,]+\)$|\.squeeze\(0\)$", source.code(follow.followed(source, call.args[0]))
    ):
        return "hint"
    return None if _THREE.search(code) and not _ROWS.search(code) else "hint"


def _batched(source: Source, scores: ast.expr) -> bool:
    """The output of a module that is called on whole batches: the logits of a cross-entropy, say."""
    given = values.state(source, scores)
    shape = values.shape(source, scores)
    if _PLAYS.search(source.text):
        return False  # one state of a game has one dimension
    return given is not None and given.state == "logits" and shape is not None and len(shape) > 1 and shape[-1] != 1

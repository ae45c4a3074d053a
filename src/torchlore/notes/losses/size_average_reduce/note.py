"""`size_average` and `reduce` are deprecated, and they overrule `reduction` without a word.

Two flags once did what `reduction` does. `reduce=False` is "none", whatever `size_average` says; otherwise
`size_average=False` is "sum" and True is "mean". If one of them is given, `reduction` is ignored:
`nn.MSELoss(size_average=True, reduction="none")` returns a mean. `elementwise_mean`, the name of a short while, still works
and warns. A misspelt reduction is accepted when the loss is made and raises only when it is called.

```python
nn.CrossEntropyLoss(reduction="sum")   # or "mean", or "none"
```
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, tree, uses
from torchlore.check.source import Hit, Source

_OLD = ("size_average", "reduce")
_WORDS = {"none", "mean", "sum", "batchmean"}

ROWS = ("loss-ce-reduction",)
SOURCES = ("000:22-27", "000:30", "002:66-79", "002:86")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import itertools
    import warnings

    import torch
    from torch import nn

    from torchlore.notes.proof import error_of, warnings_of

    assert bad["warnings"] > 0
    assert good["warnings"] == 0
    assert bad["loss"] == good["loss"]

    logits, target = torch.randn(6, 3), torch.tensor([0, 1, 2, 2, 1, 0])
    told = {True: {True: "mean", False: "sum"}, False: {True: "none", False: "none"}}
    for reduce, average in itertools.product((True, False), (True, False)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            old = nn.CrossEntropyLoss(reduce=reduce, size_average=average, reduction="none")
        assert old.reduction == told[reduce][average]  # whatever reduction= said
        new = nn.CrossEntropyLoss(reduction=told[reduce][average])
        assert torch.equal(old(logits, target), new(logits, target))
    assert warnings_of(lambda: nn.CrossEntropyLoss(size_average=True))
    assert warnings_of(lambda: nn.CrossEntropyLoss(reduction="elementwise_mean")(logits, target))
    misspelt = nn.CrossEntropyLoss(reduction="avg")
    assert error_of(lambda: misspelt(logits, target)) == "ValueError"


WORDS = ("size_average|reduce|reduction",)


def find(source: Source) -> Iterator[Hit]:
    for call in dict.fromkeys(source.parents[one] for one in uses.keywords(source, *_OLD, "reduction")):
        if not isinstance(call, ast.Call) or not _loss(source.name(call.func)):
            continue
        given = {one.arg: one for one in call.keywords if one.arg in (*_OLD, "reduction")}
        old = [given[name] for name in _OLD if name in given]
        word = tree.literal(given["reduction"].value) if "reduction" in given else "mean"
        if old:
            better = _reduction({one.arg or "": tree.literal(one.value) for one in old})
            message = f'`{old[0].arg}` is deprecated and overrules `reduction`: write `reduction="{better or "..."}"`'
            simple = better and len(old) == 1 and "reduction" not in given
            fix = [edits.replace(source, old[0], f'reduction="{better}"')] if simple else []
            yield source.hit(call, message, *fix)
        elif word == "elementwise_mean":
            edit = edits.replace(source, given["reduction"].value, '"mean"')
            yield source.hit(call, '`"elementwise_mean"` is deprecated: write `"mean"`', edit)
        elif isinstance(word, str) and word not in _WORDS:
            message = f'torch has no reduction "{word}" and will raise at the first call: "none", "mean" or "sum"'
            yield source.hit(call, message, severity="error")


def _loss(name: str) -> bool:
    module = name.startswith("torch.nn.") and name.endswith("Loss")
    known = name.endswith(("_loss", "cross_entropy", "_with_logits", "kl_div"))
    return module or (name.startswith("torch.nn.functional.") and known)


def _reduction(flags: dict[str, object]) -> str:
    """What the two flags mean together; "" where one is no constant."""
    if any(value not in (True, False, None) for value in flags.values()):
        return ""
    if flags.get("reduce") is False:
        return "none"
    return "sum" if flags.get("size_average") is False else "mean"

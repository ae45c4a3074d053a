"""`size_average` and `reduce` are deprecated, and they overrule `reduction` without a word.

Two flags once did what `reduction` does. `reduce=False` is "none", whatever `size_average` says; otherwise
`size_average=False` is "sum" and True is "mean". If one of them is given, `reduction` is ignored:
`nn.MSELoss(size_average=True, reduction="none")` returns a mean. `elementwise_mean`, the name of a short while, still works
and warns. A misspelt reduction is accepted when the loss is made and raises only when it is called.

```python
nn.CrossEntropyLoss(reduction="sum")   # or "mean", or "none"
```
"""

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

"""`model.state_dict().update(weights)` fills a dictionary that nobody keeps: the model stays as it is.

`state_dict()` makes a new dictionary at each call. Its tensors are the model's own, but `update` and `d[name] = tensor` replace
entries of the dictionary, not the numbers in the tensors. The pretrained weights are matched, counted, printed as loaded, and the
model is random. The same holds for `own.update(...)` where `own` is not given to `load_state_dict` afterwards.

Write `own = model.state_dict(); own.update(weights); model.load_state_dict(own)`, or `model.load_state_dict(weights, strict=False)`
and look at what it returns.
"""

ROWS = ()
SOURCES = ("https://github.com/postBG/DTA.pytorch/issues/5", "https://github.com/subhc/unsup-parts/pull/12")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["weight"] != 1
    assert good["weight"] == 1

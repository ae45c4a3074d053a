"""A sampler, class weights or an augmentation that is handed to nobody changes nothing.

`sampler = WeightedRandomSampler(...)`, and the loader below is built with `shuffle=True`; `class_weights` are counted, and the criterion is a
plain `CrossEntropyLoss()`; `train_tf` has the crops and flips, and both sets are read through `test_tf`; the stopper is made and no line of
the loop asks it. Every line is right, all of it runs, and the run is the one without it: the rare class stays rare, the network sees each
picture as it is.

Hand it over where it belongs: `DataLoader(..., sampler=sampler)`, `CrossEntropyLoss(weight=class_weights)`, `transform=train_tf`.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.WeightedRandomSampler",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["rare"] < 0.15
    assert 0.4 < good["rare"] < 0.6

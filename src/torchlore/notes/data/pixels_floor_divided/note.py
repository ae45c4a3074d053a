"""`image // 255` is 0 nearly everywhere: two strokes divide into whole numbers.

Pixels lie between 0 and 255, and a floor division by 255 leaves 1 where a pixel is quite white and 0 elsewhere. It works on bytes, on floats
and on tensors alike, the shape is right, and `.float()` behind it comes too late. The network trains on black pictures with some white
dots, and learns what can be learned from those.

Write one stroke: `image / 255`.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/generated/torch.floor_divide.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["mean"] < 0.05
    assert 0.4 < good["mean"] < 0.6

"""Parameters that are chosen by name into groups: what no test takes is in no group and never trained.

`if name.startswith("encoder"): ... elif name.startswith("head"): ...` was right when the model had two parts. The third, added later, falls
between: it is in the model, it is called, it gets gradients, and no optimizer holds it. It stays as it was initialised, and the rest learns
around it.

End the choice with an `else`, which takes whatever is left; or compare the number of parameters in the groups with that of the model.
"""

ROWS = ()
SOURCES = ("https://github.com/zjunlp/HVPNeT/issues/5",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0

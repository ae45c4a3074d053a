"""`self.apply(init)` reaches the layers that exist by then, not those made on the lines below.

`apply` walks through the modules that are registered at that moment. In the middle of `__init__` the head, the norm or the
projection that follow keep torch's own initialisation: a classifier that should start near zero starts twenty times larger, and
the first steps go into shrinking it. Nothing says so, and moving a line changes the result of the run.

Make it the last line of `__init__`, or call it after building: `model.apply(init)`.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["head"] == 0
    assert bad["head"] > 0

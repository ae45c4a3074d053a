"""A penalty on the squared weights beside `weight_decay` decays them twice.

With SGD both are the same thing: `weight_decay=d` adds `d * w` to the gradient, and so does `d / 2 * w ** 2` in the loss. Whoever writes
both gets twice the decay that was chosen and tunes one while the other stays; with AdamW the two even act differently.

Take one of them: `torch.optim.AdamW(model.parameters(), weight_decay=0.01)`, and no penalty in the loss.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["left"] - 0.9) < 1e-6
    assert abs(bad["left"] - 0.8) < 1e-6

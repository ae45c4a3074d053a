"""`for p in net.parameters(): p = ...` binds a name and changes no parameter.

A loop variable is a name. `ema_p = decay * ema_p + (1 - decay) * p` makes a new tensor, gives it the name, and the next turn
throws it away: the averaged network stays what it was on the first day. The same goes for `p = p - lr * p.grad`,
`p = p.clamp(-1, 1)` and `t = t.to(device)` in a loop over a list.

Write into the tensor, without gradients: `ema_p.lerp_(p, 1 - decay)`, `p.sub_(lr * p.grad)`, `p.clamp_(-1, 1)`, or collect
the new ones: `batch = [t.to(device) for t in batch]`.
"""

ROWS = ()
SOURCES = ("https://github.com/YU1ut/MixMatch-pytorch/pull/23",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0

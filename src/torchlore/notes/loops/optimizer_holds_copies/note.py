"""An optimizer that is given copies of the parameters trains the copies: the model never moves.

`[p.data for p in model.parameters()]`, `p.detach()`, `model.state_dict().values()` and the parameters of a `deepcopy` are
other tensors. The optimizer takes them without a word; their `.grad` stays None, so every step skips them, and the loss
stays where it was. (`p.clone()` is refused, as it is no leaf.)

A slow copy of a net, a target or a teacher, has no place there either: it is to follow by averaging or copying alone, and weight
decay and the momentum of an optimizer move it besides.

Give it the parameters themselves: `torch.optim.SGD(model.parameters(), lr=0.1)`.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/optim.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0.0
    assert good["moved"] > 0.01

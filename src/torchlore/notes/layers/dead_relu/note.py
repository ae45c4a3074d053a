"""A layer whose ReLU outputs are all zero passes nothing on, and nothing back.

Where every input of a ReLU is negative for every sample, its output is 0 and so is its gradient: the layer and all before it
stop learning for good. A learning rate that is too large, a large negative bias, inputs that were not normalised or weights
of a bad scale bring it about. The network then answers one constant, whatever it is shown.

Look at `(activation == 0).all(0).float().mean()` of each layer. Lower the rate, normalise the inputs, initialise with
`kaiming_normal_`, put a normalisation before it, or use `LeakyReLU`.
"""

ROWS = ()
SOURCES = ("https://github.com/keras-team/keras/issues/7057",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["gradient"] == 0
    assert good["gradient"] > 0

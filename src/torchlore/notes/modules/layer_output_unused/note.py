"""A layer's output that `forward` never reads is a layer the network runs without, and nothing raises.

`h = self.drop(x)` and then `return self.head(x)`: the name was changed on one line and not on the next. The dropout does nothing, the
batch norm counts its statistics for nobody, the convolution has no gradient and stays as it was drawn. `x = self.conv2(skip)` right
after `x = self.bn1(self.conv1(x))` is the same: what was there is overwritten before anybody saw it. The sizes mostly agree, so no shape
complains, and the layer is in `parameters()` and in the checkpoint.

Read the name on the next line, or take the layer out.
"""

ROWS = ()
SOURCES = (
    "https://github.com/skaae/recurrent-spatial-transformer-code/issues/3",
    "https://github.com/piotrkawa/audio-deepfake-adversarial-attacks",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0

"""Class names have capitals: an initialiser that looks for `conv` in them touches no layer.

`m.__class__.__name__` is `Conv2d`, `BatchNorm2d`, `Linear`. `classname.find("conv") != -1` is False for all of them, and so is
`"batchnorm" in classname`, `classname == "Conv2D"`, or a capital in what is compared with `classname.lower()`. `net.apply(weights_init)`
runs through and changes nothing; the layers keep PyTorch's default, and a GAN that needs small weights trains worse for no visible reason.

Ask for the class: `isinstance(m, (nn.Conv2d, nn.ConvTranspose2d))`. It cannot be misspelt in silence.
"""

ROWS = ()
SOURCES = ("https://github.com/songdejia/EAST/issues/36",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["spread"] - 0.02) < 0.005
    assert bad["spread"] > 0.05

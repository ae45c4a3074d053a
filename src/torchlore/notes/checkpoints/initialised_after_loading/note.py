"""Initialising after loading throws the loaded weights away.

`load_state_dict` fills the parameters in place, and so does every function of `nn.init`. Called afterwards, `model.apply(init)` or
a loop over `modules()` replaces what was loaded by random numbers. Fine-tuning starts from nothing, a resumed run starts again,
and nothing is said about it.

Build, initialise, load: in this order. To initialise a new head only, apply the function to the head.
"""

ROWS = ()
SOURCES = ("https://github.com/huggingface/picotron/issues/32", "https://github.com/zshn25/DINOv2_mmseg/pull/1")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["difference"] > 0.01
    assert good["difference"] == 0

"""cross_entropy wants raw scores: behind a ReLU or a sigmoid it cannot say no.

`cross_entropy` compares differences of scores. A ReLU as last layer cuts all negative ones to 0: a class cannot be made less
likely than another that is 0 too, and where all are 0 nothing learns any more. A sigmoid or tanh keeps the scores within one
or two of each other: with ten classes the best probability is 0.23 behind a sigmoid, and the loss never falls below 1.4.

End the network in a plain linear layer. Activations belong between layers.
"""

ROWS = ()
SOURCES = ("https://github.com/zjunlp/DeepKE/issues/21", "https://github.com/NVlabs/GA3C/issues/17")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["loss"] > 1.4
    assert good["loss"] < 0.3

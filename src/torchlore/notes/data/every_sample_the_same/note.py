"""A data set that ignores its index hands out one sample over and over.

`__getitem__(self, index)` that reads `self.index`, seeds a generator anew, or returns a buffer it fills in place gives the same
sample for every index. Batches have the right shape and the loss falls quickly, to that one sample's answer.

Look at one batch: `(x == x[0]).all()` must be False. Use the index; where samples are generated, draw from a generator made
once, or seed it with the index.
"""

ROWS = ()
SOURCES = ("https://github.com/Atcold/NYU-DLSP20/issues/851",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["different_samples"] == 1
    assert good["different_samples"] == 64

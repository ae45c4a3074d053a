"""An in-place change in __getitem__ changes the data set itself, once more in every epoch.

`x = self.data[i]` is a view of the stored tensor or array, not a copy. `x -= self.mean`, `x[mask] = 0` or `x.div_(255)`
then write into the data set: the second epoch normalises what is normalised already, cut-outs add up until the images
are black, noise grows from epoch to epoch. With workers each process spoils its own copy, so it depends on
`num_workers` and `persistent_workers` as well.

Make a new tensor, `x = (self.data[i] - self.mean) / self.std`, or copy first: `x = self.data[i].clone()` (`.copy()` for
an array).
"""

from typing import Any

ROWS = ()
SOURCES = ("https://github.com/facebookresearch/pycls/pull/21", "https://github.com/pytorch/vision/issues/680")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert good["means"][0] == good["means"][2]
    assert bad["means"][2] < bad["means"][0] - 0.5  # the mean was taken off three times

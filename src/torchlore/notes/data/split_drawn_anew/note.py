"""A run that goes on from a checkpoint and splits anew validates on what it has trained on.

`random_split(data, [n, m])` without a generator draws another split in every process. The first run trains on one nine tenths of the data; the
resumed run, or the script that only evaluates, draws another tenth for validation, and nine of ten samples in it were trained on. The
validation score jumps at the resume and stays too good.

A split inside the loop over epochs does it without a resume: after a few epochs there is no sample left that was not trained on.

Give the split a generator of its own, `random_split(data, [n, m], generator=torch.Generator().manual_seed(0))`, or keep its indices.
"""

ROWS = ()
SOURCES = ("https://github.com/talmolab/sleap-nn/pull/600", "https://github.com/kekmodel/FixMatch-pytorch/issues/41")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["trained"] > 50
    assert good["trained"] == 0

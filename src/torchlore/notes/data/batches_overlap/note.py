"""`x[i : i + batch_size]` for i in range(batches) moves by one sample, not by a batch.

`for i in range(len(x) // batch_size): x[i : i + batch_size]` looks like batches. It gives samples 0 to 31, then 1 to 32, then 2
to 33: neighbours share all but one sample, and with 1000 samples and batches of 32 the last sample ever seen is number 61. The
shapes are right and the loss falls, on six percent of the data.

Let the index move by a batch: `for i in range(0, len(x), batch_size)`, or cut `x[i * batch_size : (i + 1) * batch_size]`.
"""

ROWS = ()
SOURCES = ("https://github.com/cmergny/time-series-forecasting",)
TORCH = "2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["seen"] < 100
    assert good["seen"] > 900
